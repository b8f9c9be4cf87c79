"""Surrogate risk of each input, and its mean over operational rows."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import optimize, special
from fireassay.reliability.cells import Grid
from fireassay.reliability.inputs import DiskInputs, Inputs

_LARGEST_K = 15


Risk = Callable[[Inputs], FloatArray]


def no_risk(inputs: Inputs) -> FloatArray:
    """The surrogate of someone who has seen no error yet."""
    return np.zeros(len(inputs))


def fit_risk(inputs: Inputs, y: IntArray) -> Risk:
    """A risk by one logistic of doubt and neighbours' labels; constant below three errors."""
    wrong = (inputs.predicted != y).astype(np.float64)
    errors = int(wrong.sum())
    if len(y) < 20 or errors < 3 or len(y) - errors < 3:
        rate = errors / (len(y) + 2) if errors >= 3 else 0.0
        return lambda other: np.full(len(other), rate)
    neighbours = _Neighbours(inputs.X, y)
    features = np.column_stack([inputs.doubt, neighbours.disagreement(inputs, leave_out=True)])
    centre, scale = features.mean(axis=0), features.std(axis=0) + 1e-9
    weights = _logistic((features - centre) / scale, wrong)

    def risk(other: Inputs) -> FloatArray:
        columns = np.column_stack([other.doubt, neighbours.disagreement(other)])
        return np.asarray(special.expit(weights[0] + ((columns - centre) / scale) @ weights[1:]))

    return risk


def user_risk(function: Callable[[Any], Any], shape: tuple[int, ...]) -> Risk:
    """A user's function of raw rows as a risk; ``shape`` is that of one raw row."""

    def risk(inputs: Inputs) -> FloatArray:
        values = np.asarray(function(inputs.X.reshape(len(inputs), *shape)), dtype=np.float64)
        if values.shape != (len(inputs),) or not np.isfinite(values).all():
            raise DataError(
                "A surrogate must return one finite risk per row.",
                got=f"shape {values.shape} for {len(inputs)} rows",
            )
        return np.clip(values, 0.0, 1.0)

    return risk


def cells_risk(grid: Grid, unastuteness: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """The unastuteness of each row's cell as a surrogate; 1 outside the cells.

    Args:
        grid: The cells.
        unastuteness: One number in [0, 1] per cell.

    Returns:
        A function of rows, e.g. for ``Rectified(surrogate=…)``.

    >>> risk = cells_risk(Grid.regular(4, (0, 1), dimensions=1), np.array([0.0, 0.5, 0.25, 0.0]))
    >>> risk(np.array([[0.1], [0.3], [7.0]])).tolist()
    [0.0, 0.5, 1.0]
    """

    def risk(X: FloatArray) -> FloatArray:
        where = grid.index(np.asarray(X, dtype=np.float64))
        return np.where(where >= 0, unastuteness[where], 1.0)

    return risk


class _Neighbours:
    """How many of the nearest labelled rows contradict the model's answer."""

    def __init__(self, X: FloatArray, y: IntArray) -> None:
        from sklearn.neighbors import NearestNeighbors

        self.y = y
        self.k = int(min(_LARGEST_K, max(1, round(np.sqrt(len(y)) / 2))))
        how = "kd_tree" if X.shape[1] <= 8 else "brute"
        self.index = NearestNeighbors(n_neighbors=min(self.k + 1, len(y)), algorithm=how).fit(X)

    def disagreement(self, inputs: Inputs, *, leave_out: bool = False) -> FloatArray:
        found = self.index.kneighbors(inputs.X, return_distance=False)
        # A row is its own nearest neighbour; the first column is left out where it counts.
        found = found[:, 1:] if leave_out else found[:, : self.k]
        return np.asarray((self.y[found] != inputs.predicted[:, None]).mean(axis=1))


def _logistic(features: FloatArray, wrong: FloatArray) -> FloatArray:
    """Logistic regression with a mild ridge penalty on the slopes."""
    design = np.column_stack([np.ones(len(features)), features])

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        score = design @ weights
        value = float(
            np.logaddexp(0, score).sum() - wrong @ score + 0.5 * weights[1:] @ weights[1:]
        )
        gradient = design.T @ (special.expit(score) - wrong)
        gradient[1:] += weights[1:]
        return value, gradient

    rate = wrong.mean()
    start = np.zeros(design.shape[1])
    start[0] = np.log(rate / (1 - rate))
    found = optimize.minimize(loss, start, jac=True, method="L-BFGS-B")
    return np.asarray(found.x, dtype=np.float64)


Value = Callable[[Inputs, IntArray], FloatArray]
UNUSED, TRIAL = -1, -2
_CHUNK = 1 << 19


def risk_chunks(
    operational: Inputs | DiskInputs, n: int, value: Value, rng: np.random.Generator, *, trial: bool
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Deal rows to n labels, and yield labels and values by chunk; a first tenth is `TRIAL`."""
    chunk = max(_CHUNK, 4 * n)
    left, at, size = operational.n_rows, 0, 0
    labels, values = np.zeros(0, dtype=np.int64), np.zeros(0)
    for block in operational.blocks():
        begin = 0
        while begin < block.size:
            if at == size:
                size, at = (left if left < 2 * chunk else chunk), 0
                labels, values = dealt(size, n, rng, trial=trial), np.zeros(size)
                left, trial = left - size, False
            take = min(block.size - begin, size - at)
            part = block.part(begin, begin + take)
            here = np.full(take, UNUSED)
            here[part.rows] = labels[at : at + take][part.rows]
            labels[at : at + take] = here
            used = np.flatnonzero(here != UNUSED)
            asked = part.inputs.take(np.searchsorted(part.rows, used))
            values[at + used] = value(asked, here[used])
            at, begin = at + take, begin + take
            if at == size:
                yield labels, values


def dealt(size: int, n: int, rng: np.random.Generator, *, trial: bool) -> IntArray:
    """For each of ``size`` rows, the label whose group it is in."""
    first = max(1, size // 10) if trial else 0
    if (size - first) // n == 0:
        first = 0
    each = (size - first) // n
    labels = np.full(size, UNUSED)
    order = rng.permutation(size)
    labels[order[:first]] = TRIAL
    labels[order[first : first + n * each]] = np.repeat(np.arange(n), each)
    return labels


class GroupMeans:
    """The mean of each label's group, chunk after chunk."""

    def __init__(self, n: int) -> None:
        self.sums, self.counts = np.zeros(n), np.zeros(n)

    def add(self, labels: IntArray, values: FloatArray) -> None:
        """Take in the rows of a chunk that are in a group."""
        used = labels >= 0
        n = len(self.sums)
        self.sums += np.bincount(labels[used], weights=values[used], minlength=n)
        self.counts += np.bincount(labels[used], minlength=n)

    def means(self) -> FloatArray:
        """Means; nan for a group without a row."""
        with np.errstate(invalid="ignore"):
            found: FloatArray = self.sums / np.where(self.counts > 0, self.counts, math.nan)
        return found
