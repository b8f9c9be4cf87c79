"""The two ends of a number as a gate sees them, and how sure it is beyond its limit."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeVar

from fireassay.core import Estimate
from fireassay.report.gates import Direction, Gate
from fireassay.statistics.binomial_tail import at_least

T = TypeVar("T")
_OTHER = {"_upper": "_lower", "_lower": "_upper"}
_SIDE = {"_upper": "upper bound", "_lower": "lower bound"}


@dataclass(frozen=True)
class Ends:
    """Unfavourable and favourable end of a number; None where nothing is known on that side.

    ``p_beyond`` is the one-sided p-value of "the number keeps its limit", ``alpha`` the error
    probability that its own interval allows on that side.
    """

    worst: float | None
    best: float | None
    alpha: float = 0.0
    p_beyond: float = 1.0
    words: tuple[str, str] = ("value", "value")


def ends_of(name: str, estimates: Mapping[str, Estimate], gate: Gate) -> Ends:
    """What a number says on either side of a gate.

    The bound ``X_upper`` has the other end in ``X_lower`` if the part has both, with ``X`` between
    them.
    """
    estimate = estimates[name]
    if estimate.kind == "count":
        p = 1.0 if gate.keeps(estimate.value) else 0.0
        return Ends(estimate.value, estimate.value, 1.0, p)
    if estimate.kind == "bound":
        return _of_bound(name, estimates, gate)
    words = _in_order(("upper end", "lower end"), gate.direction)
    worst, best = _in_order((estimate.high, estimate.low), gate.direction)
    alpha = (1 - estimate.confidence) / 2
    exact = _exact_p(estimate, gate)
    p = _normal_p(estimate.value, best, worst, alpha, gate) if exact is None else exact
    return Ends(worst, best, alpha, p, words)


def _of_bound(name: str, estimates: Mapping[str, Estimate], gate: Gate) -> Ends:
    suffix = name[-6:] if name[-6:] in _OTHER else ""
    if not suffix:
        # A bound of an unknown side: the one that people guard is the unfavourable one.
        return Ends(estimates[name].value, None, words=("bound", ""))
    stem = name.removesuffix(suffix)
    found = {side: estimates.get(stem + side) for side in _OTHER}
    bad, good = _in_order(("_upper", "_lower"), gate.direction)
    worst, best = found[bad], found[good]
    words = (_SIDE[bad], _SIDE[good])
    if best is None or math.isnan(best.value):
        return Ends(None if worst is None else worst.value, None, words=words)
    alpha = 1 - best.confidence
    if worst is None or math.isnan(worst.value):
        return Ends(None, best.value, alpha, alpha, words)
    centre = estimates[stem].value if stem in estimates else math.nan
    if math.isnan(centre):
        z_best, z_worst = -_quantile(alpha), _quantile(worst.confidence)
        centre = best.value + (worst.value - best.value) * z_best / (z_best + z_worst)
    p = _normal_p(centre, best.value, worst.value, alpha, gate)
    return Ends(worst.value, best.value, alpha, p, words)


def _in_order(pair: tuple[T, T], direction: Direction) -> tuple[T, T]:
    return pair if direction == "max" else (pair[1], pair[0])


def _exact_p(estimate: Estimate, gate: Gate) -> float | None:
    """The binomial test behind a Clopper-Pearson interval; None for other intervals."""
    hits = estimate.value * estimate.n
    if estimate.method != "Clopper-Pearson" or abs(hits - round(hits)) > 1e-6 * estimate.n:
        return None
    if not 0 <= gate.limit <= 1:
        return 1.0 if gate.keeps(estimate.value) else 0.0
    k = round(hits)
    if gate.direction == "min":
        return at_least(estimate.n - k, estimate.n, 1 - gate.limit)
    return at_least(k, estimate.n, gate.limit)


def _normal_p(centre: float, best: float, worst: float, alpha: float, gate: Gate) -> float:
    """The interval stretched on the normal scale until it touches the limit."""
    z = -_quantile(alpha)
    half = abs(centre - best) or abs(worst - centre)
    beyond = centre - gate.limit if gate.direction == "max" else gate.limit - centre
    if half == 0 or z <= 0:
        return 0.0 if beyond > 0 else 1.0
    return 0.5 * math.erfc(beyond / half * z / math.sqrt(2)) if math.isfinite(half) else 0.5


def _quantile(share: float) -> float:
    """Of the normal distribution; none is beyond 0 and 1."""
    return NormalDist().inv_cdf(share) if 0 < share < 1 else math.copysign(math.inf, share - 0.5)


def beyond_after_holm(found: Sequence[Ends | None]) -> list[bool]:
    """Which of several numbers are beyond their limits, with Holm's correction for their number.

    Each p-value is measured in its own alpha; with equal ones this is Holm's test. What was counted
    (alpha 1) is known, and needs none.
    """
    scaled = sorted(
        (ends.p_beyond / ends.alpha, position)
        for position, ends in enumerate(found)
        if ends is not None and ends.best is not None and ends.alpha < 1
    )
    rejected = [ends is not None and ends.alpha == 1 and ends.p_beyond == 0 for ends in found]
    for rank, (ratio, position) in enumerate(scaled):
        if ratio * (len(scaled) - rank) > 1:
            break
        rejected[position] = True
    return rejected
