"""Two or more runs side by side: differences with intervals, and what changed."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from fireassay.core import Estimate, Evidence, Measure, ParameterError, Result, Sample
from fireassay.core.lazy import pd, special
from fireassay.report.document import About
from fireassay.report.page import page_environment
from fireassay.report.page_charts import IntervalBar, csp_hash
from fireassay.report.report import Report
from fireassay.report.verdict import GateCheck, Verdict
from fireassay.version import __version__

_FEW_CLASSES, _MATRIX_CLASSES = 6, 100  # of more only filled cells are known
METHOD = "MOVER: the two intervals combined, runs taken as independent, approximate"


@dataclass(frozen=True)
class Difference:
    """One number in two runs.

    Attributes:
        part, number: Which number of which part.
        before, after, change: In the first run, in the second, and the second minus the first.
        measure: What the number is.

    >>> before, after = (Estimate(v, v - 0.03, v + 0.03, 0.95, 400, "m") for v in (0.80, 0.90))
    >>> change = Estimate(0.10, 0.06, 0.14, 0.95, 400, "MOVER")
    >>> what = Measure.undescribed("accuracy")
    >>> Difference("accuracy", "accuracy", before, after, change, what).clear
    True
    """

    part: str
    number: str
    before: Estimate
    after: Estimate
    change: Estimate
    measure: Measure

    @property
    def clear(self) -> bool:
        """Whether the interval of the change excludes zero."""
        return self.change.low > 0 or self.change.high < 0


@dataclass(frozen=True)
class RunComparison(Result):
    """A run against the one before: numbers that both have, and what changed around them.

    Attributes:
        differences: One per number that both runs have.
        changed: What else changed: model, data, seed, versions, status.
        only_before, only_after: Numbers that only one of the runs has.
    """

    differences: tuple[Difference, ...]
    changed: tuple[str, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """One row per number: before, after, change with its interval."""
        columns = ["part", "number", "label", "before", "after", "change", "low", "high"]
        rows = []
        for d in self.differences:
            values = (d.before.value, d.after.value, d.change.value, d.change.low, d.change.high)
            rows.append((d.part, d.number, d.measure.label, *values, d.clear, d.change.method))
        return pd.DataFrame(rows, columns=[*columns, "clear", "method"])


def compare_reports(
    before: Report, after: Report, paired: Mapping[str, Estimate] | None = None
) -> RunComparison:
    """Numbers that both runs have, with the interval of their difference.

    Without ``paired`` the interval takes the runs as independent. On the same rows it is wider than
    a paired one where both models fail on the same rows, and too narrow where each fails where the
    other does not (complementary errors: .86 instead of .95).

    Args:
        before, after: Reports of the two runs.
        paired: Changes that were found row by row, by ``part.number``: these are taken instead.

    >>> def run(right):
    ...     share = Estimate(right, right - 0.03, right + 0.03, 0.95, 400, "Clopper-Pearson")
    ...     return Report([Evidence("accuracy", "How often?", estimates={"accuracy": share})])
    >>> found = compare_reports(run(0.80), run(0.90)).differences[0]
    >>> print(f"{found.change.value:.2f}, {found.change.low:.3f} to {found.change.high:.3f}")
    0.10, 0.058 to 0.142
    >>> found.clear  # 0.042 is the root of 0.03² + 0.03²
    True
    """
    old, new = ({part.question: part for part in report.parts} for report in (before, after))
    _check_same_task(old, new)
    differences = [
        Difference(
            part,
            name,
            old[part].estimates[name],
            new[part].estimates[name],
            (paired or {}).get(f"{part}.{name}")
            or _change(old[part].estimates[name], new[part].estimates[name]),
            new[part].measure(name),
        )
        for part in old
        if part in new
        for name in old[part].estimates
        if name in new[part].estimates
    ]
    names_old, names_new = _names(old), _names(new)
    return RunComparison(
        tuple(differences),
        tuple(_changes(old, new)),
        tuple(sorted(names_old - names_new)),
        tuple(sorted(names_new - names_old)),
    )


def _check_same_task(old: Mapping[str, Evidence], new: Mapping[str, Evidence]) -> None:
    """Refuse runs whose classes differ: their numbers answer different questions."""
    tables = [parts["accuracy"].tables for parts in (old, new) if "accuracy" in parts]
    known = [tuple(str(row[0]) for row in t["confusion"].rows) for t in tables if "confusion" in t]
    known = [] if any(len(names) > _MATRIX_CLASSES for names in known) else known
    if len(known) == 2 and set(known[0]) != set(known[1]):
        first, second = (", ".join(names[:_FEW_CLASSES]) for names in known)
        raise ParameterError(
            "Two runs are compared on one task.",
            got=f"different classes: {first} and {second}",
            do="Compare runs of models that answer with the same classes.",
        )


def _change(before: Estimate, after: Estimate) -> Estimate:
    value = after.value - before.value
    n = min(before.n, after.n)
    if before.kind != "interval" or after.kind != "interval" or not math.isfinite(value):
        # A bound has no interval of its own: the change is shown, not judged.
        return Estimate(value, -math.inf, math.inf, 0.95, n, "no intervals, not judged")
    if before.confidence != after.confidence:
        before = _at_confidence(before, after.confidence)
    low = value - math.hypot(after.value - after.low, before.high - before.value)
    high = value + math.hypot(after.high - after.value, before.value - before.low)
    return Estimate(value, low, high, after.confidence, n, METHOD)


def _at_confidence(estimate: Estimate, confidence: float) -> Estimate:
    """An interval stretched to another confidence on the normal scale."""
    factor = float(
        special.ndtri((1 + confidence) / 2) / special.ndtri((1 + estimate.confidence) / 2)
    )
    low = estimate.value - factor * (estimate.value - estimate.low)
    high = estimate.value + factor * (estimate.high - estimate.value)
    return Estimate(estimate.value, low, high, confidence, estimate.n, estimate.method)


def _names(parts: Mapping[str, Evidence]) -> set[str]:
    return {f"{part}.{name}" for part, item in parts.items() for name in item.estimates}


def _changes(old: Mapping[str, Evidence], new: Mapping[str, Evidence]) -> list[str]:
    """What differs in data, model, seed, versions or status."""
    if not old or not new:
        raise ParameterError("Both runs must have at least one part.", got="an empty run")
    found = []
    for part in sorted(set(old) & set(new)):
        before, after = old[part], new[part]
        if before.status != after.status:
            found.append(f"{part}: {before.status}, now {after.status}")
        a, b = before.provenance, after.provenance
        if a is None or b is None:
            continue
        if a.model_sha256 != b.model_sha256:
            found.append(f"{part}: another model")
        if a.data_sha256 != b.data_sha256:
            found.append(f"{part}: other data")
        if a.seed != b.seed:
            found.append(f"{part}: seed {a.seed}, now {b.seed}")
        for name in sorted(set(a.versions) | set(b.versions)):
            was, now = a.versions.get(name, "none"), b.versions.get(name, "none")
            if was != now:
                found.append(f"{part}: {name} {was}, now {now}")
    return found


_ORDER = ("worse", "better", "changed", "no change shown")
_PAD = 0.12


@dataclass(frozen=True)
class ComparedRun:
    """One of the two runs, as the page names it.

    Attributes:
        name: Of its folder, or whatever people call it.
        verdict: What became of its limits.
        about: Its model, data, day and seed, if somebody noted them.
        doubts: Why its answers cannot be relied on as they stand; usually nothing.

    >>> run = ComparedRun("v1", Verdict("no limits set", ()))
    >>> run.verdict.headline
    'NO LIMITS SET: nothing here is a pass.'
    """

    name: str
    verdict: Verdict
    about: About | None = None
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class MovedAnswers:
    """Rows whose answer became wrong or right, as samples, and how many there are of each.

    Attributes:
        newly_wrong, newly_right: A few of them, to look at.
        wrong, right: How many in all.

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

    Args:
        before, after: The two runs.
        comparison: What `compare_reports` found.
        paired: Numbers (``part.number``) that were compared row by row.
        moved: Rows whose answer changed; None where the runs share no rows.

    >>> run = ComparedRun("v1", Verdict("no limits set", ()))
    >>> page = comparison_html(run, run, RunComparison((), (), (), ()))
    >>> "NO LIMITS SET" in page
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
    """A change with its interval; of shares in points of per cent."""
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
