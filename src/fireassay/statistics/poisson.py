"""The exact interval of a Poisson mean."""

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.lazy_modules import special
from fireassay.statistics.samples import FloatVector, Scalar, check_confidence, check_counts


@overload
def poisson_interval(count: Scalar, confidence: float = 0.95) -> tuple[float, float]: ...
@overload
def poisson_interval(
    count: NDArray[Any] | list[Any], confidence: float = 0.95
) -> tuple[FloatVector, FloatVector]: ...
def poisson_interval(count: ArrayLike, confidence: float = 0.95) -> tuple[Any, Any]:
    """Garwood's interval of a Poisson mean: never covers less than it says.

    Parameters
    ----------
    count
        Events seen, at least 0; a number or an array. Divide both ends by the exposure for a rate.
    confidence
        In (0, 1).

    Returns
    -------
    (low, high)
        Floats for one number, arrays otherwise.

    Notes
    -----
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
