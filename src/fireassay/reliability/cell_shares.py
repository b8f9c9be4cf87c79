"""Which share of each cell a model gives to which class: exact, proven, or sampled.

Three interchangeable estimators, all with the same signature ``(predict, grid, n_classes, seed)``:
exact boxes for trees, certificates with stratified sampling of what is left, and sampling alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fireassay.core.seeds import generator
from fireassay.reliability.cells import Grid
from fireassay.reliability.certificates import Prover, prover_of
from fireassay.reliability.tree_boxes import Trees, exact_class_shares

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Predict = Callable[[FloatArray], IntArray]
WithinCell = Callable[[FloatArray, FloatArray, np.random.Generator], FloatArray]
_MOST_BOXES = 2_000_000


@dataclass(frozen=True)
class CellShares:
    """Class shares of each cell.

    Attributes
    ----------
    shares
        Shape ``(cells, classes)``: the part of each cell that the model gives to each class.
    variance
        Of each cell's shares, at most (zero where the share is exact).
    proven
        The part of each cell whose class is proven rather than sampled.
    method
        How the shares were found.
    """

    shares: FloatArray
    variance: FloatArray
    proven: FloatArray
    method: str


class CellEstimator(Protocol):
    """Anything that finds class shares; pass your own as ``estimator=``."""

    def __call__(self, predict: Predict, grid: Grid, n_classes: int, seed: int) -> CellShares:
        """The class shares of every cell of the grid."""
        ...


def estimator_for(model: Any, samples: int) -> CellEstimator:
    """The best estimator that the model allows: proofs first, sampling where nothing is proven."""
    prover = prover_of(model)
    if isinstance(prover, Trees):
        return ExactTrees(prover, samples)
    if prover is not None:
        return Certified(prover, samples)
    return Sampled(samples)


@dataclass(frozen=True)
class ExactTrees:
    """Exact shares from the boxes of a tree ensemble; certificates where these are too many."""

    trees: Trees
    samples: int = 10_000

    def __call__(self, predict: Predict, grid: Grid, n_classes: int, seed: int) -> CellShares:
        """The class shares of every cell of the grid."""
        shares = exact_class_shares(predict, self.trees, grid, n_classes)
        if shares is None:
            return Certified(self.trees, self.samples)(predict, grid, n_classes, seed)
        nothing = np.zeros(grid.n_cells)
        return CellShares(shares, nothing, np.ones(grid.n_cells), "exact tree boxes")


@dataclass(frozen=True)
class Certified:
    """Proven where possible; unproven boxes are halved, and what stays unproven is sampled.

    After each halving every box is tried again. The boxes left at the end are the strata, with
    two points each: on the border cells this is more precise than ``samples`` plain draws.
    """

    prover: Prover
    samples: int = 10_000

    def __call__(self, predict: Predict, grid: Grid, n_classes: int, seed: int) -> CellShares:
        """The class shares of every cell of the grid."""
        rng = generator(seed, "certified-cells")
        owner = np.arange(grid.n_cells)
        low, high = grid.boxes(owner)
        part = 1.0
        shares = np.zeros((grid.n_cells, n_classes))
        halvings = max(1, int(np.ceil(np.log2(self.samples) * 0.75)))
        for step in range(halvings + 1):
            proven = self.prover.proven_class(low, high)
            sure = proven >= 0
            np.add.at(shares, (owner[sure], proven[sure]), part)
            low, high, owner = low[~sure], high[~sure], owner[~sure]
            if step == halvings or 2 * len(low) > _MOST_BOXES or not len(low):
                break
            low, high = _halved(low, high, step % low.shape[1])
            owner, part = np.tile(owner, 2), part / 2
        known = shares.sum(axis=1)
        variance = np.zeros(grid.n_cells)
        for _ in range(2 if len(low) else 0):
            found = predict(low + (high - low) * rng.random(low.shape))
            np.add.at(shares, (owner, found), part / 2)
        np.add.at(variance, owner, part**2 / 8)
        return CellShares(shares, variance, known, "certificates, then stratified sampling")


@dataclass(frozen=True)
class Sampled:
    """Stratified sampling of a black box: a few points everywhere, many where they disagree.

    ``within`` draws points inside cells; uniform if None. A cell whose first points agree is
    taken as constant, with the variance that so few points still allow.
    """

    samples: int = 10_000
    first: int = 16
    within: WithinCell | None = None

    def __call__(self, predict: Predict, grid: Grid, n_classes: int, seed: int) -> CellShares:
        """The class shares of every cell of the grid."""
        rng = generator(seed, "sampled-cells")
        cells = np.arange(grid.n_cells)
        shares = self._shares(predict, grid, cells, self.first, n_classes, rng)
        mixed = np.flatnonzero(shares.max(axis=1) < 1)
        variance = np.full(grid.n_cells, _rule_of_succession(self.first))
        most = max(self.first, min(self.samples, 1024 if self.within is None else self.samples))
        if len(mixed):
            shares[mixed] = self._shares(predict, grid, mixed, most, n_classes, rng)
            top = shares[mixed].max(axis=1)
            variance[mixed] = np.maximum(top * (1 - top), 1 / most) / most
        return CellShares(shares, variance, np.zeros(grid.n_cells), "stratified sampling")

    def _shares(
        self,
        predict: Predict,
        grid: Grid,
        cells: IntArray,
        points: int,
        n_classes: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        d = len(grid.shape)
        per_axis = max(1, round(points ** (1 / d)))
        counts = np.zeros((len(cells), n_classes))
        repeats = per_axis**d if self.within is None else points
        size = max(1, 400_000 // repeats)
        for start in range(0, len(cells), size):
            block = cells[start : start + size]
            low, high = grid.boxes(block)
            low, high = np.repeat(low, repeats, axis=0), np.repeat(high, repeats, axis=0)
            if self.within is not None:
                rows = self.within(low, high, rng)
            else:
                steps = np.stack(np.unravel_index(np.arange(repeats), (per_axis,) * d), axis=1)
                offset = np.tile(steps, (len(block), 1)) + rng.random(low.shape)
                rows = low + (high - low) * offset / per_axis
            owner = np.repeat(np.arange(start, start + len(block)), repeats)
            np.add.at(counts, (owner, predict(rows)), 1)
        return counts / repeats


def _halved(low: FloatArray, high: FloatArray, axis: int) -> tuple[FloatArray, FloatArray]:
    middle = (low[:, axis] + high[:, axis]) / 2
    left_high, right_low = high.copy(), low.copy()
    left_high[:, axis], right_low[:, axis] = middle, middle
    return np.concatenate([low, right_low]), np.concatenate([left_high, high])


def _rule_of_succession(n: int) -> float:
    """The variance of a share of which n points of n agreed (posterior under a flat prior)."""
    return (n + 1) / ((n + 2) ** 2 * (n + 3))
