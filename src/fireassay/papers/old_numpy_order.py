"""The order that ``numpy.argsort`` gave before version 1.25, ties included, on any machine."""

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import IntArray

_INSERTION_BELOW = 17


def old_numpy_order(values: ArrayLike) -> IntArray:
    """Indices that sort ``values``; equal values come as the old introsort left them.

    Published tables depend on that order wherever many scores are equal. Later versions of NumPy
    sort with vector instructions and leave ties in another order.

    Parameters
    ----------
    values
        Finite numbers in one dimension.

    Returns
    -------
    IntArray
        A permutation of ``0 … n - 1``.

    Notes
    -----
    Quicksort with the median of the first, middle and last element as pivot, put into the last
    place but one; two pointers that both stop at equal values; insertion sort for parts of fewer
    than 17 elements. The fall-back to heapsort at great depth does not occur: pointers that stop
    at equal values cut tied parts in halves.

    >>> old_numpy_order([2.0, 1.0, 3.0]).tolist()
    [1, 0, 2]
    """
    key = np.asarray(values, dtype=np.float64).tolist()
    order = list(range(len(key)))
    parts = [(0, len(key) - 1)]
    while parts:
        first, last = parts.pop()
        while last - first + 1 >= _INSERTION_BELOW:
            split = _partition(key, order, first, last)
            parts.append((split + 1, last))
            last = split - 1
        _insertion_sort(key, order, first, last)
    return np.array(order, dtype=np.int64)


def _partition(key: list[float], order: list[int], first: int, last: int) -> int:
    """Put smaller keys before the pivot and larger ones behind it; where the pivot stands."""
    middle = first + (last - first) // 2
    for low, high in ((first, middle), (middle, last), (first, middle)):
        if key[order[high]] < key[order[low]]:
            order[low], order[high] = order[high], order[low]
    pivot = key[order[middle]]
    order[middle], order[last - 1] = order[last - 1], order[middle]
    up, down = first + 1, last - 2
    while True:
        while key[order[up]] < pivot:
            up += 1
        while pivot < key[order[down]]:
            down -= 1
        if up >= down:
            break
        order[up], order[down] = order[down], order[up]
        up, down = up + 1, down - 1
    order[up], order[last - 1] = order[last - 1], order[up]
    return up


def _insertion_sort(key: list[float], order: list[int], first: int, last: int) -> None:
    for place in range(first + 1, last + 1):
        row = order[place]
        while place > first and key[row] < key[order[place - 1]]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = row
