"""The published assessment on a full grid of cells, with its contradictions beside it."""

from typing import Any

import pandas as pd
from scipy.stats import norm

from fireassay.reliability import ledger
from fireassay.reliability.build_result import build_result, exact_row, full_ledger
from fireassay.reliability.cell_settings import CellSettings, grid_of, profile_of
from fireassay.reliability.cell_shares import ExactTrees, estimator_for
from fireassay.reliability.cells import Grid
from fireassay.reliability.problem import Problem
from fireassay.reliability.profile import KdeProfile
from fireassay.reliability.ram import CentreDensity, Ram, assess_cells, refinement_curve
from fireassay.reliability.result import ReliabilityResult, empty_frame


def by_cells(
    problem: Problem, settings: CellSettings, class_priors: dict[Any, float] | None
) -> ReliabilityResult:
    """The paper's assessment on a full grid, with its contradictions."""
    X = problem.labelled.X
    grid = grid_of(problem, settings)
    profile = profile_of(problem, settings, grid, class_priors)
    estimator = settings.estimator or estimator_for(
        problem.model, settings.samples, problem.workers
    )
    common: dict[str, Any] = {
        "grid": grid,
        "profile": profile,
        "estimator": estimator,
        "n_classes": problem.n_classes,
        "seed": problem.seed,
    }
    ram = assess_cells(
        problem.predict, X, problem.y, alpha=problem.alpha, samples=settings.samples, **common
    )
    factors = _refinements(grid, exact=isinstance(estimator, ExactTrees))
    curve = refinement_curve(problem.predict, X, problem.y, factors=factors, **common)
    rows = [
        ("cells, published", ram.pmi, ram.pmi_upper, "none: contradicted in simulation"),
        (
            "cells, covariances kept",
            ram.pmi,
            min(1.0, ram.pmi + float(norm.isf(problem.alpha)) * ram.std_covariances),
            "none: labels of empty cells are the model's own",
        ),
        exact_row(problem),
    ]
    p = problem.contradiction(ram.pmi_upper)
    empty = float(ram.mass[ram.labels.kind == 1].sum())
    ranges = grid.high - grid.low
    unlike = (
        "Features have very different ranges, and the profile one bandwidth for all: scale them.",
    )
    notes = (
        *(unlike if ranges.max() > 10 * ranges.min() else ()),
        f"{empty:.1%} of the profile's mass is in cells that the model labelled itself.",
        "There it is right by definition, which is why the estimate shrinks as cells do.",
        f"If the published bound held, errors as many as seen would have probability {p:.2g}.",
        f"Cells: {ram.shares.method}.",
    )
    return build_result(
        problem,
        "ram",
        pmi=ram.pmi,
        low=0.0,
        upper=ram.pmi_upper,
        std=ram.std,
        comparison=rows,
        assumptions=(
            *full_ledger(problem, ram=ram, side=float(grid.side.max())),
            ledger.profile_fits(profile, grid, problem.seed),
        ),
        notes=notes,
        is_bound=False,
        ram=ram,
        refinement=curve,
        table=_bandwidth_band(profile, grid, ram),
    )


def _bandwidth_band(profile: Any, grid: Grid, ram: Ram) -> pd.DataFrame:
    if len(grid.shape) > 3 or not isinstance(profile, CentreDensity | KdeProfile):
        return empty_frame("bandwidth", "pmi")
    if isinstance(profile, KdeProfile):
        return profile.sensitivity(grid, ram.unastuteness)
    rows = []
    for factor in (0.1, 0.2, 0.5, 1.0, 2.0):
        mass = CentreDensity(profile.points, profile.bandwidth * factor).cell_mass(grid)
        rows.append((profile.bandwidth * factor, float(mass @ ram.unastuteness)))
    return pd.DataFrame(rows, columns=["bandwidth", "pmi"])


def _refinements(grid: Grid, *, exact: bool) -> tuple[float, ...]:
    d = len(grid.shape)
    if exact and d <= 2 and max(grid.shape) <= 550:
        return (0.2, 0.4, 1.0, 2.0, 4.0)
    return (0.2, 0.4, 1.0, 2.0) if exact and d <= 2 else (0.2, 0.4, 1.0)
