"""The Wilson score interval."""

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.lazy_modules import special
from fireassay.statistics.clopper_pearson import check_trials
from fireassay.statistics.samples import FloatVector, Scalar, check_confidence


@overload
def wilson(successes: Scalar, n: Scalar, confidence: float = 0.95) -> tuple[float, float]: ...
@overload
def wilson(
    successes: NDArray[Any] | list[Any], n: ArrayLike, confidence: float = 0.95
) -> tuple[FloatVector, FloatVector]: ...
@overload
def wilson(
    successes: Scalar, n: NDArray[Any] | list[Any], confidence: float = 0.95
) -> tuple[FloatVector, FloatVector]: ...
def wilson(successes: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> tuple[Any, Any]:
    """Wilson score interval of a proportion: narrower than Clopper–Pearson, right on average.

    Its coverage swings around the nominal level; where a bound must hold use `clopper_pearson`.

    Parameters
    ----------
    successes, n
        Counts (fractions allowed), ``0 <= successes <= n``; arrays broadcast. ``n = 0`` gives
        (0, 1).
    confidence
        In (0, 1).

    Returns
    -------
    (low, high)
        Floats for two numbers, arrays otherwise.

    Notes
    -----
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
