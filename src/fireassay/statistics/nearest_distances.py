"""Distances of some rows to the nearest others, among few rows or a million."""

import math

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.lazy_modules import distance

_MANY_PAIRS, _MANY_NUMBERS = 2 * 10**7, 2**28
_AT_ONCE, _FLOATS_AT_ONCE = 200, 2**24
_FLOATS_IN_CACHE, _HEAP, _ROUNDING = 2**20, 16, 1e-15


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
    lengths = np.einsum("ij,ij->i", rows, rows)
    rounding = _ROUNDING * rows.shape[1] * float(lengths.max())
    found = np.empty((len(chosen), count))
    step = max(1, _FLOATS_IN_CACHE // len(rows))
    for start in range(0, len(chosen), step):
        some = chosen[start : start + step]
        apart = (-2.0 * rows[some]) @ rows.T
        apart += lengths  # less the row's own length, which is the same for all
        apart[np.arange(len(some)), some] = np.inf
        limits = _reached_by(apart, count) + rounding
        for i, row in enumerate(some):
            near = np.flatnonzero(apart[i] <= limits[i])
            exact = np.linalg.norm(rows[near] - rows[row], axis=1)
            found[start + i] = np.sort(exact)[:count]
    return found


def _reached_by(apart: FloatArray, count: int) -> FloatArray:
    """A limit for each row that at least ``count`` of its distances keep, and few more.

    Of the least distances in as many heaps, the one that ``count`` of them reach.
    """
    heaps = apart.shape[1] // _HEAP
    if heaps < 4 * count:
        return np.asarray(np.partition(apart, count - 1, axis=1)[:, count - 1])
    least = apart[:, : heaps * _HEAP].reshape(len(apart), _HEAP, heaps).min(axis=1)
    return np.asarray(np.partition(least, count - 1, axis=1)[:, count - 1])
