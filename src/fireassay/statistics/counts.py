"""Exact and Wilson intervals of counts; tails of binomial, Poisson and Poisson-binomial laws."""

import math
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.errors import DataError
from fireassay.core.lazy import special
from fireassay.core.validation import check_choice, check_real
from fireassay.statistics.samples import (
    FloatVector,
    Scalar,
    check_confidence,
    check_counts,
    check_sample,
)


@overload
def clopper_pearson(
    successes: Scalar, n: Scalar, confidence: float = 0.95, alternative: str = "two-sided"
) -> tuple[float, float]: ...
@overload
def clopper_pearson(
    successes: ArrayLike, n: ArrayLike, confidence: float = 0.95, alternative: str = "two-sided"
) -> tuple[FloatVector, FloatVector]: ...
def clopper_pearson(
    successes: ArrayLike, n: ArrayLike, confidence: float = 0.95, alternative: str = "two-sided"
) -> tuple[Any, Any]:
    """Clopper–Pearson interval of a proportion: never covers less than it says.

    Args:
        successes, n: Counts, ``0 <= successes <= n``; arrays broadcast. Fractional counts (sums of
            weights) use the same beta quantiles. ``n = 0`` gives (0, 1).
        confidence: In (0, 1).
        alternative: "two-sided", or "upper" (low = 0) and "lower" (high = 1) for one-sided bounds.

    Raises:
        DataError: For negative, missing or infinite counts, or more successes than trials.

    The bounds are the quantiles of Beta(k, n - k + 1) and Beta(k + 1, n - k).

    >>> low, high = clopper_pearson(0, 59, alternative="upper")
    >>> round(high, 4)
    0.0495
    """
    check_confidence(confidence)
    check_choice(alternative, "alternative", ("two-sided", "upper", "lower"))
    k, trials = check_trials(successes, n)
    tail = 1.0 - confidence
    if alternative == "two-sided":
        tail /= 2.0
    low, high = np.zeros(k.shape), np.ones(k.shape)
    if alternative != "upper":
        some = k > 0
        low[some] = special.betaincinv(k[some], trials[some] - k[some] + 1.0, tail)
    if alternative != "lower":
        some = k < trials
        high[some] = special.betainccinv(k[some] + 1.0, trials[some] - k[some], tail)
    if k.ndim == 0:
        return float(low), float(high)
    return low, high


def check_trials(successes: ArrayLike, n: ArrayLike) -> tuple[FloatVector, FloatVector]:
    """Successes and trials of one shape; successes above n by rounding alone are set to n."""
    k, trials = check_counts(successes, "successes"), check_counts(n, "n")
    try:
        k, trials = np.broadcast_arrays(k, trials)
    except ValueError as mismatch:
        raise DataError(
            "successes and n must have shapes that broadcast.", got=f"{k.shape} and {trials.shape}"
        ) from mismatch
    above = k > trials * (1.0 + 1e-9)
    if above.any():
        raise DataError(
            "successes must not exceed n.",
            got=f"{k[above].ravel()[0]:g} of {trials[above].ravel()[0]:g}",
        )
    return np.minimum(k, trials), np.asarray(trials)


_NEGLIGIBLE, _EXACT_BELOW = 1e-17, 5_000


def at_least(count: int, n: int, rate: float) -> float:
    """The chance of ``count`` or more hits among ``n`` independent ones."""
    return _upper(count, n, rate, 1.0 - rate)


def at_most(count: int, n: int, rate: float) -> float:
    """The chance of ``count`` or fewer hits among ``n`` independent ones."""
    return _upper(n - count, n, 1.0 - rate, rate)


def _upper(count: int, n: int, rate: float, other: float) -> float:
    """`at_least`; ``other`` is one minus the rate, which loses digits when it is taken back."""
    if count <= 0 or (other <= 0.0 and count <= n):
        return 1.0
    if count > n or rate <= 0.0:
        return 0.0
    if count > n * rate:
        return min(1.0, _mass(count, n, rate, other) * _beyond(count, n, rate / other))
    rest = n - count + 1
    return max(0.0, 1.0 - _mass(rest, n, other, rate) * _beyond(rest, n, other / rate))


def _beyond(count: int, n: int, odds: float) -> float:
    """The sum of the terms from this one on, in units of it: beyond the mean they fall."""
    term = total = 1.0
    for i in range(count, n):
        term *= (n - i) / (i + 1) * odds
        total += term
        if term < _NEGLIGIBLE * total:
            break
    return total


def _mass(count: int, n: int, rate: float, other: float) -> float:
    """The binomial term; logarithms of large factorials would cancel where few are chosen."""
    rest = n - count
    logs = [math.log(p) if p < 0.5 else math.log1p(-q) for p, q in ((rate, other), (other, rate))]
    ways = math.lgamma(n + 1.0) - math.lgamma(count + 1.0) - math.lgamma(rest + 1.0)
    if min(count, rest) < _EXACT_BELOW:
        ways = math.log(math.comb(n, count))
    return math.exp(ways + count * logs[0] + rest * (logs[1] if rest else 0.0))


@overload
def poisson_interval(count: Scalar, confidence: float = 0.95) -> tuple[float, float]: ...
@overload
def poisson_interval(
    count: NDArray[Any] | list[Any], confidence: float = 0.95
) -> tuple[FloatVector, FloatVector]: ...
def poisson_interval(count: ArrayLike, confidence: float = 0.95) -> tuple[Any, Any]:
    """Garwood's interval of a Poisson mean: never covers less than it says.

    Args:
        count: Events seen, at least 0; number or array. For a rate divide both ends by exposure.
        confidence: In (0, 1).

    Half the chi-squared quantiles with 2k and 2k + 2 degrees of freedom.

    >>> [round(end, 3) for end in poisson_interval(10)]
    [4.795, 18.39]
    """
    check_confidence(confidence)
    k = check_counts(count, "count")
    tail = (1.0 - confidence) / 2.0
    some = k > 0
    low = np.where(some, special.gammaincinv(np.where(some, k, 1.0), tail), 0.0)
    high = np.asarray(special.gammainccinv(k + 1.0, tail))
    if k.ndim == 0:
        return float(low), float(high)
    return low, high


def poisson_binomial_tail(probabilities: ArrayLike, at_least: float) -> float:
    """P(S >= at_least) for a sum S of independent Bernoulli variables, exact to rounding.

    Args:
        probabilities: Success probability of each trial, in [0, 1]; none at all means S = 0.
        at_least: Threshold; a fraction is rounded up.

    The distribution is built by direct convolution. All terms are positive, so that even a tail
    of 1e-200 has full relative accuracy, which a Fourier transform does not give.

    >>> round(poisson_binomial_tail([0.5, 0.5, 0.5], 2), 12)
    0.5
    """
    chances = check_sample(probabilities, "probabilities", min_rows=0)
    threshold = math.ceil(check_real(at_least, "at_least"))
    if (chances < 0).any() or (chances > 1).any():
        bad = chances[(chances < 0) | (chances > 1)][0]
        raise DataError("probabilities must be in [0, 1].", got=f"{bad}")
    if threshold <= 0:
        return 1.0
    if threshold > len(chances):
        return 0.0
    tail = np.sort(_distribution(chances)[threshold:])
    return min(1.0, float(math.fsum(tail)))


def _distribution(chances: FloatVector) -> FloatVector:
    """Probabilities of 0, 1, …, n successes, halves combined by convolution."""
    if len(chances) <= 32:
        mass = np.ones(1)
        for chance in chances:
            grown = np.zeros(len(mass) + 1)
            grown[:-1] = mass * (1.0 - chance)
            grown[1:] += mass * chance
            mass = grown
        return mass
    middle = len(chances) // 2
    return np.convolve(_distribution(chances[:middle]), _distribution(chances[middle:]))


@overload
def wilson(successes: Scalar, n: Scalar, confidence: float = 0.95) -> tuple[float, float]: ...
@overload
def wilson(
    successes: ArrayLike, n: ArrayLike, confidence: float = 0.95
) -> tuple[FloatVector, FloatVector]: ...
def wilson(successes: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> tuple[Any, Any]:
    """Wilson score interval of a proportion: narrower than Clopper–Pearson, right on average.

    Its coverage swings around the nominal level; where a bound must hold use `clopper_pearson`.

    Args:
        successes, n: As for `clopper_pearson`; fractions are allowed.
        confidence: In (0, 1).

    The proportions p with ``|k/n - p| <= z sqrt(p (1 - p) / n)``.

    >>> [round(end, 4) for end in wilson(5, 50)]
    [0.0435, 0.2136]
    """
    check_confidence(confidence)
    k, trials = check_trials(successes, n)
    z = -float(special.ndtri((1.0 - confidence) / 2.0))
    total = trials + z * z
    centre = (k + z * z / 2.0) / total
    share = np.divide(k * (trials - k), trials, out=np.zeros(k.shape), where=trials > 0)
    half = z / total * np.sqrt(share + z * z / 4.0)
    low = np.where(k == 0, 0.0, np.maximum(centre - half, 0.0))
    high = np.where(k == trials, 1.0, np.minimum(centre + half, 1.0))
    if k.ndim == 0:
        return float(low), float(high)
    return low, high
