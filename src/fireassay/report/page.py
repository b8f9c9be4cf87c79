"""Evidence as one offline page: a verdict first, no network, light and dark, prints well."""

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup, escape

from fireassay.core import Assumption, Estimate, Evidence, Sample, Table
from fireassay.report.document import About
from fireassay.report.first_screen import (
    COLOURS,
    SHAPES,
    FirstScreen,
    LimitLine,
    against,
    first_screen,
)
from fireassay.report.page_charts import (
    IntervalBar,
    bar_of_check,
    chart_figure,
    chart_script,
    chart_styles,
    csp_hash,
    with_limits,
)
from fireassay.report.verdict import GateCheck, Verdict
from fireassay.version import __version__

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment

# Where the first screen leads to; each page fills in what it has.
LINKS: Final[Mapping[str, Any]] = {
    "part": "#part-", "from_zero": False, "rows": "", "queues": "", "more": ()
}  # fmt: skip
_COMMAND = re.compile(r"fireassay [a-z]+(?: (?:--?[a-z-]+|[A-Z]+\b))*")
_PER_CENT = re.compile(r"(\d) %")


def page_environment() -> "Environment":
    """What renders a page of this package, with the filters that all pages share."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("fireassay.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=together,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_compiled(),
    )
    environment.filters.update(
        bar=bars_of(()),
        sparkline=sparkline,
        by_reason=groups_by_reason,
        commands=_commands,
        sure=lambda share: "–" if share is None else f"{100 * share:.0f} %",
    )
    environment.globals.update(shapes=SHAPES, colours=COLOURS)
    return environment


@functools.cache
def _compiled() -> "BytecodeCache":
    """Templates as they were compiled by this process; each environment has its own filters."""
    from jinja2 import BytecodeCache

    class Compiled(BytecodeCache):
        kept: Final[dict[tuple[str, str], Any]] = {}

        def load_bytecode(self, bucket: Any) -> None:
            bucket.code = self.kept.get((bucket.key, bucket.checksum))

        def dump_bytecode(self, bucket: Any) -> None:
            self.kept[bucket.key, bucket.checksum] = bucket.code

    return Compiled()


def screen_html(
    screen: FirstScreen, evidence: Sequence[Evidence], links: Mapping[str, Any], *, rows: int = 3
) -> Markup:
    """The first screen as every page shows it, with the worst inputs at its end."""
    environment = page_environment()
    environment.filters.update(bar=bars_of(evidence))
    worst = worst_samples(evidence, screen.verdict)
    template = environment.get_template("screen.html")
    text = template.render(screen=screen, links={**LINKS, **links}, worst=worst, rows=rows)
    return Markup(text)  # noqa: S704  # the template escapes


def bars_of(evidence: Sequence[Evidence]) -> Callable[[LimitLine], IntervalBar | None]:
    """Draws the bar of a limit from the numbers of its part."""
    known = {part.question: part.estimates for part in evidence}

    def bar(line: LimitLine) -> IntervalBar | None:
        check = line.check
        own = {} if check.measure is None else {check.measure.name: check.estimate}
        return bar_of_check(check, known.get(check.part, own))  # type: ignore[arg-type]

    return bar


def _commands(text: str) -> Markup:
    """Text with its commands set as such: none is broken at its hyphens."""
    return Markup(_COMMAND.sub(r"<code>\g<0></code>", str(escape(text))))  # noqa: S704


def together(value: Any) -> Any:
    """Text in which a number is not parted from its per cent sign at the end of a line."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return _PER_CENT.sub("\\1\N{NO-BREAK SPACE}%", value)


QUESTIONS = {
    "accuracy": "How often is it right on the labelled rows?",
    "curation": "Which field samples are naturally hard, and does it behave on them as it should?",
    "ambiguity": "What does it do on inputs that truly belong to two classes?",
    "supervision": "Which run-time monitor catches which trouble, at what threshold?",
    "discovery": "Where is it confidently wrong, found with few labels?",
    "reliability": "How often will it be wrong in the field, and how sure can we be?",
    "survival": "How soon does it fall to an attack, and at whose cost?",
}


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
        usual_numbers=usual_numbers,
        number=_number,
        percent=lambda share: f"{100 * share:g} %",
        amount=lambda v: f"{v:,.0f}" if v >= 100 or v == int(v) else f"{v:.2f}",
        gates=_gates,
        standing=lambda part: standing_of(part, accepted or {}),
        against=lambda part: against(part, accepted or {}),
        contradicted=lambda part: _contradicted(part, accepted or {}),
        versions=_common_versions,
        listed=lambda versions: ", ".join(f"{name} {number}" for name, number in versions.items()),
        cell=_cell,
        numeric_columns=_numeric_columns,
    )
    screen = first_screen(evidence, verdict, accepted, about)
    styles = environment.get_template("report.css").render() + page.styles
    return environment.get_template("report.html").render(
        styles=styles,
        script=page.script,
        policy=page.policy(styles),
        screen=screen,
        first=screen_html(screen, evidence, {}),
        links={**LINKS, "more": (("Provenance", "#provenance"),)},
        title=title,
        parts=evidence,
        verdict=verdict,
        costs=costs or {},
        accepted=accepted or {},
        about=about,
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
        """Sections collapsed by default."""
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


def _contradicted(part: Evidence, accepted: Mapping[str, str]) -> list[Assumption]:
    """What the data contradicts behind other numbers than the one that answers the question."""
    said = against(part, accepted)
    return [
        assumption
        for assumption in part.assumptions
        if assumption.status == "contradicted"
        and assumption.id not in accepted
        and assumption not in said
    ]


def _number(value: float) -> str:
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "−∞"}.get(value, "not estimable")
    if value != 0 and (abs(value) < 1e-3 or abs(value) >= 1e6):
        return f"{value:.3g}"
    return f"{value:.4g}"


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


GLOSSARY = {
    "interval": "A range that, by the stated method, contains the true value in the stated share "
    "of repetitions of the whole study. Wider means: less is known.",
    "n": "The number of independent observations behind a number.",
    "upper bound": "A value that the true number does not exceed, with the stated confidence.",
    "pmi": "Probability of misclassification per input: how often the classifier is wrong on "
    "inputs drawn as they occur in the field.",
    "SDR": "Standardised discovery ratio: errors found, divided by the errors that the "
    "classifier's own confidence had announced. Above 1: it is more sure than it should be.",
    "AUROC": "The probability that a monitor ranks a troubled input above a normal one. "
    "0.5 is a coin, 1 is perfect.",
    "supported": "The data was asked, and agrees with the assumption.",
    "contradicted": "The data was asked, and disagrees: numbers that rest on this assumption "
    "must not be relied on.",
    "untestable": "The data at hand cannot answer; someone must argue for it.",
    "pass": "Every limit that was set is met, even at the unfavourable end of its interval.",
    "fail": "A limit is not met, even at the favourable end of its number's interval.",
    "not enough evidence": "No limit is missed for sure, but one is undecided: its number is not "
    "known well enough, was not measured, or rests on an assumption that the data contradicts.",
    "no limits set": "Nobody said what is good enough, so nothing here is a pass.",
    "stale": "The answer is older than the model, the data or the settings it should be about.",
    "not available": "The question could not be asked with what was given. This is not a pass.",
    "failed": "The question was asked and the computation broke. This is not a pass.",
    "query": "One row sent to the classifier.",
    "censored": "The observation ended before the event happened: we know 'longer than', no more.",
}


WORST = 6
_EACH = 3
# Parts whose samples are mistakes on real rows come before those that were made.
_MISTAKES = {"accuracy": 0, "discovery": 1, "survival": 2}
_URGENCY = {"fail": 0, "undecided": 1, "pass": 2}
_WIDTH, _HEIGHT, _MARGIN = 120.0, 40.0, 2.0


def worst_samples(parts: Sequence[Evidence], verdict: Verdict) -> list[Sample]:
    """Inputs that show why: of parts whose limit is broken first, then undecided, then others."""
    urgency = {
        part.question: min(
            (_URGENCY[check.status] for check in verdict.checks if check.part == part.question),
            default=3,
        )
        for part in parts
    }
    ordered = sorted(
        parts,
        key=lambda part: (urgency[part.question], _MISTAKES.get(part.question, len(_MISTAKES))),
    )
    first = [sample for part in ordered for sample in part.samples[:_EACH]]
    rest = [sample for part in ordered for sample in part.samples[_EACH:]]
    once: dict[tuple[int | str, str, str], Sample] = {}
    for sample in [*first, *rest]:  # a mistake on a row is shown once
        once.setdefault((sample.row, sample.truth, sample.said), sample)
    return list(once.values())[:WORST]


def groups_by_reason(samples: Sequence[Sample]) -> list[tuple[str, list[Sample]]]:
    """Samples in their order, those that are shown for the same reason together."""
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(sample.why, []).append(sample)
    return list(groups.items())


def sparkline(values: Sequence[float]) -> str:
    """The points of a line 120 wide and 40 high."""
    low, high = min(values), max(values)
    step = (_WIDTH - 2 * _MARGIN) / max(1, len(values) - 1)
    scale = (_HEIGHT - 2 * _MARGIN) / ((high - low) or 1.0)
    return " ".join(
        f"{_MARGIN + i * step:.1f},{_HEIGHT - _MARGIN - (value - low) * scale:.1f}"
        for i, value in enumerate(values)
    )


_USUAL = (
    "accuracy", "balanced_accuracy", "mcc", "f1_macro", "sensitivity", "specificity", "ppv", "npv",
    "f1", "auroc", "auroc_macro", "average_precision", "brier",
)  # fmt: skip
_MOST_USUAL = 32


def standing_of(part: Evidence, accepted: Mapping[str, str]) -> str:
    """What the ledger of a part says, in one line."""
    counts = {"supported": 0, "contradicted": 0, "untestable": 0}
    agreed = 0
    for assumption in part.assumptions:
        if assumption.status == "contradicted" and assumption.id in accepted:
            agreed += 1
        else:
            counts[assumption.status] += 1
    words = {
        "supported": ("holds", "hold"),
        "contradicted": ("is contradicted", "are contradicted"),
        "untestable": ("cannot be tested", "cannot be tested"),
    }
    told = [f"{count} {words[status][count != 1]}" for status, count in counts.items() if count] + (
        [f"{agreed} accepted although contradicted"] if agreed else []
    )
    return ", ".join(told)


def interval_line(part: Evidence) -> str:
    """How sure the number of a part's sentence is, and on how many observations it rests."""
    estimate: Estimate | None = part.estimates.get(part.answer or "")
    if estimate is None:
        return ""
    measure, seen = part.measure(part.answer or ""), f"from {estimate.n:,} observations"
    sure = f"{100 * estimate.confidence:g} %"
    if estimate.kind == "bound":
        return f"{sure} confidence, {seen}."
    if estimate.kind != "interval":
        return f"Without an interval, {seen}."
    if measure.unit == "auc" and "%" in part.sentence:  # a share of pairs
        measure = replace(measure, unit="share")
    return f"{sure} interval {measure.between(estimate)}, {seen}."


def usual_numbers(part: Evidence) -> list[tuple[str, str, int]]:
    """The numbers that most readers look for first: name, value with interval, and rows."""
    found = {n: e for n, e in part.estimates.items() if n.partition("[")[0] in _USUAL}
    if len(found) > _MOST_USUAL:  # many classes
        found = {name: e for name, e in found.items() if "[" not in name}
    known = {name: e for name, e in found.items() if "@" not in name and e.value == e.value}
    return [(part.measure(name).label, part.measure(name).shown(e), e.n)
            for name, e in known.items()]  # fmt: skip
