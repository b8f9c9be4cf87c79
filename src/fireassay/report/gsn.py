"""The argument as Goal Structuring Notation, in the YAML form that gsn2x draws."""

import json
from collections.abc import Mapping, Sequence

from fireassay.core import Evidence
from fireassay.report.about import About
from fireassay.report.verdict import Verdict


def to_gsn(
    evidence: Sequence[Evidence],
    title: str,
    verdict: Verdict,
    accepted: Mapping[str, str],
    about: About | None = None,
) -> str:
    """Goals for the whole and for each part, solutions for numbers, assumptions with status.

    Only a verdict that passes carries the first goal; otherwise it is undeveloped, and what was
    found stands beside it.
    """
    goal = f"{title}: the classifier is fit for its use"
    passed = bool(verdict)
    lines = _node("G1", goal, ["S1"] if passed else (), ["C1"], undeveloped=not passed)
    said = [f"{c.label}, {c.limit}: {c.word}, {c.explanation}" for c in verdict.checks]
    settle = [f"What would settle it: {item}" for item in verdict.advice]
    subject = [] if about is None else [f"{about}."]
    lines += _node("C1", " ".join([*subject, f"Verdict: {verdict.headline}", *said, *settle]))
    goals = [f"G{number}" for number in range(2, len(evidence) + 2)]
    lines += _node("S1", "Argument over the questions asked of the classifier", supported=goals)
    solutions = assumptions = 0
    for key, item in zip(goals, evidence, strict=True):
        supported, context = [], []
        children: list[str] = []
        # What is stale or cut short is no solution: its goal stays undeveloped.
        relied_on = not (item.stale or item.partial)
        for name, estimate in item.estimates.items() if relied_on else ():
            solutions += 1
            supported.append(f"Sn{solutions}")
            measure = item.measure(name)
            text = f"{measure.label} ({name}) = {measure.shown(estimate)} ({estimate.method})"
            against = item.contradicted(name)
            if any(a.id not in accepted for a in against):
                text += " [contradicted by the data: not to be relied on]"
            text += "".join(
                f" [accepted: {a.id}: {accepted[a.id]}]" for a in against if a.id in accepted
            )
            children += _node(f"Sn{solutions}", text)
        for assumption in item.assumptions:
            assumptions += 1
            context.append(f"A{assumptions}")
            text = f"{assumption.statement} [{assumption.status}: {assumption.check}]"
            if assumption.id in accepted:
                text += f" [accepted: {accepted[assumption.id]}]"
            children += _node(f"A{assumptions}", text)
        state = "" if relied_on else f" [{'stale' if item.stale else 'partial'}]"
        text = f"{item.question}: {item.sentence or item.headline}{state}"
        lines += _node(key, text, supported, context, undeveloped=not supported) + children
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
