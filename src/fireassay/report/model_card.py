"""The numbers as a Markdown model card, with the metadata that model hubs read."""

import json
import math
import re
from collections.abc import Mapping, Sequence

from fireassay.core import Evidence
from fireassay.report.verdict import Verdict
from fireassay.version import __version__

# Everything that Markdown or HTML could take as markup.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&=$:@])")


def to_model_card(
    evidence: Sequence[Evidence], title: str, verdict: Verdict, accepted: Mapping[str, str]
) -> str:
    """Markdown with a ``model-index`` block; every text from a user is escaped."""
    lines = [*_metadata(evidence, title), "", f"# {_text(title)}", ""]
    lines.append(f"Assessed with fireassay {__version__}. What did not run is not a pass.")
    lines += ["", f"**Verdict: {_text(verdict.headline)}**"]
    if verdict.checks:
        lines += ["", "| limit | verdict | why |", "|---|---|---|"]
        for check in verdict.checks:
            cells = (f"{check.label}, {check.limit}", check.status, check.explanation)
            lines.append(f"| {' | '.join(_text(cell) for cell in cells)} |")
    lines += ["", *(f"- {_text(str(item))}" for item in verdict.advice)] if verdict.advice else []
    for item in evidence:
        state = [
            item.status,
            *(["stale"] if item.stale else []),
            *(["partial"] if item.partial else []),
        ]
        lines += ["", f"## {_text(item.question)} ({', '.join(state)})", "", _text(item.headline)]
        if item.estimates:
            lines += [
                "",
                "| number | value [interval] | confidence | n | method | name for gates |",
            ]
            lines.append("|---|---|---|---|---|---|")
            lines += [_row(item, name) for name in item.estimates]
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


def _row(item: Evidence, name: str) -> str:
    estimate, measure = item.estimates[name], item.measure(name)
    sure = estimate.kind in ("interval", "bound")
    cells = [
        _text(measure.label),
        _text(measure.shown(estimate)),
        f"{100 * estimate.confidence:g} %" if sure else estimate.kind,
        f"{estimate.n:,}",
        _text(estimate.method),
        _text(f"{item.question}.{name}"),
    ]
    return "| " + " | ".join(cells) + " |"


def _text(text: str) -> str:
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
