"""A number, its interval and its limit on one line: where each stands between 0 and 100."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fireassay.core import Estimate, Measure
from fireassay.report.gates import Gate
from fireassay.report.verdict import GateCheck

_PAD = 0.12


@dataclass(frozen=True)
class IntervalBar:
    """Places on a line from 0 to 100, and the same in words.

    Attributes
    ----------
    low, high
        The ends of the interval.
    value, limit
        The number and its limit; None where there is none.
    keeps
        From where to where a number keeps the limit.
    words
        What the drawing says, for those who cannot see it.
    at_limit
        What stands at the limit.
    """

    low: float
    high: float
    value: float | None
    limit: float | None
    keeps: tuple[float, float] | None
    words: str
    at_limit: str = ""


def bar_of_check(check: GateCheck, estimates: Mapping[str, Estimate]) -> IntervalBar | None:
    """The bar of a judged gate; None where no number was found."""
    if check.estimate is None or check.measure is None:
        return None
    return interval_bar(check.measure, estimates, check.gate)


def interval_bar(
    measure: Measure, estimates: Mapping[str, Estimate], gate: Gate | None = None
) -> IntervalBar | None:
    """The bar of a number; a bound is drawn with its sibling and with what lies between them."""
    estimate = estimates[measure.name]
    value, low, high = estimate.value, estimate.low, estimate.high
    stem = measure.name.removesuffix("_upper").removesuffix("_lower")
    if estimate.kind == "bound" and stem != measure.name and stem in estimates:
        value = estimates[stem].value
        low, high = (
            estimates[f"{stem}{side}"].value if f"{stem}{side}" in estimates else value
            for side in ("_lower", "_upper")
        )
    known = [x for x in (value, low, high) if math.isfinite(x)]
    if not known:
        return None
    marks = [*known, *([gate.limit] if gate is not None else [])]
    left, right = min(marks), max(marks)
    pad = _PAD * ((right - left) or abs(right) or 1.0)
    left, right = left - pad, right + pad
    if measure.unit in ("share", "auc"):
        left, right = max(0.0, left), min(1.0, right)

    def at(x: float) -> float:
        x = min(max(x, left), right)
        return round(100 * (x - left) / ((right - left) or 1.0), 2)

    limit = None if gate is None else at(gate.limit)
    keeps = None
    if gate is not None and limit is not None:
        keeps = (0.0, limit) if gate.direction == "max" else (limit, 100.0)
    words = measure.shown(estimate)
    at_limit = ""
    if gate is not None:
        side = "at most" if gate.direction == "max" else "at least"
        at_limit = f"{side} {measure.shown_value(gate.limit)}"
        words += f", limit {at_limit}"
    ends = (at(low if math.isfinite(low) else left), at(high if math.isfinite(high) else right))
    dot = at(value) if math.isfinite(value) else None
    return IntervalBar(ends[0], ends[1], dot, limit, keeps, words, at_limit)
