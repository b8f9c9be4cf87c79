"""The argument as Goal Structuring Notation, in the YAML form that gsn2x draws."""

import json
from collections.abc import Sequence

from fireassay.core import Evidence


def to_gsn(evidence: Sequence[Evidence], title: str) -> str:
    """Goals for the whole and for each part, solutions for numbers, assumptions with status."""
    lines = _node("G1", f"{title}: the classifier is fit for its use", supported=["S1"])
    goals = [f"G{number}" for number in range(2, len(evidence) + 2)]
    lines += _node("S1", "Argument over the questions asked of the classifier", supported=goals)
    solutions = assumptions = 0
    for goal, item in zip(goals, evidence, strict=True):
        supported, context = [], []
        children: list[str] = []
        for name, estimate in item.estimates.items():
            solutions += 1
            supported.append(f"Sn{solutions}")
            text = f"{name} = {estimate} ({estimate.method}, {estimate.confidence:.3g})"
            children += _node(f"Sn{solutions}", text)
        for assumption in item.assumptions:
            assumptions += 1
            context.append(f"A{assumptions}")
            text = f"{assumption.statement} [{assumption.status}: {assumption.check}]"
            children += _node(f"A{assumptions}", text)
        undeveloped = item.status != "done" or not supported
        text = f"{item.question}: {item.headline}"
        lines += _node(goal, text, supported, context, undeveloped=undeveloped) + children
    return "\n".join(lines) + "\n"


def _node(
    key: str,
    text: str,
    supported: Sequence[str] = (),
    context: Sequence[str] = (),
    *,
    undeveloped: bool = False,
) -> list[str]:
    # A JSON string is a YAML string whatever characters a user's names contain.
    lines = [f"{key}:", f"  text: {json.dumps(text)}"]
    if supported:
        lines.append(f"  supportedBy: [{', '.join(supported)}]")
    if context:
        lines.append(f"  inContextOf: [{', '.join(context)}]")
    if undeveloped:
        lines.append("  undeveloped: true")
    return lines
