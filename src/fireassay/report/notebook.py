"""A verdict and a whole report in a notebook: what is limited, what was found, what to do."""

from collections.abc import Sequence
from html import escape

from fireassay.core import Evidence
from fireassay.core.notebook import SOFT, table_html
from fireassay.report.page_environment import SHAPES
from fireassay.report.verdict import Verdict

# Green is for a pass alone; each colour is told from white and from black.
_EDGE = {"pass": "#2a8a46", "fail": "#cc4b44", "no limits set": "#808890"}
_OTHER = "#b07d1a"


def verdict_html(verdict: Verdict) -> str:
    """The verdict as a small box: every limit with its state, and what would settle it.

    >>> "No limits set" in verdict_html(Verdict("no limits set", ()))
    True
    """
    edge = _EDGE.get(verdict.status, _OTHER)
    rows = [
        (
            escape(check.label),
            escape(check.limit),
            "–"
            if check.estimate is None or check.measure is None
            else escape(check.measure.shown(check.estimate)),
            f"<strong>{SHAPES[check.status]} {check.word}</strong>",
            f'<span style="{SOFT}">{escape(check.explanation)}</span>',
        )
        for check in verdict.checks
    ]
    labels = {check.gate: check.label for check in verdict.checks}
    advice = "".join(
        f"<li><strong>{escape(labels.get(item.gate, item.gate.number))}</strong>: "
        f"{escape(item.text)}</li>"
        for item in verdict.advice
    )
    table = table_html(("what was limited", "limit", "found", "state", ""), rows) if rows else ""
    settle = f"<p>What would change this</p><ul>{advice}</ul>" if advice else ""
    return (
        f'<div style="border-left:5px solid {edge};padding:.2em 1em">'
        f'<p style="font-size:1.25em;margin:.2em 0"><strong>{SHAPES[verdict.status]} '
        f"{escape(verdict.headline)}</strong></p>{table}{settle}</div>"
    )


def report_html(parts: Sequence[Evidence], title: str, verdict: Verdict) -> str:
    """The questions with their answers, under the verdict.

    >>> "How often" in report_html([Evidence("accuracy", "How often?")], "T",
    ...                            Verdict("no limits set", ()))
    True
    """
    rows = []
    for part in parts:
        name = part.answer or ""
        known = part.estimates.get(name)
        shown = "–" if known is None else escape(part.measure(name).shown(known))
        doubted = any(part.contradicted(name)) if known is not None else False
        state = "" if part.status == "done" else f" ({part.status})"
        rows.append(
            (
                escape(part.question.capitalize()),
                escape((part.sentence or part.headline) + state),
                f"<s>{shown}</s>" if doubted else shown,
            )
        )
    table = table_html(("question", "answer", "number [interval]"), rows)
    return f"<div><p><strong>{escape(title)}</strong></p>{verdict_html(verdict)}{table}</div>"
