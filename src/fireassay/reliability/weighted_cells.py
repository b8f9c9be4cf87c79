"""The paper's assessment by cells: each cell's unastuteness weighed by the operational profile.

The published variance and bound are kept for fidelity; `Ram` shows beside them where they fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fireassay.core import NotEnoughEvidenceError, generator
from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.lazy import pd, stats
from fireassay.reliability.cell_shares import CellEstimator, CellShares, Predict, WithinCell
from fireassay.reliability.cells import CROSS_BOUNDARY, EMPTY, KINDS, NORMAL, CellLabels, Grid
from fireassay.reliability.profile import KdeProfile, Profile
from fireassay.statistics.counts import clopper_pearson
from fireassay.statistics.kde import BinnedKde

_DRAWS = 10_000
_ROWS_AT_ONCE = 400_000


@dataclass(frozen=True)
class CellTotal:
    """Points drawn from the cells by their mass, and how many disagree with their cell's label."""

    disagree: int
    drawn: int

    @property
    def share(self) -> float:
        """Unbiased for the total of the cells, whatever their size."""
        return self.disagree / self.drawn

    def upper(self, alpha: float) -> float:
        """Exact upper bound of the total, with error probability ``alpha``."""
        return float(clopper_pearson(self.disagree, self.drawn, 1.0 - alpha, "upper")[1])


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


class CellStudy(NamedTuple):
    """A classifier, labelled rows and a profile, to be assessed on grids of cells."""

    predict: Predict
    X: FloatArray
    y: IntArray
    profile: CentreDensity | Profile
    estimator: CellEstimator
    n_classes: int
    seed: int

    def on(self, grid: Grid) -> tuple[CellLabels, CellShares, FloatArray, IntArray, FloatArray]:
        """Labels seen, class shares, unastuteness, label and (not normalised) mass of each cell."""
        labels = CellLabels.observed(grid, self.X, self.y)
        shares = self.estimator(self.predict, grid, self.n_classes, self.seed)
        return labels, shares, *cell_unastuteness(labels, shares), self.profile.cell_mass(grid)


def assess_cells(study: CellStudy, grid: Grid, *, alpha: float, samples: int) -> WeightedCells:
    """Cells' unastuteness weighed by the profile: Eqs. (3) to (7), (14) of the paper."""
    labels, shares, unastuteness, label, mass = study.on(grid)
    mass = mass / mass.sum()
    profile, pmi = study.profile, float(mass @ unastuteness)
    inside = np.clip(unastuteness, 0.0, 1.0)
    drawn = inside * (1 - inside) / (samples - 1)
    if isinstance(profile, CentreDensity):
        mass_variance = profile.half_bootstrap_variance(grid)
        covariances = profile.standard_error(grid, unastuteness)
    elif isinstance(profile, KdeProfile):
        mass_variance = mass * (1 - mass) / profile.n_
        covariances = profile.expectation(grid, unastuteness)[1]
    else:
        mass_variance, covariances = np.zeros_like(mass), 0.0
    terms = unastuteness**2 * mass_variance + mass**2 * drawn + drawn * mass_variance
    std = float(np.sqrt(terms.sum()))
    upper = min(1.0, pmi + float(stats.norm.isf(alpha)) * std)
    total = None
    if shares.vote is not None:
        # Sampled cells: the number is a share of fresh points, and its bound is exact.
        draws, within = max(samples, _DRAWS), getattr(study.estimator, "within", None)
        given = (study.predict, grid, labels, label, mass)
        total = cell_total(*given, draws=draws, seed=study.seed, within=within)
        pmi, upper = total.share, total.upper(alpha)
    low, _ = grid.boxes(np.arange(grid.n_cells))
    columns: dict[str, object] = {f"low_{axis}": column for axis, column in enumerate(low.T)}
    columns |= {
        "kind": np.array(KINDS)[labels.kind],
        "label": label,
        "unastuteness": unastuteness,
        "mass": mass,
        "proven": shares.proven,
        "vote": shares.shares.max(axis=1),
    }
    cells, acu = pd.DataFrame(columns), float(unastuteness.mean())
    return WeightedCells(
        pmi, std, upper, covariances, acu, cells, shares, labels, grid, unastuteness, mass, total
    )


def cell_total(
    predict: Predict,
    grid: Grid,
    labels: CellLabels,
    label: IntArray,
    mass: FloatArray,
    *,
    draws: int,
    seed: int,
    within: WithinCell | None = None,
) -> CellTotal:
    """Draw cells by their mass, one fresh point in each, and count disagreements: a coin."""
    rng = generator(seed, "cell total")
    cells = rng.choice(grid.n_cells, size=draws, p=mass / mass.sum())
    wrong = int((labels.kind[cells] == CROSS_BOUNDARY).sum())
    asked = cells[labels.kind[cells] != CROSS_BOUNDARY]
    for start in range(0, len(asked), _ROWS_AT_ONCE):
        some = asked[start : start + _ROWS_AT_ONCE]
        low, high = grid.boxes(some)
        points = (
            low + (high - low) * rng.random(low.shape) if within is None else within(low, high, rng)
        )
        wrong += int((predict(points) != label[some]).sum())
    return CellTotal(wrong, draws)


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


def refinement_curve(study: CellStudy, grid: Grid, factors: tuple[float, ...]) -> pd.DataFrame:
    """E[λ] and ACU on coarser and finer cells: does the size of the cells decide the answer?"""
    rows = []
    for factor in factors:
        per_axis = tuple(max(1, round(count * factor)) for count in grid.shape)
        other = Grid(grid.low, grid.high, per_axis)
        labels, _, unastuteness, _, mass = study.on(other)
        empty = float((labels.kind == EMPTY).mean())
        pmi = float(mass @ unastuteness / mass.sum())
        rows.append((per_axis[0], other.n_cells, pmi, float(unastuteness.mean()), empty))
    columns = ["cells_per_axis", "cells", "pmi", "acu", "empty_share"]
    return pd.DataFrame(rows, columns=columns)
