"""Conclusions that hold when the search learns from labels, or someone looks at every step."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.validation import check_real
from fireassay.discovery.discovery_ratio import check_queried

Vector = NDArray[np.float64]
_HIGHER = (1.5, 2.0, 3.0, 4.0, 6.0)
_LOWER = (0.05, 0.15, 0.3, 0.5, 0.7)
_LARGEST_CHANCE = 0.99
_LARGEST_RATIO = 1e6
_LARGEST_LOG = 700.0


def e_process(confidence: ArrayLike, wrong: ArrayLike) -> Vector:
    """Evidence after each label against "no prediction is wrong more often than 1 − confidence".

    Notes
    -----
    E_t = mean over s of Π s_i^{e_i} ((1 − s_i r_i) / (1 − r_i))^{1 − e_i}, r = 1 − confidence,
    s_i = min(s, .99 / r_i), s in {1.5, 2, 3, 4, 6}. Whatever rule chose the rows, and whenever one
    stops, E exceeds 1/α with probability at most α if the confidences are right.
    """
    stated, flags = check_queried(confidence, wrong)
    return np.asarray(np.exp(np.minimum(_log_evidence(1.0 - stated, flags, _HIGHER), _LARGEST_LOG)))


def sequential_p_value(confidence: ArrayLike, wrong: ArrayLike) -> float:
    """1 / the largest evidence so far, at most 1: a p-value under any search and any stopping."""
    stated, flags = check_queried(confidence, wrong)
    evidence = _log_evidence(1.0 - stated, flags, _HIGHER)
    return float(np.exp(-max(0.0, evidence.max(initial=0.0))))


def sequential_interval(
    confidence: ArrayLike, wrong: ArrayLike, level: float = 0.95
) -> tuple[float, float]:
    """An interval for the true ratio of errors to expectation that holds at every step at once.

    The ratio is the ρ for which a queried prediction is wrong with chance ρ (1 − confidence); if it
    differs between rows, the lower end lies below the largest and the upper above the smallest.
    """
    level = check_real(level, "level", low=0.0, high=1.0)
    stated, flags = check_queried(confidence, wrong)
    chances = 1.0 - stated
    if not len(flags) or chances.max(initial=0.0) <= 0:
        return 0.0, float("inf")
    limit = np.log(2.0 / (1.0 - level))
    low = 0.0
    if flags.any() and _peak(chances * 1e-6, flags, _HIGHER) >= limit:
        low = _bisect(chances, flags, _HIGHER, limit, 1e-6, _LARGEST_RATIO)
    high = float("inf")
    if _peak(chances * _LARGEST_RATIO, flags, _LOWER) >= limit:
        high = _bisect(chances, flags, _LOWER, limit, low, _LARGEST_RATIO, falling=False)
    return low, high


def _bisect(
    chances: Vector,
    flags: NDArray[np.bool_],
    factors: tuple[float, ...],
    limit: float,
    low: float,
    high: float,
    *,
    falling: bool = True,
) -> float:
    """The ratio at which the evidence crosses the limit (evidence falls or rises in the ratio)."""
    for _ in range(50):
        middle = (low + high) / 2
        refuted = _peak(chances * middle, flags, factors) >= limit
        if refuted == falling:
            low = middle
        else:
            high = middle
    return low if falling else high


def _peak(chances: Vector, flags: NDArray[np.bool_], factors: tuple[float, ...]) -> float:
    """Logarithm of the largest evidence over time."""
    return float(_log_evidence(chances, flags, factors).max())


def _log_evidence(chances: Vector, flags: NDArray[np.bool_], factors: tuple[float, ...]) -> Vector:
    rates = np.clip(chances, 1e-12, _LARGEST_CHANCE)[None, :]
    bets = np.asarray(factors)[:, None]
    bets = np.minimum(bets, _LARGEST_CHANCE / rates)
    steps = np.where(flags, np.log(bets), np.log1p(-bets * rates) - np.log1p(-rates))
    totals = np.logaddexp.reduce(np.cumsum(steps, axis=1), axis=0)
    return np.asarray(totals - np.log(len(factors)))
