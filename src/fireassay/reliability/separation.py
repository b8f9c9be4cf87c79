"""How far apart the classes are: the r of r-separation, by a k-d tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import spatial
from fireassay.core.validation import check_choice, check_features, check_labels

_NORMS = {"linf": np.inf, "l2": 2.0, "l1": 1.0}
_FEW_COLUMNS, _MOST_ROWS, _MOST_NUMBERS = 15, 1000, 2**25


@dataclass(frozen=True)
class Separation:
    """Half the smallest distance between two rows of different classes.

    Attributes:
        r: Half the smallest distance; zero if two equal rows have different labels.
        pair: Row numbers of the closest pair.
        half_distances: For every row, half the distance to the nearest row of another class,
            increasing.
        n_contradictions: Rows that have an equal row of another class (distance zero).
        norm: ``"linf"``, ``"l2"`` or ``"l1"``.
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

    Args:
        X: Rows; images are flattened.
        y: Labels, at least two classes.
        norm: ``"linf"`` (the paper's), ``"l2"`` or ``"l1"``.

    Raises:
        DataError: If only one class is present.

    In high dimensions, where a k-d tree has no branches to prune, blocks of distances are
    computed instead. The estimate can only shrink as rows are added: treat it as an upper limit.

    >>> float(r_separation([[0.0], [0.4], [1.0]], [0, 0, 1]))
    0.3
    """
    p = _NORMS[check_choice(norm, "norm", tuple(_NORMS))]
    rows = check_features(X)
    rows = rows.reshape(len(rows), -1)
    labels = check_labels(y, n=len(rows))
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise DataError(
            "r-separation needs rows of at least two classes.", got=f"only {classes.tolist()}"
        )
    if rows.shape[1] <= _FEW_COLUMNS or p == 2.0:
        search = _by_tree if rows.shape[1] <= _FEW_COLUMNS else _by_products
        nearest = np.empty(len(rows))
        for code in range(len(classes)):
            own = codes == code
            nearest[own] = search(rows[own], rows[~own], p)
    else:
        nearest = _by_blocks(rows, codes, "cityblock" if p == 1.0 else "chebyshev")
    half = np.sort(nearest) / 2
    first = int(nearest.argmin())
    others = np.flatnonzero(codes != codes[first])
    apart = np.linalg.norm(rows[others].astype(np.float64) - rows[first], ord=p, axis=1)
    partner = int(others[apart.argmin()])
    pair = (min(first, partner), max(first, partner))
    return Separation(float(half[0]), pair, half, int((nearest == 0).sum()), norm)


def rows_for_separation(columns: int) -> int:
    """Rows that are compared with each other; of large images few, since all are floats."""
    return min(_MOST_ROWS, max(2, _MOST_NUMBERS // columns))


def _by_tree(own: AnyArray, others: AnyArray, p: float) -> FloatArray:
    return np.asarray(spatial.cKDTree(others).query(own, k=1, p=p)[0], dtype=np.float64)


def _by_products(own: AnyArray, others: AnyArray, p: float) -> FloatArray:
    """Of Euclidean distances the nearest other row by products."""
    distance = np.empty(len(own))
    norms = (others.astype(np.float64) ** 2).sum(axis=1)
    for start in range(0, len(own), 1024):
        block = own[start : start + 1024].astype(np.float64)
        best = (norms - 2 * block @ others.T.astype(np.float64)).argmin(axis=1)
        # Differences, not the expanded square: equal rows must be exactly zero apart.
        distance[start : start + 1024] = np.linalg.norm(block - others[best], ord=p, axis=1)
    return distance


def _by_blocks(
    rows: AnyArray, codes: IntArray, metric: Literal["cityblock", "chebyshev"]
) -> FloatArray:
    """All distances, a class against those after it: each pair once."""
    nearest = np.full(len(rows), np.inf)
    for code in range(int(codes.max())):
        own, others = np.flatnonzero(codes == code), np.flatnonzero(codes > code)
        step = max(1, int(2e7 // len(others)))
        for start in range(0, len(own), step):
            some = own[start : start + step]
            lengths = spatial.distance.cdist(rows[some], rows[others], metric)
            nearest[some] = np.minimum(nearest[some], lengths.min(axis=1))
            nearest[others] = np.minimum(nearest[others], lengths.min(axis=0))
    return nearest
