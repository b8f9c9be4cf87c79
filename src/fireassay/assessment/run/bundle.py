"""A run for others: one zip that they can verify offline, and what a dossier is written from."""

import hashlib
import json
import platform
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from fireassay.assessment.config import Config
from fireassay.assessment.parts.table import full_name
from fireassay.assessment.run.folder import configuration, gate_tables, read_costs
from fireassay.assessment.run.judging import read_judged
from fireassay.core import DataError, FireassayError, json_files
from fireassay.core.files import check_regular, written_whole
from fireassay.core.hashing import sha256_file
from fireassay.report import About, Report
from fireassay.report.bom import ml_bom
from fireassay.report.document import from_document
from fireassay.report.dossier import Case
from fireassay.report.page import to_html
from fireassay.report.verdict import Verdict
from fireassay.version import __version__

FORMAT: Final = "fireassay bundle 1"
MANIFEST: Final = "manifest.json"
PROTOCOL: Final = "fireassay-protocol.json"
_MOST_FILES, _MOST_BYTES = 64, 256 * 2**20
_DATE = (1980, 1, 1, 0, 0, 0)  # the same run gives the same bytes on any day


@dataclass(frozen=True)
class Finding:
    """One thing that was verified: whether it holds, and what was seen."""

    what: str
    holds: bool
    seen: str = ""


def bundle_run(run: Path, output: Path, *, samples: bool = False) -> str:
    """Zip a run's result, page, limits, configuration and hashes; the SHA-256 of the zip."""
    judged, environment = read_judged(run), _environment()
    report = judged.report if samples else judged.report.without_samples()
    costs = read_costs(run)
    contents = {
        "result.json": _text(report.document()),
        "report.html": to_html(
            report.parts, report.title, judged.verdict, costs, report.accepted, report.about
        ).encode(),
        "gates.json": _text(gate_tables(judged.gates)),
        "environment.json": _text(environment),
        "bom.json": _text(ml_bom(report, environment["packages"])),
    }
    if report.about is not None:
        contents["about.json"] = _text(report.about.to_dict())
    config = configuration(run)
    if config is not None:
        contents["fireassay.toml"] = (config.folder / config.file_name).read_bytes()
        if (config.folder / PROTOCOL).is_file():
            contents[PROTOCOL] = (config.folder / PROTOCOL).read_bytes()
    contents[MANIFEST] = _text(
        {
            "format": FORMAT,
            "fireassay": __version__,
            "verdict": _judged(judged.verdict),
            "lock": judged.verdict.lock,
            "model": judged.verdict.model,
            "left": judged.report.fractions,  # of the error probability, after earlier looks
            "files": {n: hashlib.sha256(kept).hexdigest() for n, kept in sorted(contents.items())},
        }
    )
    with written_whole(output) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, content in sorted(contents.items()):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o600 << 16
            archive.writestr(entry, content)
    return sha256_file(output)


def verify_bundle(path: Path, *, sha256: str | None = None) -> list[Finding]:
    """Compare a bundle with its manifest and its documents with each other; refuse other files."""
    # Whoever rewrites all documents alike is found by the SHA-256 of the whole alone, which must
    # come from the sender by another way.
    found = []
    if sha256 is not None:
        own = sha256_file(check_regular(path))
        found.append(Finding("SHA-256 of the bundle is the sender's", own == sha256.lower(), own))
    contents = _read(path)
    manifest = _json(contents, MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise DataError(f"Expected a {FORMAT}.", got=f"{path} with another manifest")
    listed = manifest.get("files", {})
    listed = listed if isinstance(listed, dict) else {}
    for name in sorted({*listed, *contents} - {MANIFEST}):
        if name not in contents:
            found.append(Finding(f"{name} is there", holds=False, seen="missing"))
        elif name not in listed:
            found.append(Finding(f"{name} is listed", holds=False, seen="not in the manifest"))
        else:
            own = hashlib.sha256(contents[name]).hexdigest()
            found.append(Finding(f"{name} is unchanged", own == listed[name], own[:16]))
    for what, compare in _AGREEMENTS.items():
        try:
            seen = compare(contents, manifest)
            found.append(Finding(what, seen == "", seen))
        except (FireassayError, ArithmeticError, LookupError, TypeError, AttributeError) as error:
            found.append(Finding(what, holds=False, seen=f"cannot be read: {error}"))
    return found


def _report(contents: Mapping[str, bytes], manifest: Mapping[str, Any]) -> Report:
    about = contents.get("about.json")
    known = None if about is None else About.from_dict(json_files.loads(about.decode()))
    left = {str(name): float(share) for name, share in manifest.get("left", {}).items()}
    return Report(*from_document(_json(contents, "result.json")), known, left)


def _verdict_again(contents: Mapping[str, bytes], manifest: Mapping[str, Any]) -> str:
    judged = _judged(_report(contents, manifest).verdict(_json(contents, "gates.json")))
    said = manifest.get("verdict")
    return "" if judged == said else f"judged again: {judged['headline']}"


def _same_bom(contents: Mapping[str, bytes], manifest: Mapping[str, Any]) -> str:
    packages = _json(contents, "environment.json")["packages"]
    again = json.loads(_text(ml_bom(_report(contents, manifest), packages)))
    return "" if again == _json(contents, "bom.json") else "other numbers, hashes or packages"


def _same_page(contents: Mapping[str, bytes], manifest: Mapping[str, Any]) -> str:
    """Whether the page shows the verdict and the sentences of the result."""
    from markupsafe import escape

    from fireassay.report.page import together

    report = _report(contents, manifest)
    verdict = report.verdict(_json(contents, "gates.json"))
    page = contents["report.html"].decode()
    said = [check.explanation for check in verdict.checks]
    said += [part.sentence for part in report.parts if part.status == "done"]
    lacking = [text for text in said if text and str(escape(together(text))) not in page]
    return "" if not lacking else f"the page does not say: {lacking[0]}"


_AGREEMENTS: Final[dict[str, Callable[[Mapping[str, bytes], Mapping[str, Any]], str]]] = {
    "verdict follows from result and limits": _verdict_again,
    "bill of materials follows from the result": _same_bom,
    "page says what the result says": _same_page,
}


def _read(path: Path) -> dict[str, bytes]:
    """The files of a zip, which may come from anybody."""
    try:
        with zipfile.ZipFile(check_regular(path)) as archive:
            entries = archive.infolist()
            names = [entry.filename for entry in entries]
            if len(names) > _MOST_FILES or len(set(names)) != len(names):
                raise DataError("Expected each file once.", got=f"{len(names)} entries in {path}")
            odd = [n for n in names if Path(n).name != n or n.startswith(".") or "\\" in n]
            if odd:
                raise DataError("Expected plain file names.", got=repr(odd[0]))
            if sum(entry.file_size for entry in entries) > _MOST_BYTES:
                raise DataError("Expected at most 256 MB.", got=f"more in {path}")
            return {entry.filename: archive.read(entry) for entry in entries}
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
        raise DataError(f"Expected a bundle at {path}.", got=str(error)) from error


def _json(contents: Mapping[str, bytes], name: str) -> Any:
    if name not in contents:
        raise DataError(f"Expected {name} in the bundle.", got="no such file")
    try:
        return json_files.loads(contents[name].decode())
    except UnicodeDecodeError as error:
        raise DataError(f"Expected {name} to be UTF-8.", got=str(error)) from error


def _judged(verdict: Verdict) -> dict[str, Any]:
    checks = [[c.gate.direction, c.gate.number, c.gate.limit, c.status] for c in verdict.checks]
    return {"status": verdict.status, "headline": verdict.headline, "checks": checks}


def _environment() -> dict[str, Any]:
    packages = {dist.metadata["Name"]: dist.version for dist in metadata.distributions()}
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": dict(sorted((k, v) for k, v in packages.items() if k)),
    }


def _text(content: Any) -> bytes:
    return (json_files.dumps(content, indent=2, sort_keys=False) + "\n").encode()


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
