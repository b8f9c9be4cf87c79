"""The paper's assessment by cells: each cell's unastuteness weighed by the operational profile.

The published variance and bound are kept for fidelity; `Ram` shows beside them where they fail.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import NotEnoughEvidenceError
from fireassay.core.lazy import pd, stats
from fireassay.reliability.cell_shares import CellEstimator, CellShares, Predict
from fireassay.reliability.cell_total import CellTotal, cell_total
from fireassay.reliability.cells import CROSS_BOUNDARY, KINDS, NORMAL, CellLabels, Grid
from fireassay.reliability.profile import KdeProfile, Profile
from fireassay.statistics.kde import BinnedKde

_DRAWS = 10_000


@dataclass(frozen=True)
class WeightedCells:
    """The numbers of one assessment by cells."""

    pmi: float
    std: float
    pmi_upper: float
    std_covariances: float
    acu: float
    cells: pd.DataFrame
    shares: CellShares
    labels: CellLabels
    grid: Grid
    unastuteness: FloatArray
    mass: FloatArray
    total: CellTotal | None


def assess_cells(
    predict: Predict,
    X: FloatArray,
    y: IntArray,
    *,
    grid: Grid,
    profile: CentreDensity | Profile,
    estimator: CellEstimator,
    n_classes: int,
    alpha: float,
    samples: int,
    seed: int,
) -> WeightedCells:
    """Cells' unastuteness weighed by the profile: Eqs. (3) to (7), (14) of the paper."""
    labels = CellLabels.observed(grid, X, y)
    shares = estimator(predict, grid, n_classes, seed)
    unastuteness, label = cell_unastuteness(labels, shares)
    mass = profile.cell_mass(grid)
    mass = mass / mass.sum()
    pmi = float(mass @ unastuteness)
    inside = np.clip(unastuteness, 0.0, 1.0)
    drawn = inside * (1 - inside) / (samples - 1)
    if isinstance(profile, CentreDensity):
        mass_variance = profile.half_bootstrap_variance(grid)
        covariances = profile.standard_error(grid, unastuteness)
    elif isinstance(profile, KdeProfile):
        mass_variance = mass * (1 - mass) / profile.n_
        covariances = profile.expectation(grid, unastuteness)[1]
    else:
        mass_variance = np.zeros_like(mass)
        covariances = 0.0
    terms = unastuteness**2 * mass_variance + mass**2 * drawn + drawn * mass_variance
    std = float(np.sqrt(terms.sum()))
    z = float(stats.norm.isf(alpha))
    upper = min(1.0, pmi + z * std)
    total = None
    if shares.vote is not None:
        # Sampled cells: the number is a share of fresh points, and its bound is exact.
        total = cell_total(
            predict,
            grid,
            labels,
            label,
            mass,
            draws=max(samples, _DRAWS),
            seed=seed,
            within=getattr(estimator, "within", None),
        )
        pmi, upper = total.share, total.upper(alpha)
    cells = _frame(grid, labels, label, unastuteness, mass, shares)
    acu = float(unastuteness.mean())
    return WeightedCells(
        pmi, std, upper, covariances, acu, cells, shares, labels, grid, unastuteness, mass, total
    )


def cell_unastuteness(labels: CellLabels, shares: CellShares) -> tuple[FloatArray, IntArray]:
    """λᵢ and the label of each cell: seen, voted by the model itself, or none (λᵢ = 1)."""
    voted = shares.shares.argmax(axis=1) if shares.vote is None else shares.vote
    label = np.where(labels.kind == NORMAL, labels.label, voted)
    unastuteness = 1 - shares.shares[np.arange(len(label)), label]
    unastuteness[labels.kind == CROSS_BOUNDARY] = 1.0
    label = np.where(labels.kind == CROSS_BOUNDARY, -1, label)
    return unastuteness, label


@dataclass(frozen=True)
class CentreDensity:
    """The paper's profile: KDE at the cell centres, renormalised over the cells, no folding."""

    points: FloatArray
    bandwidth: float

    def cell_mass(self, grid: Grid) -> FloatArray:
        """Density at the centres, as a share of the sum over all cells."""
        density = BinnedKde(self.points, self.bandwidth).density(grid.centres).ravel()
        total = density.sum()
        if not total > 0:
            raise NotEnoughEvidenceError(
                "The operational profile must have mass inside the cells.",
                got=f"a density that underflows in every cell at bandwidth {self.bandwidth:g}",
                do="Pass bounds= that cover the rows, or a larger bandwidth.",
            )
        return np.asarray(density / total, dtype=np.float64)

    def sample(self, n: int, seed: int = 0) -> FloatArray:
        """Rows drawn from the kernel density."""
        return KdeProfile(self.bandwidth, bounds=None).fit(self.points).sample(n, seed)

    def half_bootstrap_variance(self, grid: Grid) -> FloatArray:
        """The variance of cell masses over half-size resamples: a KDE of bandwidth h / √2."""
        kde = BinnedKde(self.points, self.bandwidth)
        total = kde.point_sums(grid.centres, np.ones(grid.shape))
        density = kde.density(grid.centres).ravel()
        mean_total = total.mean()
        mass = density / density.sum()
        narrow = BinnedKde(self.points, self.bandwidth / np.sqrt(2))
        squared = 1 / (2 * self.bandwidth * np.sqrt(np.pi)) ** len(grid.shape)
        second = squared * narrow.density(grid.centres).ravel()
        cross = (
            BinnedKde(self.points, self.bandwidth, weights=total).density(grid.centres).ravel()
            * mean_total
        )
        spread = second - 2 * mass * cross + mass**2 * (total**2).mean()
        half = max(1, len(self.points) // 2)
        return np.asarray(np.maximum(spread, 0.0) / (half * mean_total**2), dtype=np.float64)

    def standard_error(self, grid: Grid, values: FloatArray) -> float:
        """Of the weighted mean of a cell-wise function, covariances kept, full sample size."""
        kde = BinnedKde(self.points, self.bandwidth)
        sums = kde.point_sums(grid.centres, values.reshape(grid.shape))
        total = kde.point_sums(grid.centres, np.ones(grid.shape))
        ratio = sums.mean() / total.mean()
        residual = (sums - ratio * total) / total.mean()
        return float(np.sqrt((residual**2).mean() / len(self.points)))


def refinement_curve(
    predict: Predict,
    X: FloatArray,
    y: IntArray,
    *,
    grid: Grid,
    profile: CentreDensity | Profile,
    estimator: CellEstimator,
    n_classes: int,
    factors: tuple[float, ...],
    seed: int,
) -> pd.DataFrame:
    """E[λ] and ACU on coarser and finer cells: does the size of the cells decide the answer?"""
    rows = []
    for factor in factors:
        per_axis = tuple(max(1, round(count * factor)) for count in grid.shape)
        other = Grid(grid.low, grid.high, per_axis)
        labels = CellLabels.observed(other, X, y)
        shares = estimator(predict, other, n_classes, seed)
        unastuteness, _ = cell_unastuteness(labels, shares)
        mass = profile.cell_mass(other)
        empty = float((labels.kind == 1).mean())
        pmi = float(mass @ unastuteness / mass.sum())
        rows.append((per_axis[0], other.n_cells, pmi, float(unastuteness.mean()), empty))
    columns = ["cells_per_axis", "cells", "pmi", "acu", "empty_share"]
    return pd.DataFrame(rows, columns=columns)


def _frame(
    grid: Grid,
    labels: CellLabels,
    label: IntArray,
    unastuteness: FloatArray,
    mass: FloatArray,
    shares: CellShares,
) -> pd.DataFrame:
    low, _ = grid.boxes(np.arange(grid.n_cells))
    columns: dict[str, object] = {f"low_{axis}": low[:, axis] for axis in range(low.shape[1])}
    columns["kind"] = np.array(KINDS)[labels.kind]
    columns["label"] = label
    columns["unastuteness"] = unastuteness
    columns["mass"] = mass
    columns["proven"] = shares.proven
    columns["vote"] = shares.shares.max(axis=1)
    return pd.DataFrame(columns)
