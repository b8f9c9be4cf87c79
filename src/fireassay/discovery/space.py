"""The space in which searches measure distance: a few principal components of the inputs."""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import Float32Array, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.validation import check_features

_COMPONENTS = 5
_BLOCK = 2048
_FAR_BLOCK = 256
COVER_WIDTH = 0.001
# Up to here all distances are kept: 128 MB at 4,000 rows.
_KEEP_UP_TO = 4000


def principal_components(X: ArrayLike, n_components: int = _COMPONENTS) -> FloatArray:
    """Rows in the first principal components of their standardised features.

    Constant features take no part. Signs are fixed, so that equal data give equal components.

    Args:
        X: Rows of any shape.
        n_components: At most so many.

    >>> principal_components([[0.0, 5.0], [2.0, 5.0]]).round(6).tolist()
    [[1.0], [-1.0]]
    """
    features = check_features(X)
    flat = features.reshape(len(features), -1).astype(np.float64)
    spread = flat.std(axis=0)
    varying = spread > 0
    if not varying.any():
        return np.zeros((len(flat), 1))
    standard = (flat[:, varying] - flat[:, varying].mean(axis=0)) / spread[varying]
    n, d = standard.shape
    count = min(n_components, n, d)
    if d <= n:
        _, vectors = np.linalg.eigh(standard.T @ standard)
        components = standard @ vectors[:, ::-1][:, :count]
    else:
        values, vectors = np.linalg.eigh(standard @ standard.T)
        scale = np.sqrt(np.maximum(values[::-1][:count], 0.0))
        components = vectors[:, ::-1][:, :count] * scale
    signs = np.sign(components[np.abs(components).argmax(axis=0), np.arange(count)])
    return np.asarray(components * np.where(signs == 0, 1.0, signs))


class Space:
    """Points with distances scaled so that the largest is 1, computed when they are needed."""

    def __init__(self, features: ArrayLike) -> None:
        points = np.asarray(features, dtype=np.float64)
        if points.ndim != 2 or not np.isfinite(points).all():
            raise DataError(
                "features must be a finite array of shape (n, d).", got=f"shape {points.shape}"
            )
        self.points = points
        self._squares = np.square(points).sum(axis=1)

    def __len__(self) -> int:
        return len(self.points)

    def distances(self, rows: ArrayLike) -> FloatArray:
        """Scaled distances from some rows to all points, shape (m, n)."""
        wanted = np.atleast_1d(np.asarray(rows))
        if len(self) <= _KEEP_UP_TO:
            return np.asarray(self._all[wanted])
        return np.asarray(self._raw(wanted) / self.diameter)

    @cached_property
    def _all(self) -> FloatArray:
        distances = self._raw(np.arange(len(self)))
        distances /= self.diameter
        return distances

    @cached_property
    def diameter(self) -> float:
        """The largest distance between two points (1 if all are equal)."""
        if not len(self):
            return 1.0
        # d ≤ r + r' for distances r, r' from the middle: only far rows can be the farthest pair.
        radius = np.sqrt(np.square(self.points - self.points.mean(axis=0)).sum(axis=1))
        far, largest = radius.argmax(keepdims=True), 0.0
        for _ in range(3):  # the row farthest from the row farthest from …
            distances = self._raw(far)[0]
            far, largest = distances.argmax(keepdims=True), max(largest, float(distances.max()))
        far = np.argsort(-radius, kind="stable")
        for start in range(0, len(far), _FAR_BLOCK):
            near = (1 - 1e-9) * largest - radius[far[start]]
            stop = np.searchsorted(-radius[far], -near, side="right")
            if stop <= start:
                break
            block = far[start : start + _FAR_BLOCK]
            largest = max(largest, float(self._raw(block, far[start:stop]).max()))
        return largest or 1.0

    @cached_property
    def cover(self) -> Float32Array:
        """How much each row covers each other one: exp(−d² / 0.001), shape (n, n)."""
        cover = np.empty((len(self), len(self)), dtype=np.float32)
        for start in range(0, len(self), _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, len(self)))
            cover[rows] = np.exp(-np.square(self.distances(rows)) / COVER_WIDTH)
        return cover

    def _raw(self, rows: IntArray, columns: IntArray | slice = slice(None)) -> FloatArray:
        products = self.points[rows] @ self.points[columns].T
        squares = self._squares[rows, None] + self._squares[None, columns] - 2.0 * products
        if isinstance(columns, slice):
            squares[np.arange(len(rows)), rows] = 0.0
        return np.asarray(np.sqrt(np.maximum(squares, 0.0, out=squares), out=squares))


def spread(features: ArrayLike, queried: ArrayLike) -> float:
    """Mean distance from a row to the nearest queried row, over the largest distance.

    Lower means more even. Eq. 6 of Bennette, Maurer and Sisti 2021, in [0, 1]; NaN without queries.

    Args:
        features: Shape (n, d); `principal_components` of the inputs, for example.
        queried: Positions of the queried rows.

    >>> spread([[0.0], [1.0], [4.0]], [0])
    0.4166666666666667
    """
    rows = np.asarray(queried, dtype=np.int64).ravel()
    if not len(rows):
        return float("nan")
    return float(Space(features).distances(rows).min(axis=0).mean())


def bansal_weld_utility(features: ArrayLike, confidence: ArrayLike, errors: ArrayLike) -> float:
    """How much of the pool, weighted by confidence, lies next to a found error.

    U = Σ_x c_x max over found errors of exp(−d² / 0.001), distances scaled to at most 1 (Bansal and
    Weld 2018). It rewards errors near confident predictions, also expected ones.

    Args:
        features, confidence: Of the whole pool.
        errors: Positions of the errors that were found.

    >>> bansal_weld_utility([[0.0], [1.0], [4.0]], [0.9, 0.8, 0.7], [1])
    0.8
    """
    rows = np.asarray(errors, dtype=np.int64).ravel()
    if not len(rows):
        return 0.0
    cover = np.exp(-np.square(Space(features).distances(rows)) / COVER_WIDTH).max(axis=0)
    return float(np.asarray(confidence, dtype=np.float64) @ cover)
