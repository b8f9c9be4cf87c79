"""Two or more runs side by side: differences with intervals, and what changed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fireassay.core import Estimate, Evidence, Measure, ParameterError, Result
from fireassay.core.lazy_modules import pd, special
from fireassay.report.report import Report

METHOD = "MOVER: the two intervals combined, runs taken as independent, approximate"


@dataclass(frozen=True)
class Difference:
    """One number in two runs.

    Attributes
    ----------
    part, number
        Which number of which part.
    before, after, change
        In the first run, in the second, and the second minus the first.
    measure
        What the number is.

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

    Attributes
    ----------
    differences
        One per number that both runs have.
    changed
        What else changed: model, data, seed, versions, status.
    only_before, only_after
        Numbers that only one of the runs has.
    """

    differences: tuple[Difference, ...]
    changed: tuple[str, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """One row per number: before, after, change with its interval."""
        rows = [
            {
                "part": d.part,
                "number": d.number,
                "label": d.measure.label,
                "before": d.before.value,
                "after": d.after.value,
                "change": d.change.value,
                "low": d.change.low,
                "high": d.change.high,
                "clear": d.clear,
                "method": d.change.method,
            }
            for d in self.differences
        ]
        columns = ["part", "number", "label", "before", "after", "change", "low", "high"]
        return pd.DataFrame(rows, columns=[*columns, "clear", "method"])


def compare_reports(
    before: Report, after: Report, paired: Mapping[str, Estimate] | None = None
) -> RunComparison:
    """Numbers that both runs have, with the interval of their difference.

    Without ``paired`` the interval takes the runs as independent. On the same rows it is wider than
    a paired one where both models fail on the same rows, and too narrow where each fails where the
    other does not (complementary errors: .86 instead of .95).

    Parameters
    ----------
    before, after
        Reports of the two runs.
    paired
        Changes that were found row by row, by ``part.number``: these are taken instead.

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
