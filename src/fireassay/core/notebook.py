"""Numbers and answers in a notebook: small tables that look well on a light and a dark page.

Only the notebook's own text colour is used, and soft lines: it may be light or dark.
"""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fireassay.core.estimate import Estimate
    from fireassay.core.evidence import Evidence

SOFT = "opacity:.72;font-size:.92em"
CELL = "text-align:left;padding:.25em 1em .25em 0;border-bottom:1px solid rgba(128,128,128,.3)"
_NUMBERS = 12


def estimate_html(estimate: "Estimate") -> str:
    """A number with its interval, and in small print how it came about."""
    value, _, rest = str(estimate).removesuffix(f" n={estimate.n}").partition(" ")
    told = f"<strong>{escape(value)}</strong>{' ' if rest else ''}{escape(rest)}"
    sure = f"{100 * estimate.confidence:g} % {estimate.kind}, "
    how = f"{sure if 0 < estimate.confidence < 1 else ''}{estimate.method}, n = {estimate.n:,}"
    return f'<span>{told} <span style="{SOFT}">{escape(how)}</span></span>'


def evidence_html(evidence: "Evidence") -> str:
    """An answer: its sentence, its first numbers, its first chart, what the data contradicts."""
    rows = []
    for name, estimate in list(evidence.estimates.items())[:_NUMBERS]:
        measure = evidence.measure(name)
        struck = any(evidence.contradicted(name))
        shown = escape(measure.shown(estimate))
        rows.append(
            (escape(measure.label), f"<s>{shown}</s>" if struck else shown, f"{estimate.n:,}")
        )
    more = len(evidence.estimates) - len(rows)
    against = [a for a in evidence.assumptions if a.status == "contradicted"]
    said = escape(evidence.sentence or evidence.headline)
    doubts = [f"{escape(a.statement)} {escape(a.check)}" for a in against]
    pieces = [
        f'<p style="{SOFT};margin:0">{escape(evidence.question.capitalize())}</p>',
        f'<p style="font-size:1.2em;margin:.1em 0 .5em"><strong>{said}</strong></p>',
        table_html(("number", "value [interval]", "n"), rows) if rows else "",
        f'<p style="{SOFT}">and {more:,} more numbers: .estimates</p>' if more > 0 else "",
        *(f"<p>Contradicted by the data: {doubt}</p>" for doubt in doubts),
        next((chart.svg() for chart in evidence.charts.values()), ""),
    ]
    return f"<div>{''.join(pieces)}</div>"


def table_html(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table of cells that are HTML already."""
    head = "".join(f'<th style="{CELL};{SOFT}">{name}</th>' for name in heads)
    body = "".join(
        "<tr>" + "".join(f'<td style="{CELL}">{cell}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    return f'<table style="border-collapse:collapse"><tr>{head}</tr>{body}</table>'
