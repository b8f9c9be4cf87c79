"""Gaussian kernel density on grids: linear binning, then one matrix product per axis.

A Gaussian product kernel is separable, so its sum over all points, at every cell of a grid, is a
chain of small matrix products once the points are binned. Linear binning widens the kernel by a
known variance, which is taken off the bandwidth again; what remains is of fourth order in the
ratio of bin width to bandwidth.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.lazy import special

Bounds = Sequence[tuple[float, float]]
_BINS_PER_BANDWIDTH = 16.0
_TOLERANCE = 0.02  # of the logarithm of a bandwidth
_MOST_BINS = {1: 1 << 20, 2: 1536, 3: 192}


def kde_density(
    points: FloatArray,
    at: FloatArray,
    bandwidth: float,
    *,
    weights: FloatArray | None = None,
    reflect: Bounds | None = None,
) -> FloatArray:
    """Density at the rows of ``at``, summed over every point: the slow way that is always right."""
    log_weights = _log_weights(weights, len(points))
    out = np.empty(len(at))
    step = max(1, int(4e6 // max(1, len(points))))
    for start in range(0, len(at), step):
        rows = slice(start, start + step)
        out[rows] = np.exp(_log_sum(at[rows], points, bandwidth, reflect, log_weights, None))
    if reflect is not None:
        low, high = np.array(reflect, dtype=np.float64).T
        out[~((at >= low) & (at <= high)).all(axis=1)] = 0.0
    return out


def leave_one_out_log_likelihood(
    points: FloatArray,
    bandwidth: float,
    *,
    evaluate: IntArray | None = None,
    reflect: Bounds | None = None,
) -> float:
    """Mean log density of points (those of ``evaluate``) under the kernels of all others."""
    n = len(points)
    rows = np.arange(n) if evaluate is None else evaluate
    total = 0.0
    step = max(1, int(4e6 // n))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        equal = np.full(n, -np.log(n - 1))
        total += float(_log_sum(points[block], points, bandwidth, reflect, equal, block).sum())
    return total / len(rows)


def leave_one_out_bandwidth(
    points: FloatArray,
    *,
    reflect: Bounds | None = None,
    max_rows: int = 1000,
    rng: np.random.Generator | None = None,
) -> float:
    """The bandwidth with the highest leave-one-out likelihood, of ``max_rows`` rows at most."""
    distinct = np.unique(points, axis=0)
    if len(distinct) < 3:
        raise DataError(
            "A leave-one-out bandwidth needs at least 3 distinct rows.",
            got=f"{len(distinct)}",
            do="Pass a number as 'bandwidth'.",
        )
    rng = np.random.default_rng(0) if rng is None else rng
    if len(points) > 20 * max_rows:
        points = points[np.sort(rng.choice(len(points), 20 * max_rows, replace=False))]
    n, d = points.shape
    evaluate = None
    if n > max_rows:
        evaluate = np.sort(rng.choice(n, max_rows, replace=False)).astype(np.int64)
    spread = float(np.sqrt(points.var(axis=0).mean()))
    scott = spread * n ** (-1 / (d + 4))

    def loss(log_h: float) -> float:
        return -leave_one_out_log_likelihood(
            points, float(np.exp(log_h)), evaluate=evaluate, reflect=reflect
        )

    # Duplicated rows make ever smaller bandwidths look ever better: hence the lower limit.
    return float(np.exp(_golden(loss, np.log(scott / 30), np.log(scott * 4))))


def product_cell_mass(
    points: FloatArray, low: FloatArray, high: FloatArray, bandwidth: float
) -> FloatArray:
    """The probability of arbitrary boxes under a Gaussian KDE, in any dimension."""
    share = np.full(len(points), 1 / len(points))
    mass = np.empty(len(low))
    marginals = []
    for axis in range(points.shape[1]):
        # Cells of one grid share their limits: each interval is integrated once.
        limits = np.column_stack([low[:, axis], high[:, axis]])
        intervals, which = np.unique(limits, axis=0, return_inverse=True)
        cdf = special.ndtr((intervals[:, :, None] - points[:, axis]) / bandwidth)
        marginals.append((cdf[:, 1] - cdf[:, 0], which.ravel()))
    step = max(1, int(2e6 // len(points)))
    for start in range(0, len(low), step):
        rows = slice(start, start + step)
        table, which = marginals[0]
        product = table[which[rows]]
        for table, which in marginals[1:]:
            product *= table[which[rows]]
        mass[rows] = product @ share
    return mass


class BinnedKde:
    """A Gaussian KDE in one to three dimensions, binned once, evaluated on any grid."""

    def __init__(
        self,
        points: FloatArray,
        bandwidth: float,
        *,
        weights: FloatArray | None = None,
        reflect: Bounds | None = None,
    ) -> None:
        n, d = points.shape
        if d not in _MOST_BINS:
            raise ParameterError("A binned KDE takes 1 to 3 dimensions.", got=f"{d}")
        self.bandwidth = float(bandwidth)
        self.reflect = None if reflect is None else tuple(reflect)
        self._points = points
        self._weights = None if weights is None else weights / weights.sum()
        nodes, indices, shares = zip(
            *(self._axis_bins(points[:, a], _MOST_BINS[d]) for a in range(d)), strict=True
        )
        self.nodes: tuple[FloatArray, ...] = nodes
        self._indices, self._shares = indices, shares
        self.mass = self._binned_mass(n)

    def density(self, axes: Sequence[FloatArray]) -> FloatArray:
        """Density at every point of the product grid with these coordinates per axis."""
        return _along(self.mass, [self._kernel(axis, at) for axis, at in enumerate(axes)])

    def cell_mass(self, edges: Sequence[FloatArray]) -> FloatArray:
        """Probability of every cell of the product grid with these edges per axis."""
        return _along(self.mass, [self._kernel_mass(axis, at) for axis, at in enumerate(edges)])

    def point_means(self, edges: Sequence[FloatArray], values: FloatArray) -> FloatArray:
        """The mean of a function of cells under each point's own kernel; covariances are kept."""
        return self._at_points(values, [self._kernel_mass(a, at) for a, at in enumerate(edges)])

    def point_sums(self, axes: Sequence[FloatArray], values: FloatArray) -> FloatArray:
        """For each point, the sum of its kernel's density at grid points times their values."""
        return self._at_points(values, [self._kernel(a, at) for a, at in enumerate(axes)])

    def _at_points(self, values: FloatArray, matrices: list[FloatArray]) -> FloatArray:
        result = _along(values, [matrix.T for matrix in matrices])
        out = np.zeros(len(self._points))
        for share, where in self._corners(np.ones(len(out))):
            out += share * result[where]
        return out

    def _corners(self, share: FloatArray) -> Iterator[tuple[FloatArray, tuple[IntArray, ...]]]:
        """For each corner of the points' cells their shares there, and the corner's nodes."""
        for corner in np.ndindex(*(2,) * len(self.nodes)):
            own, where = share, []
            for axis, side in enumerate(corner):
                upper = self._shares[axis]
                own = own * (upper if side else 1 - upper)
                where.append(self._indices[axis] + side)
            yield own, tuple(where)

    def _axis_bins(self, x: FloatArray, most: int) -> tuple[FloatArray, IntArray, FloatArray]:
        low, high = float(x.min()), float(x.max())
        wanted = int(np.ceil((high - low) * _BINS_PER_BANDWIDTH / self.bandwidth)) + 1
        count = int(np.clip(wanted, 2, most))
        width = (high - low) / (count - 1) or self.bandwidth / _BINS_PER_BANDWIDTH
        position = (x - low) / width
        index = np.clip(position.astype(np.int64), 0, count - 2)
        nodes: FloatArray = low + width * np.arange(count, dtype=np.float64)
        return nodes, index, position - index

    def _binned_mass(self, n: int) -> FloatArray:
        shape = tuple(len(nodes) for nodes in self.nodes)
        mass = np.zeros(int(np.prod(shape)))
        base = self._weights if self._weights is not None else np.full(n, 1.0 / n)
        for share, where in self._corners(base):
            flat = np.ravel_multi_index(where, shape)
            mass += np.bincount(flat, weights=share, minlength=len(mass))
        return mass.reshape(shape)

    def _axis_bandwidth(self, axis: int) -> float:
        # Binning spreads each point over two nodes, which adds a variance of width²/6 on average.
        width = self.nodes[axis][1] - self.nodes[axis][0]
        return float(np.sqrt(max(self.bandwidth**2 - width**2 / 6, self.bandwidth**2 / 4)))

    def _images(self, axis: int) -> list[FloatArray]:
        nodes = self.nodes[axis]
        if self.reflect is None:
            return [nodes]
        low, high = self.reflect[axis]
        return [nodes, 2 * low - nodes, 2 * high - nodes]

    def _kernel(self, axis: int, coordinates: FloatArray) -> FloatArray:
        h = self._axis_bandwidth(axis)
        kernel = np.zeros((len(coordinates), len(self.nodes[axis])))
        for image in self._images(axis):
            kernel += np.exp(-0.5 * ((coordinates[:, None] - image) / h) ** 2)
        kernel /= h * np.sqrt(2 * np.pi)
        if self.reflect is not None:
            low, high = self.reflect[axis]
            kernel[(coordinates < low) | (coordinates > high)] = 0.0
        return kernel

    def _kernel_mass(self, axis: int, edges: FloatArray) -> FloatArray:
        h = self._axis_bandwidth(axis)
        if self.reflect is not None:
            edges = np.clip(edges, *self.reflect[axis])
        total = np.zeros((len(edges), len(self.nodes[axis])))
        for image in self._images(axis):
            total += special.ndtr((edges[:, None] - image) / h)
        return np.diff(total, axis=0)


def _along(array: FloatArray, matrices: list[FloatArray]) -> FloatArray:
    """Multiply each axis of an array by its matrix."""
    for axis, matrix in enumerate(matrices):
        array = np.moveaxis(np.tensordot(matrix, array, axes=(1, axis)), 0, axis)
    return array


def _log_sum(
    at: FloatArray,
    points: FloatArray,
    bandwidth: float,
    reflect: Bounds | None,
    log_weights: FloatArray,
    own: IntArray | None,
) -> FloatArray:
    """Log of the weighted sum of kernels at each row; ``own`` is each row's own point, left out."""
    kernel = _kernel(at, points, bandwidth, reflect)
    if own is not None:
        kernel[np.arange(len(at)), own] = 0.0
    with np.errstate(divide="ignore"):
        sums: FloatArray = np.log(kernel @ np.exp(log_weights))
    # Far from all points the kernels underflow; there the sum is taken on the log scale.
    far = np.flatnonzero(~np.isfinite(sums))
    if len(far):
        logs = _log_kernel(at[far], points, bandwidth, reflect)
        if own is not None:
            logs[np.arange(len(far)), own[far]] = -np.inf
        sums[far] = special.logsumexp(logs + log_weights, axis=1)
    sums -= at.shape[1] * np.log(bandwidth * np.sqrt(2 * np.pi))
    return sums


def _kernel(
    at: FloatArray, points: FloatArray, bandwidth: float, reflect: Bounds | None
) -> FloatArray:
    """The kernel of every point (columns) at every row, without its constant."""
    if reflect is None:
        return np.asarray(np.exp(_log_kernel(at, points, bandwidth, None)))
    total = np.ones((len(at), len(points)))
    for axis, (low, high) in enumerate(reflect):
        x, p = at[:, axis, None] / bandwidth, points[:, axis] / bandwidth
        one = np.exp(-0.5 * (x - p) ** 2)
        # Images of points more than eight bandwidths from a border add nothing inside it.
        for border, gap in ((low, p - low / bandwidth), (high, high / bandwidth - p)):
            near = np.flatnonzero(gap < 8)
            one[:, near] += np.exp(-0.5 * (x - 2 * border / bandwidth + p[near]) ** 2)
        total *= one
    return total


def _log_kernel(
    at: FloatArray, points: FloatArray, bandwidth: float, reflect: Bounds | None
) -> FloatArray:
    """Log of the kernel of every point (columns) at every row, without its constant."""
    if reflect is None:
        a, b = at / bandwidth, points / bandwidth
        squared = (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T
        return np.asarray(-0.5 * np.maximum(squared, 0.0))
    total = np.zeros((len(at), len(points)))
    for axis, (low, high) in enumerate(reflect):
        x, p = at[:, axis, None] / bandwidth, points[:, axis] / bandwidth
        images = (p, 2 * low / bandwidth - p, 2 * high / bandwidth - p)
        logs = [-0.5 * (x - image) ** 2 for image in images]
        total += np.logaddexp(np.logaddexp(logs[0], logs[1]), logs[2])
    return total


def _log_weights(weights: FloatArray | None, n: int) -> FloatArray:
    if weights is None:
        return np.full(n, -np.log(n))
    with np.errstate(divide="ignore"):
        logs: FloatArray = np.log(weights / weights.sum())
    return logs


def _golden(loss: Callable[[float], float], low: float, high: float) -> float:
    ratio = (np.sqrt(5) - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    loss_a, loss_b = loss(a), loss(b)
    while high - low > _TOLERANCE:
        if loss_a <= loss_b:
            high, b, loss_b = b, a, loss_a
            a = high - ratio * (high - low)
            loss_a = loss(a)
        else:
            low, a, loss_a = a, b, loss_b
            b = low + ratio * (high - low)
            loss_b = loss(b)
    return float((low + high) / 2)
