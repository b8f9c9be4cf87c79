"""Evidence as one offline page: a verdict first, no network, light and dark, prints well."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from fireassay.core import Assumption, Estimate, Evidence, Table
from fireassay.report.about import About
from fireassay.report.chart_embed import chart_figure, chart_script, chart_styles, csp_hash
from fireassay.report.chart_limits import with_limits
from fireassay.report.first_screen import (
    interval_line,
    not_answered,
    not_to_rely_on,
    standing_of,
)
from fireassay.report.gates import Gate
from fireassay.report.glossary import GLOSSARY
from fireassay.report.interval_bar import bar_of_check
from fireassay.report.page_environment import page_environment
from fireassay.report.sample_view import worst_samples
from fireassay.report.verdict import GateCheck, Verdict
from fireassay.version import __version__

QUESTIONS = {
    "accuracy": "How often is it right on the labelled rows?",
    "curation": "Which field samples are naturally hard, and does it behave on them as it should?",
    "ambiguity": "What does it do on inputs that truly belong to two classes?",
    "supervision": "Which run-time monitor catches which trouble, at what threshold?",
    "discovery": "Where is it confidently wrong, found with few labels?",
    "reliability": "How often will it be wrong in the field, and how sure can we be?",
    "survival": "How soon does it fall to an attack, and at whose cost?",
}

_CALIBRATION = "calibration_error"


def to_html(
    evidence: Sequence[Evidence],
    title: str,
    verdict: Verdict,
    costs: Mapping[str, Mapping[str, Any]] | None = None,
    accepted: Mapping[str, str] | None = None,
    about: About | None = None,
) -> str:
    """The page as text. Everything that came from a user is escaped by the template."""
    environment = page_environment()
    page = _Charts(evidence, verdict.checks)
    environment.filters.update(
        main_chart=page.main,
        other_charts=page.others,
        interval_line=interval_line,
        found=_found,
        doubted=lambda check: _doubted(check, evidence, accepted or {}),
        place_of=lambda name: 1 + page.keys[name],
        first_few=lambda items, most: items[:most],
        number=_number,
        percent=lambda share: f"{100 * share:g} %",
        amount=_amount,
        gates=_gates,
        bar=lambda check: bar_of_check(check, _estimates(evidence, check.part)),
        label_of=label_of,
        standing=lambda part: standing_of(part, accepted or {}),
        against=lambda part: _against(part, accepted or {}),
        contradicted=lambda part: _contradicted(part, accepted or {}),
        beside=_beside,
        versions=_common_versions,
        listed=lambda versions: ", ".join(f"{name} {number}" for name, number in versions.items()),
        cell=_cell,
        numeric_columns=_numeric_columns,
    )
    styles = environment.get_template("report.css").render() + page.styles
    return environment.get_template("report.html").render(
        styles=styles,
        script=page.script,
        policy=page.policy(styles),
        worst=worst_samples(evidence, verdict),
        title=title,
        parts=evidence,
        verdict=verdict,
        costs=costs or {},
        accepted=accepted or {},
        about=about,
        unreliable=not_to_rely_on(evidence, accepted or {}),
        unanswered=not_answered(evidence),
        questions=QUESTIONS,
        glossary=GLOSSARY,
        version=__version__,
    )


class _Charts:
    """The charts of a page: each has a key of its own, the script stands once, if at all."""

    def __init__(self, evidence: Sequence[Evidence], checks: Sequence[GateCheck]) -> None:
        self.checks = checks
        self.keys = {part.question: number for number, part in enumerate(evidence)}
        self.any = any(part.charts for part in evidence)
        self.styles = chart_styles() if self.any else ""
        self.script = chart_script() if self.any else ""

    def policy(self, styles: str) -> str:
        """What a browser may do: draw pictures of the page, this style and this script; no more."""
        script = f"; script-src {csp_hash(self.script)}" if self.any else ""
        return f"default-src 'none'; img-src data:; style-src {csp_hash(styles)}{script}"

    def main(self, part: Evidence) -> Markup:
        """The part's own picture, and those that must not be folded."""
        shown = zip(self._drawn(part), self._first(part), strict=True)
        return Markup("").join(drawn for drawn, first in shown if first)

    def others(self, part: Evidence) -> list[Markup]:
        """What is folded."""
        shown = zip(self._drawn(part), self._first(part), strict=True)
        return [drawn for drawn, first in shown if not first]

    def _first(self, part: Evidence) -> list[bool]:
        return [not i or chart.is_first for i, chart in enumerate(part.charts.values())]

    def _drawn(self, part: Evidence) -> list[Markup]:
        # chart_figure escapes whatever came from a user.
        drawn = [with_limits(chart, part, self.checks) for chart in part.charts.values()]
        return [
            Markup(chart_figure(chart, f"part-{self.keys[part.question]}-{number}"))  # noqa: S704
            for number, chart in enumerate(drawn)
        ]


def _estimates(evidence: Sequence[Evidence], name: str) -> Mapping[str, Estimate]:
    return next((part.estimates for part in evidence if part.question == name), {})


def _found(check: GateCheck) -> str:
    """The number behind a check, as people read it."""
    if check.estimate is None or check.measure is None:
        return ""
    return check.measure.shown(check.estimate)


def _doubted(check: GateCheck, evidence: Sequence[Evidence], accepted: Mapping[str, str]) -> bool:
    """Whether the number behind a check rests on what the data contradicts."""
    part = next((item for item in evidence if item.question == check.part), None)
    if part is None or check.measure is None:
        return False
    return any(a.id not in accepted for a in part.contradicted(check.measure.name))


def label_of(checks: Sequence[GateCheck], gate: Gate) -> str:
    """What people call the number of a gate."""
    return next((check.label for check in checks if check.gate == gate), gate.number)


def _against(part: Evidence, accepted: Mapping[str, str]) -> list[Assumption]:
    """What the data contradicts behind the number that answers the question."""
    found = part.contradicted(part.answer) if part.answer else ()
    return [assumption for assumption in found if assumption.id not in accepted]


def _contradicted(part: Evidence, accepted: Mapping[str, str]) -> list[Assumption]:
    """What the data contradicts behind other numbers than the one that answers the question."""
    said = _against(part, accepted)
    return [
        assumption
        for assumption in part.assumptions
        if assumption.status == "contradicted"
        and assumption.id not in accepted
        and assumption not in said
    ]


def _beside(part: Evidence) -> str:
    """Whether confidences are true: it stands beside the answer of the part that measured it."""
    estimate = part.estimates.get(_CALIBRATION)
    if estimate is None or part.question != "accuracy":
        return ""
    return f"Its confidence is off by {part.measure(_CALIBRATION).shown(estimate)}."


def _number(value: float) -> str:
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "−∞"}.get(value, "not estimable")
    if value != 0 and (abs(value) < 1e-3 or abs(value) >= 1e6):
        return f"{value:.3g}"
    return f"{value:.4g}"


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _number(value) if isinstance(value, float) else str(value)


def _gates(part: Evidence, verdict: Verdict) -> list[GateCheck]:
    """The gates on a part's numbers."""
    return [
        check
        for check in verdict.checks
        if check.part == part.question or check.gate.number.startswith(f"{part.question}.")
    ]


def _common_versions(parts: Sequence[Evidence]) -> dict[str, str] | None:
    """The libraries' versions if all parts were made with the same ones, else None."""
    found = [part.provenance.versions for part in parts if part.provenance]
    return found[0] if found and all(versions == found[0] for versions in found) else None


def _numeric_columns(table: Table) -> list[bool]:
    """Which columns hold numbers only, and are set to the right."""
    return [
        all(isinstance(row[i], int | float) and not isinstance(row[i], bool) for row in table.rows)
        for i in range(len(table.columns))
    ]
