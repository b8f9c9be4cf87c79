"""What a dossier of a run is written from, and the schema of the configuration."""

from pathlib import Path
from typing import Any

from fireassay.assessment.config import Config
from fireassay.assessment.parts.table import full_name, settings_models
from fireassay.assessment.run.folder import configuration
from fireassay.assessment.run.judging import read_judged
from fireassay.report import Report
from fireassay.report.dossier import Case


def case_of(run: Path) -> Case:
    """The report of a run folder with its verdict, and what its configuration declares."""
    judged, config = read_judged(run, charts=False), configuration(run)
    report = judged.report
    facts: dict[str, list[str]] = {"flow": []}
    if report.about is not None:
        for data in report.about.data:
            role = data.role or "for testing"
            out = [f"{count:,} left out: {why}" for why, count in data.left_out]
            given = data.rows + sum(count for _, count in data.left_out)
            steps = [f"{given:,} rows given", *out, f"{data.rows:,} used {role}"]
            facts["flow"].append(f"{data.name}: {'; '.join(steps)}.")
    for part in report.parts:
        labels = 0 if part.provenance is None else part.provenance.labels
        if part.status == "done" and labels:
            facts["flow"].append(f"{part.question}: {labels:,} labelled rows judged.")
    facts["decision"] = _decision(config) if config is not None else _decided(report)
    if judged.verdict.lock:
        facts["lock"] = [judged.verdict.lock]
    return Case(report, judged.verdict, {} if config is None else config.about, facts)


def requirements_of(run: Path) -> dict[str, tuple[str, tuple[str, ...]]]:
    """By id the sentence of each requirement, and the full names of the limits behind it."""
    config = configuration(run)
    if config is None:
        return {}
    return {
        name: (one.text, tuple(full_name(gate, config.run.parts) for gate in one.gates))
        for name, one in config.requirements.items()
    }


def _decided(report: Report) -> list[str]:
    """The rule as accuracy says it, for a run without a configuration file."""
    part = next((p for p in report.parts if p.question == "accuracy" and p.status == "done"), None)
    if part is None:
        return []
    said = [c.text for c in part.claims if c.text.startswith("The decision that is judged")]
    return said or ["The most probable class is answered."]


def _decision(config: Config) -> list[str]:
    """The rule that turns probabilities into an answer, and what mistakes cost."""
    chosen = config.decision
    if isinstance(chosen.threshold, str):
        lines = ["The most probable class is answered."]
    else:
        each = chosen.threshold.items()
        lines = [f"{name} is answered from a probability of {least:g} on." for name, least in each]
    return lines + [f"Cost of {pair}: {cost:g}." for pair, cost in chosen.costs.items()]


def config_schema() -> dict[str, Any]:
    """JSON Schema of ``fireassay.toml``: the common tables, and one table per question."""
    schema = Config.model_json_schema()
    for inner in ("settings", "folder", "file_name"):
        schema["properties"].pop(inner, None)
    for name, settings in settings_models().items():
        part = settings.model_json_schema()
        schema.setdefault("$defs", {}).update(part.pop("$defs", {}))
        schema["properties"][name] = part
    schema["title"] = "fireassay.toml"
    return schema
