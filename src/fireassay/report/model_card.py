"""The numbers as a Markdown model card, with the metadata that model hubs read."""

import json
import math
import re
from collections.abc import Sequence

from fireassay.core import Estimate, Evidence
from fireassay.version import __version__

# Everything that Markdown or HTML could take as markup.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&=$:@])")


def to_model_card(evidence: Sequence[Evidence], title: str) -> str:
    """Markdown with a ``model-index`` block; every text from a user is escaped."""
    lines = [*_metadata(evidence, title), "", f"# {_text(title)}", ""]
    lines.append(f"Assessed with fireassay {__version__}. What did not run is not a pass.")
    for item in evidence:
        lines += ["", f"## {_text(item.question)} ({item.status})", "", _text(item.headline)]
        if item.estimates:
            lines += ["", "| number | value | interval | confidence | n | method |"]
            lines.append("|---|---|---|---|---|---|")
            for name, estimate in item.estimates.items():
                lines.append(_row(name, estimate))
        for assumption in item.assumptions:
            check = f"{_text(assumption.statement)} {_text(assumption.check)}"
            lines += ["", f"- *{assumption.status}*: {check}"]
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


def _row(name: str, estimate: Estimate) -> str:
    interval = (
        estimate.kind
        if estimate.kind != "interval"
        else f"{estimate.low:.4g} to {estimate.high:.4g}"
    )
    cells = [
        _text(name),
        f"{estimate.value:.4g}",
        interval,
        f"{estimate.confidence:.4g}",
        str(estimate.n),
        _text(estimate.method),
    ]
    return "| " + " | ".join(cells) + " |"


def _text(text: str) -> str:
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
