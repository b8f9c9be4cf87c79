"""Rows with another row very near, among so many that not all distances can be computed."""

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray, IntArray

_AT_ONCE, _MORE_LINES = 20_000, 2


def near_rows(
    rows: FloatArray,
    chosen: IntArray,
    limit: float,
    rng: np.random.Generator,
    groups: ArrayLike | None = None,
) -> int:
    """How many of the chosen rows have another row (of another group) within ``limit``.

    Exact: rows that are near each other are near on any line, too, so that only rows within a
    window on some random lines have to be looked at.

    Parameters
    ----------
    rows
        All rows, ``(n, d)``.
    chosen
        Positions of those to count.
    limit
        The distance.
    rng
        Of the lines.
    groups
        For each row the group it belongs to; rows of one group are not compared.

    >>> X = np.array([[0.0, 0.0], [5.0, 1.0], [0.0, 0.1], [9.0, 9.0]])
    >>> near_rows(X, np.arange(4), 0.2, np.random.default_rng(0))
    2
    """
    lines = rng.standard_normal((2, rows.shape[1]))
    more = np.random.default_rng(len(rows)).standard_normal((_MORE_LINES, rows.shape[1]))
    along, *across = (rows @ (line / np.linalg.norm(line)) for line in (*lines, *more))
    order = np.argsort(along, kind="stable")
    sorted_along, sorted_across = along[order], across[0][order]
    member = np.arange(len(rows)) if groups is None else np.asarray(groups)
    slack = limit + 1e-9 * (1.0 + np.abs(rows[chosen]).sum(axis=1))
    first = np.searchsorted(sorted_along, along[chosen] - slack, "left")
    last = np.searchsorted(sorted_along, along[chosen] + slack, "right")
    found = 0
    for row, begin, end, wide in zip(chosen, first, last, slack, strict=True):
        for at in range(begin, end, _AT_ONCE):  # rows that repeat often are found at once
            some = slice(at, min(end, at + _AT_ONCE))
            near = order[some][np.abs(sorted_across[some] - across[0][row]) <= wide]
            for line in across[1:]:
                near = near[np.abs(line[near] - line[row]) <= wide]
            gaps = rows[near[member[near] != member[row]]] - rows[row]
            if (np.einsum("ij,ij->i", gaps, gaps) <= limit * limit).any():
                found += 1
                break
    return found
