"""Two runs as one offline page: verdict before → after, what changed, which answers moved."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from fireassay.core import Estimate, Measure, Sample
from fireassay.report.about import About
from fireassay.report.chart_embed import csp_hash
from fireassay.report.interval_bar import IntervalBar
from fireassay.report.page_environment import page_environment
from fireassay.report.run_comparison import Difference, RunComparison
from fireassay.report.verdict import GateCheck, Verdict
from fireassay.version import __version__

_ORDER = ("worse", "better", "changed", "no change shown")
_PAD = 0.12


@dataclass(frozen=True)
class ComparedRun:
    """One of the two runs, as the page names it.

    Attributes
    ----------
    name
        Of its folder, or whatever people call it.
    verdict
        What became of its limits.
    about
        Its model, data, day and seed, if somebody noted them.
    doubts
        Why its answers cannot be relied on as they stand; usually nothing.

    >>> run = ComparedRun("v1", Verdict("no limits set", ()))
    >>> run.verdict.headline
    'No limits set. Nothing here is a pass.'
    """

    name: str
    verdict: Verdict
    about: About | None = None
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class MovedAnswers:
    """Rows whose answer became wrong or right, as samples, and how many there are of each.

    Attributes
    ----------
    newly_wrong, newly_right
        A few of them, to look at.
    wrong, right
        How many in all.

    >>> MovedAnswers((), (), 3, 5).right
    5
    """

    newly_wrong: tuple[Sample, ...] = ()
    newly_right: tuple[Sample, ...] = ()
    wrong: int = 0
    right: int = 0


def comparison_html(
    before: ComparedRun,
    after: ComparedRun,
    comparison: RunComparison,
    paired: Collection[str] = (),
    moved: MovedAnswers | None = None,
) -> str:
    """The page as text; equal comparisons give equal bytes.

    Parameters
    ----------
    before, after
        The two runs.
    comparison
        What `compare_reports` found.
    paired
        Numbers (``part.number``) that were compared row by row.
    moved
        Rows whose answer changed; None where the runs share no rows.

    Returns
    -------
    str

    >>> run = ComparedRun("v1", Verdict("no limits set", ()))
    >>> page = comparison_html(run, run, RunComparison((), (), (), ()))
    >>> "No limits set" in page
    True
    """
    environment = page_environment()
    environment.filters.update(
        became=became,
        change=lambda d: signed(d.measure, d.change),
        zero_bar=_bar_of_change,
        how=lambda d: "row by row" if f"{d.part}.{d.number}" in paired else "not row by row",
    )
    styles = environment.get_template("report.css").render()
    differences = sorted(comparison.differences, key=lambda d: _ORDER.index(became(d)))
    return environment.get_template("comparison.html").render(
        before=before,
        after=after,
        policy=f"default-src 'none'; img-src data:; style-src {csp_hash(styles)}",
        styles=styles,
        gates=_gates(before.verdict, after.verdict),
        changed=[d for d in differences if d.clear],
        same=[d for d in differences if not d.clear],
        comparison=comparison,
        moved=moved,
        version=__version__,
    )


def became(found: Difference) -> str:
    """What a change means for the user of the model, in a word or two."""
    if not found.clear:
        return "no change shown"
    if found.measure.better == "neither":
        return "changed"
    return "better" if (found.change.value > 0) == (found.measure.better == "high") else "worse"


def signed(measure: Measure, change: Estimate) -> str:
    """A change with its interval; of shares in points of per cent.

    >>> error = Measure("error", "Wrong", "share", "low", "")
    >>> signed(error, Estimate(-0.021, -0.034, -0.008, 0.95, 700, "paired"))
    '−2.1 points [−3.4, −0.8]'
    """
    if not math.isfinite(change.value):
        return "not estimable"
    scale, unit = (100.0, " points") if measure.unit == "share" else (1.0, "")
    digits = measure.decimals(change)

    def told(value: float) -> str:
        shown = f"{abs(scale * value):,.{digits}f}"
        sign = "" if float(shown.replace(",", "")) == 0 else "−" if value < 0 else "+"
        return f"{sign}{shown}"

    if not (math.isfinite(change.low) and math.isfinite(change.high)):
        return f"{told(change.value)}{unit}"
    return f"{told(change.value)}{unit} [{told(change.low)}, {told(change.high)}]"


def _bar_of_change(found: Difference) -> IntervalBar | None:
    """Where a change and its interval stand around zero; None for a change without interval."""
    change = found.change
    ends = (change.low, change.value, change.high)
    if not all(map(math.isfinite, ends)):
        return None
    left, right = min(0.0, change.low), max(0.0, change.high)
    pad = _PAD * ((right - left) or 1.0)

    def at(x: float) -> float:
        return round(100 * (x - left + pad) / (right - left + 2 * pad), 2)

    words = f"change {signed(found.measure, change)}"
    return IntervalBar(at(ends[0]), at(ends[2]), at(ends[1]), at(0.0), None, words, "no change")


def _gates(before: Verdict, after: Verdict) -> Sequence[tuple[GateCheck | None, GateCheck | None]]:
    """Each limit before and after, in the order of the later run."""

    def by_gate(verdict: Verdict) -> Mapping[tuple[str, str], GateCheck]:
        return {(check.gate.number, check.gate.direction): check for check in verdict.checks}

    old, new = by_gate(before), by_gate(after)
    return [(old.get(key), new.get(key)) for key in dict.fromkeys([*new, *old])]
