"""Checks that rows are independent: correlation within groups, autocorrelation of a series."""

import math

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.seeds import generator
from fireassay.statistics.groups.group_counts import GroupCounts, intraclass_correlation
from fireassay.statistics.samples import check_sample

_PERMUTATIONS = 999


def intraclass_test(counts: GroupCounts, seed: int = 0) -> tuple[float, float]:
    """The correlation of two rows of one group, and the p-value of "there is none".

    Args:
        counts: Hits and rows of each group.
        seed: Of the permutations.

    Returns:
        (correlation, p): The p-value is that of a permutation test: the hits are dealt to the rows
            again and again.

    >>> counts = GroupCounts(np.array([9, 0, 1, 0]), np.array([10, 10, 10, 10]))
    >>> correlation, p = intraclass_test(counts)
    >>> round(correlation, 2), p
    (0.79, 0.001)
    """
    hits, sizes = counts.hits, counts.sizes
    correlation = intraclass_correlation(counts)
    if (sizes == 1).all() or counts.share in (0.0, 1.0) or len(sizes) < 2:
        return correlation, 1.0
    rng = generator(seed, "intraclass")
    dealt = rng.multivariate_hypergeometric(sizes, int(hits.sum()), size=_PERMUTATIONS)
    as_spread = (dealt**2 / sizes).sum(axis=1) >= (hits**2 / sizes).sum() * (1 - 1e-12)
    return correlation, (int(as_spread.sum()) + 1) / (_PERMUTATIONS + 1)


_NONE = 1.5


def autocorrelation_time(values: ArrayLike) -> float:
    """How many rows of a series say as much as one independent row: 1 for independent rows.

    Args:
        values: One number per row, in the order of time, at least 3.

    ``1 + 2 Σ ρ_k`` up to the first lag whose autocorrelation is within chance, ``2 / √n``. Below
    1.5 it is taken as 1.

    >>> autocorrelation_time([0.3, 0.1, 0.9, 0.2, 0.5, 0.4])
    1.0
    """
    series = check_sample(values, "values", min_rows=3)
    n = len(series)
    centred = series - series.mean()
    spread = float(centred @ centred)
    if spread == 0:
        return 1.0
    spectrum = np.abs(np.fft.rfft(centred, 2 * n)) ** 2
    correlation = np.fft.irfft(spectrum)[: n // 2] / spread
    within_chance = np.flatnonzero(correlation < 2 / math.sqrt(n))
    stop = int(within_chance[0]) if len(within_chance) else len(correlation)
    time = 1.0 + 2.0 * float(correlation[1:stop].sum())
    return time if time >= _NONE else 1.0
