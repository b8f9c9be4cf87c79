"""The published assessment by cells, with its contradictions beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.errors import ParameterError
from fireassay.core.lazy import pd, stats
from fireassay.core.validation import check_integer, check_real
from fireassay.core.words import percent
from fireassay.reliability.cell_details import GridCells
from fireassay.reliability.cell_shares import CellEstimator, ExactTrees, estimator_for
from fireassay.reliability.cells import EMPTY, Grid, box_around, default_cells
from fireassay.reliability.label_bounds import exact_row
from fireassay.reliability.latent import Latent, TopCells, by_latent_cells
from fireassay.reliability.ledger import full_ledger, profile_fits
from fireassay.reliability.problem import Problem
from fireassay.reliability.profile import KdeProfile, Profile
from fireassay.reliability.result import ReliabilityResult, build_result
from fireassay.reliability.weighted_cells import (
    CellStudy,
    CentreDensity,
    WeightedCells,
    assess_cells,
    refinement_curve,
)

_SAMPLES, _POINTS = 10_000, 1_024


@dataclass(frozen=True)
class Ram:
    """The published assessment by cells, for comparison; its bound does not hold.

    Args:
        cells, bounds: Cells per axis (250 in two dimensions), and the box they divide.
        bandwidth: Of the profile: 0.2 of the box if None; "loo" for the best one with folded
            borders.
        samples: Draws per cell that is sampled (1,024, one to a stratum). Exact cells need none;
            the published variance is that of 10,000.
        radius: With ``latent``: radius of the pixel ball; from r-separation if None.
        latent, top: On images: the latent space whose cells are used, and which of them.
        estimator: How class shares of cells are found, instead of the automatic choice.
        class_priors: How often each class comes in operation.
        held_out: ``(X, y)`` on which errors are counted, where the labelled rows hold training rows
            as well.

    >>> from fireassay.reliability import assess
    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = (np.arange(100)[:, None] + 0.5) / 100
    >>> found = assess(half, X, X[:, 0] > 0.5, method=Ram(cells=20, samples=50))
    >>> found.details.pmi, round(found.pmi_upper, 5), found.is_bound  # the cells vote for it
    (0.0, 0.00037, False)
    """

    cells: int | tuple[int, ...] | None = None
    bounds: ArrayLike | None = None
    bandwidth: float | str | None = None
    samples: int | None = None
    radius: float | None = None
    latent: Latent | None = None
    top: TopCells | None = None
    estimator: CellEstimator | None = None
    class_priors: dict[Any, float] | None = None
    held_out: tuple[ArrayLike, ArrayLike] | None = None

    name: ClassVar[str] = "ram"
    summary: ClassVar[str] = "the published assessment by cells, for comparison; claims nothing"
    uses: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.samples is not None:
            check_integer(self.samples, "samples", low=2)
        grid_only = ("cells", "bounds", "samples", "estimator", "class_priors")
        unused = grid_only if self.latent is not None else ("top", "radius")
        given = [name for name in unused if getattr(self, name) is not None]
        if given:
            where = "without" if self.latent is not None else "with"
            raise ParameterError(
                f"{', '.join(given)} can be used {where} latent= only.",
                got=f"latent={self.latent!r}",
            )

    def run(self, problem: Problem) -> ReliabilityResult:
        """Weigh cells by the profile, and say what contradicts it."""
        if self.held_out is not None:
            problem = problem.judged_on(self.held_out)
        if self.latent is None:
            return self._by_grid(problem)
        top = TopCells() if self.top is None else self.top
        return by_latent_cells(problem, self.latent, top, self.bandwidth, self.radius)

    def _by_grid(self, problem: Problem) -> ReliabilityResult:
        X = problem.labelled.X
        d = X.shape[1]
        cells = default_cells(d) if self.cells is None else self.cells
        bounds = box_around(X) if self.bounds is None else self.bounds
        grid = Grid.regular(cells, bounds, dimensions=d)
        profile = self._profile(problem, grid)
        estimator = self.estimator or estimator_for(
            problem.model, self.samples or _POINTS, problem.workers
        )
        exact = isinstance(estimator, ExactTrees)
        usual = _SAMPLES if exact else int(getattr(estimator, "samples", _POINTS))
        samples = max(2, self.samples or usual)
        study = CellStudy(
            problem.predict, X, problem.y, profile, estimator, problem.n_classes, problem.seed
        )
        found = assess_cells(study, grid, alpha=problem.alpha, samples=samples)
        p = problem.contradiction(found.pmi_upper)
        details = GridCells(
            pmi=found.pmi,
            pmi_upper=found.pmi_upper,
            acu=found.acu,
            cells=found.cells,
            contradiction_p=p,
            std=found.std,
            std_covariances=found.std_covariances,
            shape=grid.shape,
            refinement=refinement_curve(study, grid, _refinements(grid, exact=exact)),
            sensitivity=_bandwidth_band(profile, grid, found),
        )
        kept = found.pmi + float(stats.norm.isf(problem.alpha)) * found.std_covariances
        own = "none: labels of empty cells are the model's own"
        first = ("cells, published", found.pmi, found.pmi_upper, "none: contradicted in simulation")
        if found.total is not None:
            how = f"cells, {found.total.drawn:,} points drawn by mass, exact binomial"
            first = (how, found.pmi, found.pmi_upper, f"for this profile; {own[6:]}")
        second = ("cells, covariances kept", found.pmi, min(1.0, kept), own)
        assumptions = full_ledger(problem, cells=found, side=float(grid.side.max()))
        return build_result(
            problem,
            self.name,
            details,
            limits=(0.0, found.pmi, found.pmi_upper),
            comparison=[first, second, exact_row(problem)],
            assumptions=(*assumptions, profile_fits(profile, grid, problem.seed)),
            notes=_notes(grid, found, p),
            is_bound=False,
        )

    def _profile(self, problem: Problem, grid: Grid) -> CentreDensity | Profile:
        """The profile given, or a kernel density of operational (else labelled) rows."""
        if problem.profile is not None:
            if self.bandwidth is not None or self.class_priors is not None:
                raise ParameterError(
                    "bandwidth and class_priors make a profile from rows.",
                    got="a profile that is one already",
                )
            return problem.profile
        rows = problem.labelled.X if problem.operational is None else problem.operational.X
        limits = np.column_stack([grid.low, grid.high])
        width: float | str = "loo" if self.bandwidth is None else self.bandwidth
        if self.class_priors is not None:
            labels = np.array(problem.classes)[problem.y]
            return KdeProfile(width, limits).fit(
                problem.labelled.X, labels, class_priors=self.class_priors
            )
        on_disk = problem.on_disk
        if isinstance(self.bandwidth, str) or len(grid.shape) > 3 or on_disk is not None:
            every: Any = rows if on_disk is None else on_disk.rows
            return KdeProfile(width, limits).fit(every, seed=problem.seed)
        if self.bandwidth is None:
            return CentreDensity(rows, 0.2 * float((grid.high - grid.low).mean()))
        return CentreDensity(rows, check_real(self.bandwidth, "bandwidth", low=0))


def _notes(grid: Grid, found: WeightedCells, p: float) -> tuple[str, ...]:
    empty = float(found.mass[found.labels.kind == EMPTY].sum())
    ranges = grid.high - grid.low
    unlike = (
        "Features have very different ranges, and the profile one bandwidth for all: scale them.",
    )
    return (
        *(unlike if ranges.max() > 10 * ranges.min() else ()),
        f"{percent(empty, 1)} of the profile's mass is in cells that the model labelled itself.",
        "There it is right by definition, which is why the estimate shrinks as cells do.",
        f"If the published bound held, errors as many as seen would have probability {p:.2g}.",
        f"Cells: {found.shares.method}.",
    )


def _bandwidth_band(profile: Any, grid: Grid, found: WeightedCells) -> pd.DataFrame:
    if isinstance(profile, KdeProfile) and len(grid.shape) <= 3:
        return profile.sensitivity(grid, found.unastuteness)
    rows = []
    if isinstance(profile, CentreDensity) and len(grid.shape) <= 3:
        for width in profile.bandwidth * np.array([0.1, 0.2, 0.5, 1.0, 2.0]):
            mass = CentreDensity(profile.points, float(width)).cell_mass(grid)
            rows.append((width, float(mass @ found.unastuteness)))
    return pd.DataFrame(rows, columns=["bandwidth", "pmi"]).astype(float)


def _refinements(grid: Grid, *, exact: bool) -> tuple[float, ...]:
    if not exact or len(grid.shape) > 2:
        return (0.2, 0.4, 1.0)
    return (0.2, 0.4, 1.0, 2.0, 4.0) if max(grid.shape) <= 550 else (0.2, 0.4, 1.0, 2.0)
