"""Which share of each cell a model gives to which class: exact, proven, or sampled.

Three interchangeable estimators, all with the same signature ``(predict, grid, n_classes, seed)``:
exact boxes for trees, certificates with stratified sampling of what is left, and sampling alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.seeds import generator
from fireassay.reliability.cells import Grid
from fireassay.reliability.plan import Workers
from fireassay.reliability.provers import Prover, Trees, exact_class_shares, prover_of

Predict = Callable[[FloatArray], IntArray]
WithinCell = Callable[[FloatArray, FloatArray, np.random.Generator], FloatArray]
_MOST_BOXES = 2_000_000
_POINTS = 1024
_PILOT = 64
_LOOKED_AT_ANYWAY = 0.125
_HALVINGS_PER_AXIS = 2
_ROWS_AT_ONCE = 400_000


@dataclass(frozen=True)
class CellShares:
    """Class shares of each cell."""

    shares: FloatArray
    variance: FloatArray
    proven: FloatArray
    method: str
    vote: IntArray | None = None


class CellEstimator(Protocol):
    """Anything that finds class shares; pass your own as ``estimator=``."""

    def __call__(self, predict: Predict, grid: Grid, n_classes: int, seed: int) -> CellShares:
        """The class shares of every cell of the grid."""
        ...


def estimator_for(
    model: Any, samples: int = _POINTS, workers: Workers | None = None
) -> CellEstimator:
    """The best estimator that the model allows: proofs first, sampling where nothing is proven."""
    prover = prover_of(model)
    if isinstance(prover, Trees):
        return ExactTrees(prover, samples, workers)
    if prover is not None:
        return Certified(prover, samples, workers)
    return Sampled(samples, workers=workers)


@dataclass(frozen=True)
class ExactTrees:
    """Exact shares from the boxes of a tree ensemble; certificates where these are too many."""

    trees: Trees
    samples: int = _POINTS
    workers: Workers | None = None

    def __call__(self, predict: Predict, grid: Grid, n_classes: int, seed: int) -> CellShares:
        """The class shares of every cell of the grid."""
        shares = exact_class_shares(predict, self.trees, grid, n_classes)
        if shares is None:
            return Certified(self.trees, self.samples, self.workers)(predict, grid, n_classes, seed)
        nothing = np.zeros(grid.n_cells)
        return CellShares(shares, nothing, np.ones(grid.n_cells), "exact tree boxes")


@dataclass(frozen=True)
class Certified:
    """Proven where possible; unproven cells are cut up, and what stays unproven is sampled.

    Points are scattered one to a stratum: on cells that the border of a class crosses, 1,024 of
    them are more precise than 10,000 plain draws.

    Attributes:
        prover: ``prover.proven_class(low, high)`` gives the class of each box, or -1 if it is not
            proven.
        samples: Points per cell where nothing is proven, rounded to a full grid of strata.
        workers: Where cells are evaluated; here if None.

    >>> class Half:
    ...     def proven_class(self, low, high):
    ...         return np.where(high[:, 0] <= 0.5, 0, np.where(low[:, 0] >= 0.5, 1, -1))
    >>> grid = Grid.regular(4, (0, 1), dimensions=1)
    >>> found = Certified(Half())(lambda X: (X[:, 0] > 0.5).astype(int), grid, 2, seed=0)
    >>> found.shares[:, 0].tolist(), found.proven.tolist()
    ([1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0])
    """

    prover: Prover
    samples: int = _POINTS
    workers: Workers | None = None

    def __call__(self, predict: Predict, grid: Grid, n_classes: int, seed: int) -> CellShares:
        """The class shares of every cell of the grid."""
        whole = _whole_cells(self.prover, grid)
        shares = np.zeros((grid.n_cells, n_classes))
        constant = np.flatnonzero(whole >= 0)
        shares[constant, whole[constant]] = 1.0
        owner = np.flatnonzero(whole < 0)
        low, high = grid.boxes(owner)
        part = 1.0
        halvings = _HALVINGS_PER_AXIS * len(grid.shape)
        for step in range(halvings if len(owner) else 0):
            if 2 * len(low) > _MOST_BOXES:
                break
            low, high = _halved(low, high, step % low.shape[1])
            owner, part = np.tile(owner, 2), part / 2
            if (step + 1) % len(grid.shape) == 0:
                proven = self.prover.proven_class(low, high)
                sure = proven >= 0
                np.add.at(shares, (owner[sure], proven[sure]), part)
                low, high, owner = low[~sure], high[~sure], owner[~sure]
        known = shares.sum(axis=1)
        variance = np.zeros(grid.n_cells)
        vote = shares.argmax(axis=1)
        if len(owner):
            points = max(2, round(self.samples * part))
            # The vote comes from other points: a share is not both counted and chosen as largest.
            pilot = shares.copy()
            few = max(1, round(_PILOT * part))
            voted, found = (
                _scattered_shares(predict, low, high, some, n_classes, (name, seed), self.workers)
                for some, name in ((few, "certified-votes"), (points, "certified-cells"))
            )
            np.add.at(pilot, owner, part * voted)
            vote = pilot.argmax(axis=1)
            np.add.at(shares, owner, part * found)
            top = found.max(axis=1)
            np.add.at(variance, owner, part**2 * np.maximum(top * (1 - top), 1 / points) / points)
        return CellShares(shares, variance, known, "certificates, then stratified sampling", vote)


@dataclass(frozen=True)
class Sampled:
    """Stratified sampling of a black box: a few points everywhere, many where they disagree.

    ``within`` draws points inside cells; uniform if None. Of the cells whose first points agree
    one in eight is looked at as closely as those that disagree, and counts eight times: the
    shares are unbiased, so that of a single cell may lie outside [0, 1]. No bound comes from them;
    the total of all cells has one of its own (`cell_total`).

    Attributes:
        samples, first: Points in a cell that is looked at closely, and points in every cell.
        within: ``within(low, high, rng)`` draws one point of each box.
        workers: Where cells are evaluated; here if None.

    >>> grid = Grid.regular(2, (0, 1), dimensions=1)
    >>> found = Sampled(samples=100)(lambda X: (X[:, 0] > 0.25).astype(int), grid, 2, seed=0)
    >>> found.shares[:, 1].tolist()  # half of the first cell, all of the second
    [0.5, 1.0]
    """

    samples: int = _POINTS
    first: int = 16
    within: WithinCell | None = None
    workers: Workers | None = None

    def __call__(self, predict: Predict, grid: Grid, n_classes: int, seed: int) -> CellShares:
        """The class shares of every cell of the grid."""

        def shares_of(cells: IntArray, points: int, purpose: str) -> FloatArray:
            low, high = grid.boxes(cells)
            stream = (f"sampled-cells-{purpose}", seed)
            return _scattered_shares(
                predict, low, high, points, n_classes, stream, self.workers, self.within
            )

        cells = np.arange(grid.n_cells)
        pilot = shares_of(cells, self.first, "votes")
        shares = shares_of(cells, self.first, "first")
        agree = shares.max(axis=1) == 1
        chance = np.where(agree, _LOOKED_AT_ANYWAY, 1.0)
        close = np.flatnonzero(generator(seed, "looked at closely").random(len(cells)) < chance)
        # Posterior variance, under a flat prior, of a share of which n points of n agreed.
        n = self.first
        variance = np.full(grid.n_cells, (n + 1) / ((n + 2) ** 2 * (n + 3)))
        if len(close) and self.samples > 0:
            more = shares_of(close, self.samples, "close")
            weight = self.samples / (self.first + self.samples) / chance[close]
            shares[close] += weight[:, None] * (more - shares[close])
            top = np.clip(more.max(axis=1), 0.0, 1.0)
            variance[close] = weight**2 * np.maximum(top * (1 - top), 1 / self.samples)
            variance[close] /= self.samples
        nothing = np.zeros(grid.n_cells)
        return CellShares(shares, variance, nothing, "stratified sampling", pilot.argmax(axis=1))


def _scattered_shares(
    predict: Predict,
    low: FloatArray,
    high: FloatArray,
    points: int,
    n_classes: int,
    stream: tuple[str, int],
    workers: Workers | None,
    within: WithinCell | None = None,
) -> FloatArray:
    """Class shares of boxes from some points each, the same wherever they are evaluated."""
    per_axis = max(1, round(points ** (1 / low.shape[1])))
    repeats = points if within is not None else per_axis ** low.shape[1]
    size = max(1, _ROWS_AT_ONCE // repeats)
    shared: dict[str, Any] = {
        "predict": predict,
        "low": low,
        "high": high,
        "n_classes": n_classes,
        "within": within,
        "points": points if within is not None else per_axis,
        "stream": stream,
    }
    rows = [(start, min(start + size, len(low))) for start in range(0, len(low), size)]
    if workers is None:
        counts = [class_counts(row, **shared) for row in rows]
    else:
        counts = workers.run(class_counts, rows, shared, "cells")
    return np.asarray(np.concatenate(counts) / repeats)


def class_counts(
    row: tuple[int, int],
    predict: Predict,
    low: FloatArray,
    high: FloatArray,
    n_classes: int,
    within: WithinCell | None,
    points: int,
    stream: tuple[str, int],
) -> FloatArray:
    """Points of boxes that go to each class; without ``within`` one in each part of a grid."""
    start, stop = row
    below, above = low[start:stop], high[start:stop]
    rng = generator(stream[1], stream[0], start)
    if within is not None:
        repeats = points
        drawn = within(np.repeat(below, points, axis=0), np.repeat(above, points, axis=0), rng)
    else:
        d = low.shape[1]
        repeats = points**d
        steps = np.stack(np.unravel_index(np.arange(repeats), (points,) * d), axis=1)
        offset = (steps + rng.random((len(below), repeats, d))) / points
        drawn = (below[:, None] + (above - below)[:, None] * offset).reshape(-1, d)
    owner = np.repeat(np.arange(len(below)), repeats)
    flat = np.bincount(owner * n_classes + predict(drawn), minlength=len(below) * n_classes)
    return np.asarray(flat.reshape(-1, n_classes), dtype=np.float64)


def _whole_cells(prover: Prover, grid: Grid) -> IntArray:
    """The class proven for each whole cell, or -1; large blocks of cells are tried first."""
    d = len(grid.shape)
    found = np.full(grid.shape, -1, dtype=np.int64)
    size = 2 ** int(np.ceil(np.log2(max(grid.shape))) // 2 + 1)
    axes = [np.arange(0, count, size) for count in grid.shape]
    start = np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=1)
    while len(start):
        stop = np.minimum(start + size, grid.shape)
        low, high = grid.low + start * grid.side, grid.low + stop * grid.side
        proven = prover.proven_class(low, high)
        for first, last, label in zip(
            start[proven >= 0], stop[proven >= 0], proven[proven >= 0], strict=True
        ):
            found[tuple(map(slice, first, last))] = label
        if size == 1:
            break
        size //= 2
        corners = size * np.stack(np.unravel_index(np.arange(2**d), (2,) * d), axis=1)
        start = (start[proven < 0][:, None] + corners).reshape(-1, d)
        start = start[(start < grid.shape).all(axis=1)]
    return found.ravel()


def _halved(low: FloatArray, high: FloatArray, axis: int) -> tuple[FloatArray, FloatArray]:
    middle = (low[:, axis] + high[:, axis]) / 2
    left_high, right_low = high.copy(), low.copy()
    left_high[:, axis], right_low[:, axis] = middle, middle
    return np.concatenate([low, right_low]), np.concatenate([left_high, high])
