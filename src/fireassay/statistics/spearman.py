"""Spearman's rank correlation."""

import math

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.lazy_modules import special
from fireassay.core.validation import check_lengths
from fireassay.statistics.ranks import average_ranks
from fireassay.statistics.samples import check_sample


def spearman(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Rank correlation and its two-sided p-value.

    Parameters
    ----------
    x, y
        Finite values of one length, at least 3. Equal values share their average rank.

    Returns
    -------
    (rho, p)
        A constant x or y carries no order: (0, 1), never NaN.

    Raises
    ------
    DataError
        For fewer than 3 rows, different lengths, NaN or infinities.

    Notes
    -----
    Pearson's correlation of the ranks; ``t = rho sqrt((N - 2) / (1 - rho²))`` with N - 2 degrees
    of freedom.

    >>> rho, p = spearman([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    >>> round(rho, 3), round(p, 4)
    (0.8, 0.1041)
    """
    first, second = check_sample(x, "x", min_rows=3), check_sample(y, "y", min_rows=3)
    check_lengths(x=len(first), y=len(second))
    a, b = average_ranks(first), average_ranks(second)
    a, b = a - a.mean(), b - b.mean()
    scale = math.sqrt(float(a @ a) * float(b @ b))
    if scale == 0:
        return 0.0, 1.0
    rho = float(np.clip(a @ b / scale, -1.0, 1.0))
    freedom = len(a) - 2
    # 1 - rho² as a product keeps its digits when rho is close to 1.
    rest = (1.0 - rho) * (1.0 + rho)
    if rest <= 1e-15:
        return math.copysign(1.0, rho), 0.0
    t = rho * math.sqrt(freedom / rest)
    return rho, float(2.0 * special.stdtr(freedom, -abs(t)))
