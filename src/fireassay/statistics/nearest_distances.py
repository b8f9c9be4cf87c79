"""Distances of some rows to the nearest others, among few rows or a million."""

import math

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.lazy_modules import distance

_MANY_PAIRS, _MANY_NUMBERS = 2 * 10**7, 2**28
_AT_ONCE, _FLOATS_AT_ONCE = 200, 2**24


def nearest_distances(rows: FloatArray, chosen: IntArray, count: int) -> FloatArray:
    """The distances of each chosen row to its nearest other rows, the nearest first.

    Parameters
    ----------
    rows
        All rows, ``(n, d)``.
    chosen
        Positions of those to look at.
    count
        How many neighbours of each, fewer than there are rows.

    Returns
    -------
    Distances, ``(len(chosen), count)``.

    >>> X = np.array([[0.0], [1.0], [3.0], [3.0]])
    >>> nearest_distances(X, np.array([0, 2]), 2).tolist()
    [[1.0, 3.0], [0.0, 2.0]]
    """
    pairs = len(chosen) * len(rows)
    if pairs > _MANY_PAIRS or pairs * rows.shape[1] > _MANY_NUMBERS:
        return _of_candidates(rows, chosen, count)
    found = []
    step = max(1, min(_AT_ONCE, _FLOATS_AT_ONCE // len(rows)))
    for some in np.array_split(chosen, math.ceil(len(chosen) / step)):
        apart = distance.cdist(rows[some], rows)
        apart[np.arange(len(some)), some] = np.inf
        found.append(np.sort(np.partition(apart, count - 1, axis=1)[:, :count], axis=1))
    return np.concatenate(found)


def _of_candidates(rows: FloatArray, chosen: IntArray, count: int) -> FloatArray:
    """As above: products find the neighbours fast, differences measure them without rounding."""
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=count + 1, algorithm="brute").fit(rows)
    near = index.kneighbors(rows[chosen], return_distance=False)
    apart = np.empty(near.shape)
    for i, row in enumerate(chosen):
        apart[i] = np.linalg.norm(rows[near[i]] - rows[row], axis=1)
    apart[near == chosen[:, None]] = np.inf
    return np.sort(apart, axis=1)[:, :count]
