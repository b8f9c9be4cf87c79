"""The numbers as a Markdown model card, with the metadata that model hubs read."""

import json
import math
import re
from collections.abc import Mapping, Sequence

from fireassay.core import Evidence
from fireassay.report.about import About
from fireassay.report.first_screen import not_answered, not_to_rely_on
from fireassay.report.verdict import Verdict
from fireassay.version import __version__

# Everything that Markdown or HTML could take as markup.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&=$:@])")


def to_model_card(
    evidence: Sequence[Evidence],
    title: str,
    verdict: Verdict,
    accepted: Mapping[str, str],
    about: About | None = None,
) -> str:
    """Markdown with a ``model-index`` block; every text from a user is escaped."""
    lines = [*_metadata(evidence, title), "", f"# {_text(title)}", ""]
    lines.append(f"Assessed with fireassay {__version__}. What did not run is not a pass.")
    lines += [] if about is None else ["", _text(str(about))]
    lines += ["", f"**Verdict: {_text(verdict.headline)}**"]
    if verdict.checks:
        lines += ["", "| limit | what became of it | why |", "|---|---|---|"]
        for check in verdict.checks:
            cells = (f"{check.label}, {check.limit}", check.word, check.explanation)
            lines.append(f"| {' | '.join(_text(cell) for cell in cells)} |")
    for said, items in (
        ("What would change this", [str(item) for item in verdict.advice]),
        ("Do not rely on", [str(doubt) for doubt in not_to_rely_on(evidence, accepted)]),
        ("Not answered", not_answered(evidence)),
    ):
        lines += ["", f"{said}:", "", *(f"- {_text(item)}" for item in items)] if items else []
    for item in evidence:
        state = [
            item.status,
            *(["stale"] if item.stale else []),
            *(["partial"] if item.partial else []),
        ]
        lines += [
            "",
            f"## {_text(item.question)} ({', '.join(state)})",
            "",
            _text(item.sentence or item.headline),
        ]
        lines += ["", _text(item.headline)] if item.sentence else []
        if item.estimates:
            lines += [
                "",
                "| number | value [interval] | confidence | n | method | name for gates |",
            ]
            lines.append("|---|---|---|---|---|---|")
            lines += [_row(item, name, accepted) for name in item.estimates]
        for assumption in item.assumptions:
            said = f"{_text(assumption.statement)} {_text(assumption.check)}"
            reason = accepted.get(assumption.id)
            told = "" if reason is None else f" Accepted: {_text(reason)}"
            lines += ["", f"- *{assumption.status}*: {said}{told}"]
        if item.limits:
            lines += ["", *(f"- Not said: {_text(limit)}" for limit in item.limits)]
    return "\n".join(lines) + "\n"


def _metadata(evidence: Sequence[Evidence], title: str) -> list[str]:
    """YAML whose scalars are JSON, so that no name can break out of it."""
    lines = ["---", "model-index:", f"- name: {json.dumps(title)}", "  results:"]
    for item in evidence:
        finite = {k: e for k, e in item.estimates.items() if math.isfinite(e.value)}
        if not finite:
            continue
        lines += [
            "  - task:",
            "      type: classification",
            "    dataset:",
            f"      name: {json.dumps(_data_name(item))}",
            f"      type: {json.dumps(item.question)}",
            "    metrics:",
        ]
        for name, estimate in finite.items():
            lines += [f"    - type: {json.dumps(name)}", f"      value: {estimate.value!r}"]
            lines.append(f"      name: {json.dumps(f'{name} ({estimate.method})')}")
    if lines[-1] == "  results:":
        lines[-1] = "  results: []"
    return [*lines, "---"]


def _data_name(item: Evidence) -> str:
    digest = item.provenance.data_sha256 if item.provenance else None
    return f"sha256:{digest[:16]}" if digest else "unknown"


def _row(item: Evidence, name: str, accepted: Mapping[str, str]) -> str:
    estimate, measure = item.estimates[name], item.measure(name)
    sure = estimate.kind in ("interval", "bound")
    shown = _text(measure.shown(estimate))
    against = any(a.id not in accepted for a in item.contradicted(name))
    cells = [
        _text(measure.label),
        f"~~{shown}~~ contradicted by the data" if against else shown,
        f"{100 * estimate.confidence:g} %" if sure else estimate.kind,
        f"{estimate.n:,}",
        _text(estimate.method),
        _text(f"{item.question}.{name}"),
    ]
    return "| " + " | ".join(cells) + " |"


def _text(text: str) -> str:
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
