"""LOESS: a robust local-linear curve that stays fast on a million points."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.errors import DataError
from fireassay.core.validation import check_finite, check_integer, check_lengths, check_real

Vector = NDArray[np.float64]
_MOST_EXACT = 3000
_QUANTILE_ANCHORS = 800
_EVEN_ANCHORS = 400
_MOST_BINS = 1 << 13
_BLOCK_ANCHORS = 64
_SMALLEST_SPREAD = 1e-12


@dataclass(frozen=True)
class Loess:
    """A fitted curve: values at anchors, linear in between, constant beyond the ends."""

    anchors: Vector
    values: Vector
    span: float
    iterations: int
    n: int

    def predict(self, x: ArrayLike) -> Vector:
        """The curve at new points."""
        return np.asarray(np.interp(np.asarray(x, dtype=np.float64), self.anchors, self.values))

    def __call__(self, x: ArrayLike) -> Vector:
        """The curve at new points."""
        return self.predict(x)


def loess(x: ArrayLike, y: ArrayLike, span: float = 0.1, iterations: int = 3) -> Loess:
    """Fit y on x by local lines with tricube weights and robustness iterations.

    Args:
        x, y: Finite values, at least three of them.
        span: Share of the points that each local line sees, in (0, 1].
        iterations: How often outliers (bisquare, six median residuals) are weighted down, >= 0.

    Cleveland 1979. Up to 3,000 different x the curve is fitted at each of them; beyond, at 1,200
    anchors (quantiles, so that they are dense where points pile up, and even steps). More than
    8,192 points are counted in bins of neighbours, whose moments take the place of their points.
    Both agree with the exact curve to about 1e-3. Windows without width have the local mean.

    >>> curve = loess([0, 1, 2, 3, 4], [0, 2, 4, 6, 8], span=1.0)
    >>> float(curve.predict(2.5).round(6))
    5.0
    """
    span = check_real(span, "span", low=0.0, high=1.0, inclusive="high")
    iterations = check_integer(iterations, "iterations")
    x, y = np.asarray(x, dtype=np.float64).ravel(), np.asarray(y, dtype=np.float64).ravel()
    check_lengths(x=len(x), y=len(y))
    if len(x) < 3:
        raise DataError("loess needs at least 3 points.", got=f"{len(x)}")
    check_finite(x, name="x")
    check_finite(y, name="y")
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    anchors = _anchors(x)
    count = min(len(x), max(2, int(span * len(x) + 1e-10)))
    windows = _Windows.of(x, anchors, count)
    robustness = np.ones(len(x))
    values = windows.fit(x, y, robustness)
    for _ in range(iterations):
        residuals = y - np.interp(x, anchors, values)
        scale = 6.0 * float(np.median(np.abs(residuals)))
        if scale <= 0:
            break
        robustness = np.square(np.maximum(1.0 - np.square(residuals / scale), 0.0))
        values = windows.fit(x, y, robustness)
    return Loess(anchors, values, span, iterations, len(x))


def _anchors(x: Vector) -> Vector:
    """Where the curve is fitted: every different x, or quantiles and even steps."""
    different = np.unique(x)
    if len(different) <= _MOST_EXACT:
        return different
    quantiles = x[np.linspace(0, len(x) - 1, _QUANTILE_ANCHORS).astype(np.int64)]
    return np.unique(np.concatenate([quantiles, np.linspace(x[0], x[-1], _EVEN_ANCHORS)]))


def _first_points(x: Vector, anchors: Vector, count: int) -> NDArray[np.int64]:
    """The first index of the ``count`` points nearest to each anchor, by bisection."""
    low = np.zeros(len(anchors), dtype=np.int64)
    high = np.full(len(anchors), len(x) - count, dtype=np.int64)
    while (low < high).any():
        middle = (low + high) // 2
        after = x[np.minimum(middle + count, len(x) - 1)]
        move_right = (low < high) & (anchors - x[middle] > after - anchors)
        low = np.where(move_right, middle + 1, low)
        high = np.where(move_right, high, np.maximum(middle, low))
    return low


@dataclass(frozen=True)
class _Windows:
    """The points that each anchor sees, in bins of neighbours (of one point each, if few)."""

    anchors: Vector
    reach: Vector
    first_bin: NDArray[np.int64]
    n_bins: int
    edges: NDArray[np.int64]
    centres: Vector

    @classmethod
    def of(cls, x: Vector, anchors: Vector, count: int) -> "_Windows":
        starts = _first_points(x, anchors, count)
        reach = np.maximum(anchors - x[starts], x[starts + count - 1] - anchors)
        size = -(-len(x) // _MOST_BINS)
        edges = np.arange(0, len(x), size)
        sizes = np.diff(np.append(edges, len(x)))
        centres = x if size == 1 else np.add.reduceat(x, edges) / sizes
        return cls(anchors, reach, starts // size, count // size + 2, edges, centres)

    def fit(self, x: Vector, y: Vector, robustness: Vector) -> Vector:
        """The local line of every anchor, at the anchor."""
        moments = self._moments(x, y, robustness)
        values = np.empty(len(self.anchors))
        for begin in range(0, len(values), _BLOCK_ANCHORS):
            block = slice(begin, begin + _BLOCK_ANCHORS)
            values[block] = self._fit_block(block, moments)
        for i in np.flatnonzero(np.isnan(values)):
            values[i] = self._fit_alone(int(i), x, y, robustness)
        return values

    def _moments(self, x: Vector, y: Vector, weights: Vector) -> tuple[Vector, ...]:
        """Sums over each bin of the weights, times the offset from its centre, times y."""
        if len(self.edges) == len(x):
            none = np.zeros(len(x))
            return weights, none, none, weights * y, none
        offset = x - np.repeat(self.centres, np.diff(np.append(self.edges, len(x))))
        first, level = weights * offset, weights * y
        columns = (weights, first, first * offset, level, level * offset)
        return tuple(np.add.reduceat(column, self.edges) for column in columns)

    def _fit_block(self, block: slice, moments: tuple[Vector, ...]) -> Vector:
        bins = self.first_bin[block, None] + np.arange(self.n_bins)
        inside = bins < len(self.centres)
        bins = np.minimum(bins, len(self.centres) - 1)
        offsets = self.centres[bins] - self.anchors[block, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.abs(offsets) / self.reach[block, None]
        tricube = np.where(inside, np.maximum(1.0 - ratio * ratio * ratio, 0.0), 0.0)
        tricube *= tricube * tricube
        m0, m1, m2, t0, t1 = (tricube * moment[bins] for moment in moments)
        total = m0.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean_x = (m0 * offsets + m1).sum(axis=1) / total
            mean_y = t0.sum(axis=1) / total
            centred = offsets - mean_x[:, None]
            spread = (m0 * centred * centred + 2.0 * m1 * centred + m2).sum(axis=1) / total
            # The floor turns the line into a mean where the points hardly differ in x.
            covariance = (t0 * centred + t1).sum(axis=1) / total
            slope = covariance / np.maximum(spread, _SMALLEST_SPREAD)
            return np.asarray(mean_y - slope * mean_x)

    def _fit_alone(self, i: int, x: Vector, y: Vector, robustness: Vector) -> float:
        """Where a window has no width or no weight: the mean of the ties, or the median."""
        ends = self.anchors[i] - self.reach[i], self.anchors[i] + self.reach[i]
        window = slice(*np.searchsorted(x, [ends[0], np.nextafter(ends[1], np.inf)]))
        total = float(robustness[window].sum()) if self.reach[i] == 0 else 0.0
        if total <= 0:
            return float(np.median(y[window]))
        return float(robustness[window] @ y[window]) / total
