"""How far apart the classes are: the r of r-separation, by a k-d tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy_modules import spatial
from fireassay.core.validation import check_choice, check_features, check_labels

_NORMS = {"linf": np.inf, "l2": 2.0, "l1": 1.0}
_MOST_ROWS, _MOST_NUMBERS = 1000, 2**25


@dataclass(frozen=True)
class Separation:
    """Half the smallest distance between two rows of different classes.

    Attributes
    ----------
    r
        Half the smallest distance; zero if two equal rows have different labels.
    pair
        Row numbers of the closest pair.
    half_distances
        For every row, half the distance to the nearest row of another class, increasing.
    n_contradictions
        Rows that have an equal row of another class (distance zero).
    norm
        ``"linf"``, ``"l2"`` or ``"l1"``.
    """

    r: float
    pair: tuple[int, int]
    half_distances: FloatArray
    n_contradictions: int
    norm: str

    def __float__(self) -> float:
        return self.r

    def above(self, epsilon: float) -> float:
        """The smallest half-distance above ``epsilon`` (what the paper's table prints as r)."""
        larger = self.half_distances[self.half_distances > epsilon]
        return float(larger[0]) if len(larger) else float("inf")


def r_separation(X: ArrayLike, y: ArrayLike, *, norm: str = "linf") -> Separation:
    """Half the smallest distance between rows of different classes (the paper's r, Remark 2).

    Parameters
    ----------
    X
        Rows; images are flattened.
    y
        Labels, at least two classes.
    norm
        ``"linf"`` (the paper's), ``"l2"`` or ``"l1"``.

    Raises
    ------
    DataError
        If only one class is present.

    Notes
    -----
    In high dimensions, where a k-d tree has no branches to prune, blocks of distances are
    computed instead. The estimate can only shrink as rows are added: treat it as an upper limit.

    >>> float(r_separation([[0.0], [0.4], [1.0]], [0, 0, 1]))
    0.3
    """
    p = _NORMS[check_choice(norm, "norm", tuple(_NORMS))]
    rows = check_features(X)
    rows = rows.reshape(len(rows), -1)
    labels = check_labels(y, n=len(rows))
    classes = np.unique(labels)
    if len(classes) < 2:
        raise DataError(
            "r-separation needs rows of at least two classes.", got=f"only {classes.tolist()}"
        )
    nearest = np.full(len(rows), np.inf)
    partner = np.full(len(rows), -1, dtype=np.int64)
    search = _by_tree if rows.shape[1] <= 15 else _by_blocks
    for label in classes:
        own, others = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
        distance, position = search(rows[own], rows[others], p)
        nearest[own], partner[own] = distance, others[position]
    half = np.sort(nearest) / 2
    first = int(nearest.argmin())
    pair = (min(first, int(partner[first])), max(first, int(partner[first])))
    return Separation(float(half[0]), pair, half, int((nearest == 0).sum()), norm)


def rows_for_separation(columns: int) -> int:
    """Rows that are compared with each other; of large images few, since all are held as floats.

    >>> rows_for_separation(3072), rows_for_separation(224 * 224 * 3)
    (1000, 222)
    """
    return min(_MOST_ROWS, max(2, _MOST_NUMBERS // columns))


def _by_tree(own: AnyArray, others: AnyArray, p: float) -> tuple[FloatArray, IntArray]:
    distance, position = spatial.cKDTree(others).query(own, k=1, p=p)
    return np.asarray(distance, dtype=np.float64), np.asarray(position, dtype=np.int64)


def _by_blocks(own: AnyArray, others: AnyArray, p: float) -> tuple[FloatArray, IntArray]:
    distance = np.empty(len(own))
    position = np.empty(len(own), dtype=np.int64)
    if p == 2.0:
        norms = (others.astype(np.float64) ** 2).sum(axis=1)
        for start in range(0, len(own), 1024):
            block = own[start : start + 1024].astype(np.float64)
            squared = norms - 2 * block @ others.T.astype(np.float64)
            best = squared.argmin(axis=1)
            position[start : start + 1024] = best
            # Differences, not the expanded square: equal rows must be exactly zero apart.
            distance[start : start + 1024] = np.linalg.norm(block - others[best], axis=1)
        return distance, position
    metric: Literal["cityblock", "chebyshev"] = "cityblock" if p == 1.0 else "chebyshev"
    rows = max(1, int(2e7 // len(others)))
    for start in range(0, len(own), rows):
        lengths = spatial.distance.cdist(own[start : start + rows], others, metric)
        best = lengths.argmin(axis=1)
        position[start : start + rows] = best
        distance[start : start + rows] = lengths[np.arange(len(best)), best]
    return distance, position
