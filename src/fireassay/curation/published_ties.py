"""The order of the paper's program: its scores bit by bit, ties as NumPy before 1.25 left them."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import IntArray
from fireassay.core.lazy import special

if TYPE_CHECKING:
    from fireassay.curation.curate import Curation

_INSERTION_BELOW = 17


def published_order(result: "Curation") -> IntArray:
    """Samples from the highest score to the lowest, as the authors' environment put them."""
    score = result.lower
    if result.settings.order_by == "confidence":
        score = result.confidence
        if result.settings.labeler == "majority":
            # Their softmax splits some ties that are equal on paper.
            votes, k = result.patterns.votes[:, result.kept_lfs], result.patterns.n_classes
            counts = np.stack([(votes == c).sum(axis=1) for c in range(k)], axis=1).astype(float)
            logs = counts - special.logsumexp(counts, axis=1, keepdims=True)
            score = np.exp(logs).max(axis=1)[result.patterns.of_row]
    return old_numpy_order(-score)


def old_numpy_order(values: ArrayLike) -> IntArray:
    """Indices that sort ``values``; equal values as the introsort before NumPy 1.25 left them."""
    # Median of three as pivot, put into the last place but one; both pointers stop at equal values,
    # which halves tied parts: the fall-back to heapsort does not occur.
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
