"""The operational profile: how often inputs fall where, from a sample or from a known density."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core import DataError, NotEnoughEvidenceError, ParameterError, generator
from fireassay.core.arrays import FloatArray
from fireassay.core.lazy import pd, special
from fireassay.core.validation import check_features, check_integer, check_labels, check_real
from fireassay.reliability.cells import Grid, box
from fireassay.reliability.inputs import BinnedRows, DiskRows, binned_rows, rows_on_disk
from fireassay.statistics.kde import BinnedKde, kde_density, leave_one_out_bandwidth


class Profile(Protocol):
    """What an assessment by cells asks of a profile."""

    def cell_mass(self, grid: Grid) -> FloatArray:
        """The probability of each cell, flat, summing to the mass inside the grid."""
        ...

    def sample(self, n: int, seed: int = 0) -> FloatArray:
        """Rows drawn from the profile."""
        ...


class KdeProfile:
    """A Gaussian kernel density of the inputs met in operation.

    Args:
        bandwidth: The kernel's standard deviation; ``"loo"`` takes the one with the highest
            leave-one-out likelihood, ``"scott"`` a rule of thumb.
        bounds: ``(low, high)`` or one pair per axis: mass that would leak over these borders is
            folded back. None for inputs without borders.

    Attributes:
        bandwidth_, n_: The bandwidth that was taken, and the number of rows.

    >>> rng = np.random.default_rng(0)
    >>> profile = KdeProfile(bandwidth=0.1, bounds=(0, 1)).fit(rng.random((500, 2)))
    >>> float(profile.cell_mass(Grid.regular(10, (0, 1), dimensions=2)).sum().round(6))
    1.0
    """

    def __init__(self, bandwidth: float | str = "loo", bounds: ArrayLike | None = (0, 1)) -> None:
        self.bandwidth = bandwidth
        self.bounds = bounds

    def fit(
        self,
        X: ArrayLike | DiskRows | Path,
        y: ArrayLike | None = None,
        *,
        class_priors: dict[Any, float] | None = None,
        seed: int = 0,
    ) -> Self:
        """Learn the profile from operational rows.

        Args:
            X: Operational rows, shape ``(n, d)``; no labels are needed. A `numpy.memmap`, or the
                path of an .npy or Parquet file, is read block by block and may be larger than
                memory: in up to three dimensions its rows are binned, above a random sample of them
                is kept.
            y, class_priors: If the rows were collected class by class, their labels and how often
                each class really comes in operation: the rows are weighted accordingly.
        """
        disk = rows_on_disk(X)
        if disk is None:
            rows = check_features(np.asarray(X), name="X_operational").astype(np.float64)
            _check_table(rows.shape[1:])
            self.n_ = len(rows)
            weights = None if class_priors is None else _prior_weights(y, class_priors, self.n_)
            self.shares_ = 1 / self.n_ if weights is None else float((weights**2).sum())
            found = BinnedRows(rows, weights, rows, rows.min(axis=0), rows.max(axis=0))
        else:
            _check_table(disk.shape)
            if class_priors is not None:
                raise ParameterError(
                    "class_priors are for rows in memory.", got="rows on disk", do="Pass an array."
                )
            found = binned_rows(disk, seed)
            self.n_ = len(disk) if disk.shape[0] <= 3 else len(found.sample)
            self.shares_ = 1 / self.n_
        self.points_, self.weights_, self.sample_ = found.points, found.weights, found.sample
        self.limits_ = self._checked_bounds(found.low, found.high)
        self.bandwidth_ = self._chosen_bandwidth(found.sample, seed)
        return self

    def density(self, X: ArrayLike) -> FloatArray:
        """Density at each row, every kernel summed."""
        at = check_features(X).astype(np.float64)
        return kde_density(
            self.points_, at, self.bandwidth_, weights=self.weights_, reflect=self.limits_
        )

    def cell_mass(self, grid: Grid) -> FloatArray:
        """The probability of each cell from products of Gaussian distribution functions.

        Raises:
            NotEnoughEvidenceError: If the profile has no mass in the grid at all.
        """
        if len(grid.shape) <= 3:
            mass = self.binned().cell_mass(grid.edges).ravel()
        else:
            first, second = self._marginals(grid)
            mass = np.asarray((first * self._weights()) @ second.T, dtype=np.float64).ravel()
        if not mass.sum() > 0:
            raise NotEnoughEvidenceError(
                "The operational profile must have mass inside the cells.",
                got="a density of zero in every cell",
                do="Pass bounds= that cover the operational rows, or a larger bandwidth.",
            )
        return mass

    def sample(self, n: int, seed: int = 0) -> FloatArray:
        """Rows drawn from the density: a random point plus noise, folded at the borders."""
        check_integer(n, "n", low=1)
        rng = generator(seed, "kde-profile-sample")
        rows = self.points_[rng.choice(len(self.points_), size=n, p=self.weights_)]
        rows = rows + self.bandwidth_ * rng.standard_normal(rows.shape)
        if self.limits_ is not None:
            low, high = np.array(self.limits_).T
            rows = low + np.abs((rows - low) % (2 * (high - low)))
            rows = np.where(rows > high, 2 * high - rows, rows)
        return np.asarray(rows, dtype=np.float64)

    def expectation(self, grid: Grid, values: FloatArray) -> tuple[float, float]:
        """Mean of a cell-wise function under the profile, and its standard error.

        The mean is an average over the operational rows, so the error keeps every covariance
        between cells and needs no bootstrap.
        """
        if len(grid.shape) <= 3:
            means = self.binned().point_means(grid.edges, values.reshape(grid.shape))
        else:
            first, second = self._marginals(grid)
            table = values.reshape(len(first), len(second))
            means = np.einsum("an,an->n", first, table @ second)
        weights = self._weights()
        mean = float(weights @ means)
        if self.n_ < 2:
            return mean, float("nan")
        spread = float(np.sqrt(weights @ (means - mean) ** 2))
        return mean, spread * float(np.sqrt(self.shares_ * self.n_ / (self.n_ - 1)))

    def outside(self, bounds: ArrayLike) -> float:
        """The share of mass that an unfolded kernel of this bandwidth would put outside a box."""
        low, high = box(bounds, self.points_.shape[1])
        kde = BinnedKde(self.points_, self.bandwidth_, weights=self.weights_)
        edges = [np.array([a, b]) for a, b in zip(low, high, strict=True)]
        return float(1 - kde.cell_mass(edges).sum())

    def sensitivity(
        self, grid: Grid, values: FloatArray, factors: tuple[float, ...] = (0.25, 0.5, 1, 2, 4)
    ) -> pd.DataFrame:
        """How the mean of a cell-wise function moves with the bandwidth."""
        rows = []
        for factor in factors:
            other = copy.copy(self)
            other.bandwidth_ = self.bandwidth_ * factor
            mass = other.cell_mass(grid)
            rows.append((other.bandwidth_, float(mass @ values / mass.sum())))
        return pd.DataFrame(rows, columns=["bandwidth", "pmi"])

    def binned(self) -> BinnedKde:
        """The same density, binned for grids of one to three dimensions."""
        return BinnedKde(self.points_, self.bandwidth_, weights=self.weights_, reflect=self.limits_)

    def _marginals(self, grid: Grid) -> tuple[FloatArray, FloatArray]:
        """Cells × points for the first and for the second half of the axes."""
        blocks: list[FloatArray] = []
        half = len(grid.shape) // 2
        for axes in (range(half), range(half, len(grid.shape))):
            n = len(self.points_)
            block = np.ones((1, n))
            for axis in axes:
                column = self.points_[:, axis]
                images = [column]
                if self.limits_ is not None:
                    low, high = self.limits_[axis]
                    images += [2 * low - column, 2 * high - column]
                cdf = sum(
                    special.ndtr((grid.edges[axis][:, None] - x) / self.bandwidth_) for x in images
                )
                marginal = np.diff(np.asarray(cdf), axis=0)
                block = (block[:, None] * marginal).reshape(-1, n)
            blocks.append(block)
        return blocks[0], blocks[1]

    def _weights(self) -> FloatArray:
        n = len(self.points_)
        return self.weights_ if self.weights_ is not None else np.full(n, 1 / n)

    def _checked_bounds(
        self, smallest: FloatArray, largest: FloatArray
    ) -> list[tuple[float, float]] | None:
        if self.bounds is None:
            return None
        low, high = box(self.bounds, len(smallest))
        if ((smallest < low) | (largest > high)).any():
            raise DataError(
                f"Operational rows must lie within bounds={self.bounds!r}.",
                got=f"values from {smallest.min():g} to {largest.max():g}",
                do="Scale the rows, pass their true bounds, or bounds=None.",
            )
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def _chosen_bandwidth(self, rows: FloatArray, seed: int) -> float:
        if self.bandwidth == "loo":
            rng = generator(seed, "kde-profile-bandwidth")
            return leave_one_out_bandwidth(rows, reflect=self.limits_, rng=rng)
        if self.bandwidth == "scott":
            spread = float(np.sqrt(rows.var(axis=0).mean()))
            if spread == 0:
                raise DataError("Scott's rule needs rows that differ.", got="identical rows")
            return float(spread * len(rows) ** (-1 / (rows.shape[1] + 4)))
        if isinstance(self.bandwidth, str):
            raise ParameterError(
                "The 'bandwidth' parameter must be 'loo', 'scott' or a float > 0.",
                got=repr(self.bandwidth),
            )
        return check_real(self.bandwidth, "bandwidth", low=0)


class DensityProfile:
    """A profile that the user knows as a density function.

    Args:
        density: Function of rows ``(n, d)`` that returns non-negative densities, not necessarily
            normalised.
        bounds: The box outside of which nothing happens.
        dimensions: Number of features.

    >>> rising = DensityProfile(lambda X: X[:, 0], bounds=(0, 1), dimensions=1)
    >>> rising.cell_mass(Grid.regular(2, (0, 1), dimensions=1)).round(6).tolist()  # 1/8 : 3/8
    [0.25, 0.75]
    """

    def __init__(
        self, density: Callable[[FloatArray], FloatArray], bounds: ArrayLike, dimensions: int = 2
    ) -> None:
        self._density = density
        self.low, self.high = box(bounds, dimensions)

    def density(self, X: FloatArray) -> FloatArray:
        """The user's values, checked."""
        values = np.asarray(self._density(X), dtype=np.float64)
        if values.shape != (len(X),) or not np.isfinite(values).all() or (values < 0).any():
            raise DataError(
                "A density must return one finite value >= 0 per row.", got=f"shape {values.shape}"
            )
        return values

    def cell_mass(self, grid: Grid) -> FloatArray:
        """Cell masses by the two-point Gauss rule per axis, normalised over the grid."""
        offset = 0.5 / np.sqrt(3)
        total = np.zeros(grid.n_cells)
        centre = np.stack(np.meshgrid(*grid.centres, indexing="ij"), axis=-1)
        centre = centre.reshape(grid.n_cells, -1)
        for corner in np.ndindex(*(2,) * len(grid.shape)):
            shift = (2 * np.array(corner) - 1) * offset * grid.side
            total += self.density(centre + shift)
        if not total.sum() > 0:
            raise NotEnoughEvidenceError("The density must be positive somewhere.", got="zero")
        return np.asarray(total / total.sum(), dtype=np.float64)

    def sample(self, n: int, seed: int = 0) -> FloatArray:
        """Rows by rejection under the largest density met on a trial sample."""
        rng = generator(seed, "density-profile-sample")
        trial = self.low + (self.high - self.low) * rng.random((20_000, len(self.low)))
        ceiling = 1.5 * float(self.density(trial).max())
        kept: list[FloatArray] = []
        while sum(map(len, kept)) < n:
            rows = self.low + (self.high - self.low) * rng.random((4 * n + 1000, len(self.low)))
            kept.append(rows[rng.random(len(rows)) * ceiling < self.density(rows)])
        return np.concatenate(kept)[:n]


def _check_table(shape: tuple[int, ...]) -> None:
    if len(shape) != 1:
        raise DataError(
            "A KDE profile takes rows of features, shape (n, d).",
            got=f"rows of shape {shape}",
            do="For images fit the profile in a latent space (reliability.PcaLatent).",
        )


def _prior_weights(y: ArrayLike | None, priors: dict[Any, float], n: int) -> FloatArray:
    if y is None:
        raise ParameterError("class_priors need the labels y of the rows.", got="no labels")
    labels = check_labels(y, n=n)
    values = {label.item() if hasattr(label, "item") else label for label in np.unique(labels)}
    if set(priors) != values or abs(sum(priors.values()) - 1) > 1e-6 or min(priors.values()) < 0:
        raise ParameterError(
            f"class_priors must give shares of {sorted(values, key=str)} that sum to 1.",
            got=repr(priors),
        )
    weights = np.zeros(n)
    for label, prior in priors.items():
        rows = labels == label
        weights[rows] = prior / rows.sum()
    return weights
