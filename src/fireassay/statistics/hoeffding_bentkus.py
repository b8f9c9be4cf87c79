"""The Hoeffding–Bentkus upper bound of a mean in [0, 1]."""

import math
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.errors import DataError
from fireassay.core.lazy_modules import special
from fireassay.statistics.samples import (
    FloatVector,
    Scalar,
    as_real,
    check_confidence,
    check_counts,
)


@overload
def hoeffding_bentkus_upper(mean: Scalar, n: Scalar, confidence: float = ...) -> float: ...
@overload
def hoeffding_bentkus_upper(
    mean: NDArray[Any] | list[Any], n: ArrayLike, confidence: float = ...
) -> FloatVector: ...
@overload
def hoeffding_bentkus_upper(
    mean: Scalar, n: NDArray[Any] | list[Any], confidence: float = ...
) -> FloatVector: ...
def hoeffding_bentkus_upper(mean: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> Any:
    """Upper bound of the true mean of [0, 1] values, from their sample mean alone.

    Holds with probability at least ``confidence`` for independent values of any distribution on
    [0, 1]. With the values at hand `betting_interval` is usually tighter; with 0/1 values
    `clopper_pearson` always is.

    Parameters
    ----------
    mean
        Sample mean(s), in [0, 1].
    n
        Number(s) of values; 0 gives the bound 1.
    confidence
        One-sided, in (0, 1).

    Returns
    -------
    float or array

    Notes
    -----
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
