"""Rows with another row very near, among so many that not all distances can be computed."""

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray, IntArray


def near_rows(
    rows: FloatArray,
    chosen: IntArray,
    limit: float,
    rng: np.random.Generator,
    groups: ArrayLike | None = None,
) -> int:
    """How many of the chosen rows have another row (of another group) within ``limit``.

    Exact: rows that are near each other are near on any line, too, so that along a random line
    only a window of each row has to be looked at.

    Parameters
    ----------
    rows
        All rows, ``(n, d)``.
    chosen
        Positions of those to count.
    limit
        The distance.
    rng
        Of the line.
    groups
        For each row the group it belongs to; rows of one group are not compared.

    >>> X = np.array([[0.0, 0.0], [5.0, 1.0], [0.0, 0.1], [9.0, 9.0]])
    >>> near_rows(X, np.arange(4), 0.2, np.random.default_rng(0))
    2
    """
    line = rng.standard_normal(rows.shape[1])
    along = rows @ (line / np.linalg.norm(line))
    order = np.argsort(along, kind="stable")
    sorted_rows, sorted_along = rows[order], along[order]
    member = order if groups is None else np.asarray(groups)[order]
    own = chosen if groups is None else np.asarray(groups)[chosen]
    slack = 1e-9 * (1.0 + np.abs(along[chosen]))
    first = np.searchsorted(sorted_along, along[chosen] - limit - slack, "left")
    last = np.searchsorted(sorted_along, along[chosen] + limit + slack, "right")
    found = 0
    for row, begin, end, mine in zip(chosen, first, last, own, strict=True):
        others = member[begin:end] != mine
        gaps = sorted_rows[begin:end][others] - rows[row]
        found += bool((np.einsum("ij,ij->i", gaps, gaps) <= limit * limit).any())
    return found
