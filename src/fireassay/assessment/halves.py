"""Choose on some of the rows, report on the others; no group is on both sides."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core import generator


def random_half(n: int, groups: NDArray[Any] | None, seed: int, purpose: str) -> NDArray[np.bool_]:
    """True for a random half of the rows; rows of one group are on the same side."""
    rows, first = whole_groups(generator(seed, purpose).permutation(n), groups, n // 2)
    chosen = np.zeros(n, dtype=bool)
    chosen[rows[:first]] = True
    return chosen


def whole_groups(
    order: NDArray[np.int64], groups: NDArray[Any] | None, first: int
) -> tuple[NDArray[np.int64], int]:
    """Rows in an order that keeps groups together, and about ``first`` of them as a first part.

    The first part ends where a group ends, at the nearest such place; it has one group at least.

    >>> whole_groups(np.array([0, 1, 2, 3]), np.array([7, 8, 7, 8]), 2)
    (array([0, 2, 1, 3]), 2)
    """
    if groups is None or not len(order) or not first:
        return order, first
    _, at, member = np.unique(groups[order], return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(at))[member.ravel()]
    ends = np.cumsum(np.bincount(place))
    ends = ends[:-1] if len(ends) > 1 else ends
    return order[np.argsort(place, kind="stable")], int(ends[np.abs(ends - first).argmin()])
