"""Confidence bounds of a bounded mean by betting, and the Hoeffding–Bentkus bound."""

import math
import warnings
from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.errors import AssumptionWarning, DataError, ParameterError
from fireassay.core.lazy import special
from fireassay.core.validation import check_choice
from fireassay.statistics.samples import (
    FloatVector,
    Scalar,
    as_real,
    check_confidence,
    check_counts,
    check_sample,
)

_LARGEST_STAKE = 0.75
_GRID = 1000
_BLOCK = 50
_ALTERNATIVES = ("two-sided", "upper", "lower")


def betting_interval(
    values: ArrayLike,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0, 1),
    alternative: str = "two-sided",
) -> tuple[float, float]:
    """Interval of the mean of bounded values, for a sample size fixed beforehand.

    Holds for any distribution on the bounds and any sample size: no normal approximation. It
    adapts to the variance: where values vary little it is much narrower than Hoeffding's.

    Args:
        values: Values in the order they were drawn, each with the same mean given those before it
            (independent draws are). Sorting the values first destroys the guarantee.
        confidence: In (0, 1).
        bounds: (lowest, highest) possible value; known beforehand, not read from the data.
        alternative: "two-sided"; "upper" for an upper bound (low is the lowest possible value) or
            "lower" for a lower bound, each tighter than the same end of the two-sided interval.

    Returns:
        (low, high): Always contains the sample mean.

    Raises:
        DataError: For no values, NaN or values outside the bounds.

    Warns:
        AssumptionWarning: When no mean at all is compatible with the values: they drift.

    Hedged capital of Waudby-Smith and Ramdas (2024): a gambler bets that the mean is not m, with
    stakes on earlier values only. m is rejected once the capital reaches 1 / alpha (Ville).

    >>> low, high = betting_interval([0.0] * 100, alternative="upper")
    >>> low, round(high, 3)
    (0.0, 0.039)
    """
    unit, (lowest, highest), tail = _check(values, confidence, bounds, alternative)
    n = len(unit)
    bets = np.sqrt(2.0 * math.log(1.0 / tail) / (n * _earlier_variance(unit)))
    low = 0.0 if alternative == "upper" else _lower(unit, bets, tail)
    high = 1.0 if alternative == "lower" else 1.0 - _lower(1.0 - unit, bets, tail)
    if low > high:
        _warn_drift()
        low, high = high, low
    mean = float(unit.mean())
    low, high = min(low, mean), max(high, mean)
    width = highest - lowest
    return max(lowest, lowest + width * low), min(highest, lowest + width * high)


def betting_sequence(
    values: ArrayLike,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0, 1),
    alternative: str = "two-sided",
) -> tuple[FloatVector, FloatVector]:
    """Running interval of a bounded mean that holds at all times at once.

    One may look after every value and stop when one likes (optional stopping): with probability
    at least ``confidence`` the mean lies in every one of the intervals.

    Args:
        values, confidence, bounds, alternative: As for `betting_interval`.

    Returns:
        (low, high): The interval after 1, 2, …, n values; it never grows, unless they drift.

    Warns:
        AssumptionWarning: When no mean at all is compatible with the values.

    As `betting_interval`, with stakes that shrink like ``1 / sqrt(t log t)``. Ends are rounded
    outwards to a grid of 1,000 means that is dense near the last interval.

    >>> low, high = betting_sequence([0, 1] * 200)
    >>> bool(low[-1] > low[99] > 0.2)
    True
    """
    unit, (lowest, highest), tail = _check(values, confidence, bounds, alternative)
    time = np.arange(1, len(unit) + 1)
    spread = _earlier_variance(unit) * time * np.log(time + 1.0)
    bets = np.sqrt(2.0 * math.log(1.0 / tail) / spread)
    low, high = np.zeros(len(unit)), np.ones(len(unit))
    if alternative != "upper":
        low = _running_lower(unit, bets, tail)
    if alternative != "lower":
        high = 1.0 - _running_lower(1.0 - unit, bets, tail)
    if (low > high).any():
        _warn_drift()
        low, high = np.minimum(low, high), np.maximum(low, high)
    width = highest - lowest
    return (np.maximum(lowest, lowest + width * low), np.minimum(highest, lowest + width * high))


def _check(
    values: ArrayLike, confidence: float, bounds: tuple[float, float], alternative: str
) -> tuple[FloatVector, tuple[float, float], float]:
    """Values on the unit interval, the bounds, and the error probability of each side."""
    check_confidence(confidence)
    check_choice(alternative, "alternative", _ALTERNATIVES)
    lowest, highest = (float(end) for end in bounds)
    if not (math.isfinite(lowest) and math.isfinite(highest) and lowest < highest):
        raise ParameterError("The 'bounds' must be (low, high) with low < high.", got=repr(bounds))
    sample = check_sample(values, "values")
    outside = (sample < lowest) | (sample > highest)
    if outside.any():
        raise DataError(
            f"values must lie in the bounds [{lowest:g}, {highest:g}].",
            got=f"{sample[outside][0]:g} in row {int(outside.argmax())}",
            do="Pass bounds=(lowest, highest possible value).",
        )
    unit = np.clip((sample - lowest) / (highest - lowest), 0.0, 1.0)
    tail = 1.0 - confidence
    return unit, (lowest, highest), tail / 2.0 if alternative == "two-sided" else tail


def _earlier_variance(unit: FloatVector) -> FloatVector:
    """For each value the variance estimated from those before it, started at 1/4."""
    time = np.arange(1, len(unit) + 1)
    mean = (0.5 + np.cumsum(unit)) / (time + 1)
    variance = (0.25 + np.cumsum((unit - mean) ** 2)) / (time + 1)
    return np.concatenate([[0.25], variance[:-1]])


def _capital(unit: FloatVector, bets: FloatVector, means: FloatVector) -> FloatVector:
    """Log capital after each value (rows: means) of a bet that the mean is larger."""
    stakes = np.minimum(bets, _LARGEST_STAKE / np.maximum(means, 1e-300)[:, None])
    growth = np.log1p(stakes * (unit - means[:, None]))
    return np.asarray(np.cumsum(growth, axis=1))


def _lower(unit: FloatVector, bets: FloatVector, tail: float) -> float:
    """The largest rejected mean: the best capital over time falls with the mean."""
    target = math.log(1.0 / tail)

    def rejected(mean: float) -> bool:
        return bool(_capital(unit, bets, np.array([mean])).max() >= target)

    return largest_rejected(rejected, 0.0, 1.0, 44) if rejected(0.0) else 0.0


def _running_lower(unit: FloatVector, bets: FloatVector, tail: float) -> FloatVector:
    """For each time the largest mean of a grid that was rejected by then."""
    last = _lower(unit, bets, tail)
    if last == 0.0:
        return np.zeros(len(unit))
    # Square spacing: the ends of late intervals lie close together, near the last one.
    grid = last * (1.0 - np.linspace(1.0, 0.0, _GRID) ** 2)
    target = math.log(1.0 / tail)
    reached = np.zeros(len(unit))
    for start in range(0, _GRID, _BLOCK):
        means = grid[start : start + _BLOCK]
        above = _capital(unit, bets, means) >= target
        for mean, row in zip(means[above.any(axis=1)], above[above.any(axis=1)], strict=True):
            first = int(row.argmax())
            reached[first] = max(reached[first], mean)
    return np.asarray(np.maximum.accumulate(reached))


def _warn_drift() -> None:
    warnings.warn(
        "No mean is compatible with the values at this confidence: early and late values "
        "contradict each other, so it is likely that they do not share one mean. The interval "
        "given spans both. Shuffle the rows if their order carries no meaning, or look for drift.",
        AssumptionWarning,
        stacklevel=3,
    )


def largest_rejected(
    rejected: Callable[[float], bool], low: float, high: float, steps: int
) -> float:
    """The last place, by so many halvings, up to which everything from ``low`` on is rejected."""
    for _ in range(steps):
        middle = (low + high) / 2.0
        low, high = (middle, high) if rejected(middle) else (low, middle)
    return low


_NEAR, _MOST_STEPS = 1e-13, 200


def crossing(
    rising: Callable[[float], float], level: float, low: float = 0.0, high: float = 1.0
) -> float:
    """The smallest place, within 1e-13 from above, where a rising function reaches the level."""
    below, above = rising(low) - level, rising(high) - level
    if below >= 0.0:
        return low
    if above < 0.0:
        return high
    side = 0
    for _ in range(_MOST_STEPS):
        if high - low <= _NEAR:
            break
        middle = high - above * (high - low) / (above - below)
        if not low < middle < high:
            middle = (low + high) / 2.0
        found = rising(middle) - level
        if found >= 0.0:
            below = below / 2.0 if side == 1 else below
            high, above, side = middle, found, 1
        else:
            above = above / 2.0 if side == -1 else above
            low, below, side = middle, found, -1
    return high


@overload
def hoeffding_bentkus_upper(mean: Scalar, n: Scalar, confidence: float = ...) -> float: ...
@overload
def hoeffding_bentkus_upper(
    mean: ArrayLike, n: ArrayLike, confidence: float = ...
) -> FloatVector: ...
def hoeffding_bentkus_upper(mean: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> Any:
    """Upper bound of the true mean of [0, 1] values, from their sample mean alone.

    Holds with probability at least ``confidence`` for independent values of any distribution on
    [0, 1]. With the values at hand `betting_interval` is usually tighter; with 0/1 values
    `clopper_pearson` always is.

    Args:
        mean: Sample mean(s), in [0, 1].
        n: Number(s) of values; 0 gives the bound 1.
        confidence: One-sided, in (0, 1).

    The largest m that neither of two tests rejects: Hoeffding's ``exp(-n kl(mean, m)) <= alpha``
    and Bentkus' ``e P(Bin(n, m) <= ceil(n mean)) <= alpha``, where alpha is 1 - confidence.

    >>> round(hoeffding_bentkus_upper(0.0, 100, 0.95), 4)
    0.0295
    """
    check_confidence(confidence)
    alpha = 1.0 - confidence
    average, size = np.broadcast_arrays(as_real(mean, "mean"), check_counts(n, "n"))
    if not ((average >= 0) & (average <= 1)).all():
        bad = average[~((average >= 0) & (average <= 1))].ravel()[0]
        raise DataError("mean must be in [0, 1].", got=f"{bad}", do="Rescale the values first.")
    bound = np.minimum(_hoeffding(average, size, alpha), _bentkus(average, size, alpha))
    return float(bound) if bound.ndim == 0 else bound


def _hoeffding(mean: FloatVector, n: FloatVector, alpha: float) -> FloatVector:
    """Bisection on the rejected side, so that rounding can only make the bound larger."""
    low, high = mean.astype(np.float64), np.ones(mean.shape)
    for _ in range(60):
        middle = (low + high) / 2.0
        with np.errstate(divide="ignore", invalid="ignore"):
            divergence = special.xlogy(mean, mean / middle) + special.xlogy(
                1.0 - mean, (1.0 - mean) / (1 - middle)
            )
        rejected = (n > 0) & (np.maximum(n, 1e-300) * divergence >= -np.log(alpha))
        low, high = np.where(rejected, low, middle), np.where(rejected, middle, high)
    return high


def _bentkus(mean: FloatVector, n: FloatVector, alpha: float) -> FloatVector:
    """The Clopper–Pearson bound at level alpha / e, of the count rounded up."""
    count = np.ceil(np.round(n * mean, 9))
    some = count < n
    bound = np.ones(mean.shape)
    bound[some] = special.betainccinv(count[some] + 1.0, n[some] - count[some], alpha / math.e)
    return bound
