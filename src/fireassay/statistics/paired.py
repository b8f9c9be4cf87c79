"""Two shares of the same rows: the interval of their difference."""

import math

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.validation import check_lengths
from fireassay.statistics.samples import check_confidence
from fireassay.statistics.wilson import wilson


def paired_difference(first: ArrayLike, second: ArrayLike, confidence: float = 0.95) -> Estimate:
    """Share of ``second`` minus share of ``first``, on the same rows.

    Rows that two models answer alike say nothing about their difference; using that makes the
    interval narrower than that of two independent samples.

    Parameters
    ----------
    first, second
        True or False per row, e.g. whether each of two models is right; rows in the same order.
    confidence
        In (0, 1).

    Returns
    -------
    Estimate

    Notes
    -----
    Newcombe's score interval for paired proportions (1998, method 10): the two Wilson intervals
    are combined with the correlation of the rows. The correlation is shrunk by half a row in the
    direction of no correlation, as in his continuity-corrected phi.

    >>> print(paired_difference([1, 1, 0, 0] * 25, [1, 1, 1, 0] * 25))
    0.250 [0.161, 0.333] n=100
    """
    check_confidence(confidence)
    a, b = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    check_lengths(first=len(a), second=len(b))
    n = len(a)
    if n == 0:
        raise DataError("A difference needs at least one row.", got="0 rows")
    both, neither = int((a & b).sum()), int((~a & ~b).sum())
    only_b, only_a = int((~a & b).sum()), int((a & ~b).sum())
    share_a, share_b = (both + only_a) / n, (both + only_b) / n
    low_a, high_a = (float(end) for end in wilson(both + only_a, n, confidence))
    low_b, high_b = (float(end) for end in wilson(both + only_b, n, confidence))
    phi = _correlation(both, only_a, only_b, neither, n)
    value = share_b - share_a
    down = _combined(share_b - low_b, high_a - share_a, phi)
    up = _combined(high_b - share_b, share_a - low_a, phi)
    method = "Newcombe, paired"
    return Estimate(value, value - down, value + up, confidence, n, method)


def _combined(one: float, other: float, phi: float) -> float:
    return math.sqrt(max(one**2 - 2 * phi * one * other + other**2, 0.0))


def _correlation(both: int, only_a: int, only_b: int, neither: int, n: int) -> float:
    margins = (both + only_a) * (both + only_b) * (neither + only_a) * (neither + only_b)
    if margins == 0:
        return 0.0
    excess = float(both * neither - only_a * only_b)
    if excess > 0:
        excess = max(excess - n / 2, 0.0)
    return excess / math.sqrt(margins)
