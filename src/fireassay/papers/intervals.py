"""Intervals of means over cells, trainings or models, as the runners report them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t


def mean_interval(values: ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """Student's interval of a mean; nothing is known from a single value.

    >>> low, high = mean_interval([1.0, 3.0])  # 2 ± 12.7062, the 97.5 % quantile at one degree
    >>> round(low, 3), round(high, 3)
    (-10.706, 14.706)
    >>> mean_interval([0.5])
    (-inf, inf)
    """
    own = np.asarray(values, dtype=np.float64)
    if len(own) < 2:
        return -np.inf, np.inf
    arm = float(t.isf((1 - confidence) / 2, len(own) - 1) * own.std(ddof=1) / np.sqrt(len(own)))
    return float(own.mean() - arm), float(own.mean() + arm)


def ratio_interval(
    numerators: NDArray[np.float64], denominators: NDArray[np.float64]
) -> tuple[float, float]:
    """A 95 % interval of a ratio of sums over cells, by the delta method.

    >>> low, high = ratio_interval(np.array([1.0, 3.0] * 50), np.ones(100))
    >>> bool(low < 2 < high), round(high - low, 2)
    (True, 0.39)
    """
    ratio = numerators.sum() / denominators.sum()
    residuals = numerators - ratio * denominators
    arm = 1.96 * np.sqrt(np.square(residuals).sum()) / denominators.sum()
    return float(max(0.0, ratio - arm)), float(ratio + arm)
