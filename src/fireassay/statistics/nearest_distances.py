"""Distances of some rows to the nearest others, among few rows or a million."""

import math
from typing import Any

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.lazy_modules import distance

_MANY_PAIRS, _MANY_NUMBERS = 2 * 10**7, 2**28
_AT_ONCE, _FLOATS_AT_ONCE = 200, 2**24
_FLOATS_AT_A_TIME, _HEAP = 2**21, 16
_FLOAT32_NUMBERS, _FLOAT32_SHARE = 2**25, 1e-3


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
    table, rounding = _with_lengths(rows)
    found = np.empty((len(chosen), count))
    step = max(1, _FLOATS_AT_A_TIME * (8 // table.itemsize) // len(rows))
    memory = np.empty((min(step, len(chosen)), len(rows)), dtype=table.dtype)
    for start in range(0, len(chosen), step):
        some = chosen[start : start + step]
        factors = -2.0 * table[some]
        factors[:, -1] = 1.0
        # Less the row's own length, which is the same for all.
        apart = np.matmul(factors, table.T, out=memory[: len(some)])
        apart[np.arange(len(some)), some] = np.inf
        limits = _reached_by(apart, count) + rounding
        for i, row in enumerate(some):
            near = np.flatnonzero(apart[i] <= limits[i])
            exact = np.linalg.norm(rows[near] - rows[row], axis=1)
            found[start + i] = np.sort(exact)[:count]
    return found


def _with_lengths(rows: FloatArray) -> tuple[AnyArray, float]:
    """The rows with their squared lengths as a last column, and how far products may be off.

    In float32 where that is far less than rows are apart: twice as fast, and as exact in the end.
    """
    n, d = rows.shape
    lengths = np.einsum("ij,ij->i", rows, rows)
    # Of d + 1 products, their sum, and the rounded rows; on either side of a comparison.
    share = 3.0 * (d + 3) * float(lengths.max())
    kind: type[np.floating[Any]] = np.float64
    fine = share * float(np.finfo(np.float32).eps) <= _FLOAT32_SHARE * float(lengths.mean())
    if fine and rows.size <= _FLOAT32_NUMBERS:
        kind = np.float32
    table = np.empty((n, d + 1), dtype=kind)
    table[:, :-1], table[:, -1] = rows, lengths
    return table, share * float(np.finfo(kind).eps)


def _reached_by(apart: AnyArray, count: int) -> AnyArray:
    """A limit for each row that at least ``count`` of its distances keep, and few more.

    Of the least distances in as many heaps, the one that ``count`` of them reach.
    """
    heaps = apart.shape[1] // _HEAP
    if heaps < 4 * count:
        return np.asarray(np.partition(apart, count - 1, axis=1)[:, count - 1])
    least = apart[:, : heaps * _HEAP].reshape(len(apart), _HEAP, heaps).min(axis=1)
    return np.asarray(np.partition(least, count - 1, axis=1)[:, count - 1])
