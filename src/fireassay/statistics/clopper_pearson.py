"""The exact binomial interval."""

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.errors import DataError
from fireassay.core.lazy_modules import special
from fireassay.core.validation import check_choice
from fireassay.statistics.samples import FloatVector, Scalar, check_confidence, check_counts


@overload
def clopper_pearson(
    successes: Scalar, n: Scalar, confidence: float = 0.95, alternative: str = "two-sided"
) -> tuple[float, float]: ...
@overload
def clopper_pearson(
    successes: NDArray[Any] | list[Any],
    n: ArrayLike,
    confidence: float = 0.95,
    alternative: str = "two-sided",
) -> tuple[FloatVector, FloatVector]: ...
@overload
def clopper_pearson(
    successes: Scalar,
    n: NDArray[Any] | list[Any],
    confidence: float = 0.95,
    alternative: str = "two-sided",
) -> tuple[FloatVector, FloatVector]: ...
def clopper_pearson(
    successes: ArrayLike,
    n: ArrayLike,
    confidence: float = 0.95,
    alternative: str = "two-sided",
) -> tuple[Any, Any]:
    """Clopper–Pearson interval of a proportion: never covers less than it says.

    Parameters
    ----------
    successes, n
        Counts, ``0 <= successes <= n``; arrays broadcast. Fractional counts (sums of weights)
        use the same beta quantiles. ``n = 0`` gives (0, 1).
    confidence
        In (0, 1).
    alternative
        "two-sided"; "upper" for an upper bound (low = 0) or "lower" for a lower bound (high = 1),
        each with the whole error probability on its one side.

    Returns
    -------
    (low, high)
        Floats for two numbers, arrays otherwise.

    Raises
    ------
    DataError
        For negative, missing or infinite counts, or more successes than trials.

    Notes
    -----
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
