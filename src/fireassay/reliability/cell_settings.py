"""Where cells lie, how large they are, and which profile weighs them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray
from fireassay.core.errors import ParameterError
from fireassay.core.validation import check_real
from fireassay.reliability.build_result import separation_of
from fireassay.reliability.cell_shares import CellEstimator
from fireassay.reliability.cells import Grid, box
from fireassay.reliability.problem import Problem
from fireassay.reliability.profile import KdeProfile, Profile
from fireassay.reliability.ram import CentreDensity

_CELLS_BY_DIMENSION = {1: 250, 2: 250, 3: 60, 4: 20, 5: 10}


@dataclass(frozen=True)
class CellSettings:
    """How cells are laid and evaluated; None takes the defaults described in `assess`."""

    cells: int | tuple[int, ...] | None = None
    bounds: ArrayLike | None = None
    bandwidth: float | str | None = None
    samples: int = 10_000
    estimator: CellEstimator | None = None


def grid_of(problem: Problem, settings: CellSettings) -> Grid:
    """The grid asked for, or the default for the number of features."""
    X = problem.labelled.X
    d = X.shape[1]
    cells = settings.cells
    if cells is None:
        if d not in _CELLS_BY_DIMENSION:
            raise ParameterError(
                "A full grid of cells takes at most 5 features.",
                got=f"{d}",
                do="Take cells in a latent space: latent=reliability.PcaLatent(…), or --latent 3.",
            )
        cells = _CELLS_BY_DIMENSION[d]
    return Grid.regular(cells, bounds_of(X, settings), dimensions=d)


def bounds_of(X: FloatArray, settings: CellSettings) -> ArrayLike:
    """The bounds asked for, the unit cube if it holds the rows, or the range of the rows."""
    if settings.bounds is not None:
        return settings.bounds
    if X.min() >= 0 and X.max() <= 1:
        return (0.0, 1.0)
    margin = 0.05 * np.maximum(np.ptp(X, axis=0), 1e-6)
    return np.column_stack([X.min(axis=0) - margin, X.max(axis=0) + margin])


def profile_of(
    problem: Problem, settings: CellSettings, grid: Grid, priors: dict[Any, float] | None
) -> "CentreDensity | Profile":
    """The profile given, or a kernel density of operational (else labelled) rows."""
    if problem.profile is not None:
        return problem.profile
    rows = problem.labelled.X if problem.operational is None else problem.operational.X
    if priors is not None:
        labels = np.array(problem.classes)[problem.y]
        limits = np.column_stack([grid.low, grid.high])
        width = "loo" if settings.bandwidth is None else settings.bandwidth
        return KdeProfile(width, limits).fit(problem.labelled.X, labels, class_priors=priors)
    on_disk = problem.streamed is not None
    if isinstance(settings.bandwidth, str) or len(grid.shape) > 3 or on_disk:
        limits = np.column_stack([grid.low, grid.high])
        every: Any = problem.streamed.rows if problem.streamed is not None else rows
        return KdeProfile(settings.bandwidth or "loo", limits).fit(every, seed=problem.seed)
    if settings.bandwidth is None:
        return CentreDensity(rows, 0.2 * float((grid.high - grid.low).mean()))
    return CentreDensity(rows, check_real(settings.bandwidth, "bandwidth", low=0))


def cell_sides(problem: Problem, settings: CellSettings) -> tuple[FloatArray, FloatArray]:
    """Side lengths and origin of cells in any number of dimensions."""
    X = problem.labelled.X
    d = X.shape[1]
    low, high = box(bounds_of(X, settings), d)
    if settings.cells is not None:
        per_axis = np.broadcast_to(np.asarray(settings.cells, dtype=np.float64), (d,))
        return (high - low) / per_axis, low
    if d <= 2:
        return (high - low) / _CELLS_BY_DIMENSION[d], low
    separation = separation_of(problem)
    r = 0.0 if separation is None else separation.r
    side = r if r > 0 else float((high - low).mean()) / 1000
    return np.full(d, side), low
