"""What every mode's result shares: the exact row, the ledger, confusions, provenance."""

import numpy as np
import pandas as pd

from fireassay.core.evidence import Assumption
from fireassay.reliability import ledger
from fireassay.reliability.confusions import confusion_rates
from fireassay.reliability.problem import Problem
from fireassay.reliability.ram import Ram
from fireassay.reliability.result import ReliabilityResult, comparison_frame, empty_frame
from fireassay.reliability.separation import Separation, r_separation
from fireassay.statistics.clopper_pearson import clopper_pearson

_MOST_ROWS_FOR_R = 1000
_EXACT = "holds if labels are independent draws from the profile"


def build_result(
    problem: Problem,
    mode: str,
    *,
    pmi: float,
    low: float,
    upper: float,
    std: float,
    comparison: list[tuple[str, float, float, str]],
    assumptions: tuple[Assumption, ...],
    notes: tuple[str, ...],
    is_bound: bool = True,
    ram: Ram | None = None,
    refinement: pd.DataFrame | None = None,
    table: pd.DataFrame | None = None,
    contradiction: float | None = None,
    cells: pd.DataFrame | None = None,
    acu: float = float("nan"),
    evaluated_mass: float = 1.0,
) -> ReliabilityResult:
    """A result with everything that follows from the problem alone."""
    inputs, y = problem.held_out if problem.held_out is not None else (problem.labelled, problem.y)
    errors = int((inputs.predicted != y).sum())
    if ram is not None:
        cells, acu = ram.cells, ram.acu
    return ReliabilityResult(
        mode=mode,
        pmi=pmi,
        pmi_lower=low,
        pmi_upper=upper,
        std=std,
        acu=acu,
        alpha=problem.alpha,
        n_labels=len(y),
        n_errors=errors,
        n_operational=problem.n_operational,
        cells=empty_frame("kind", "unastuteness", "mass") if cells is None else cells,
        assumptions=assumptions,
        contradiction_p=problem.contradiction(upper) if contradiction is None else contradiction,
        refinement=empty_frame("cells_per_axis", "pmi", "acu")
        if refinement is None
        else refinement,
        comparison=comparison_frame(comparison),
        confusions=confusion_rates(y, inputs.predicted, problem.classes, problem.alpha),
        sensitivity=empty_frame("pmi_upper") if table is None else table,
        is_bound=is_bound,
        std_covariances=float("nan") if ram is None else ram.std_covariances,
        evaluated_mass=evaluated_mass,
        cell_shape=() if ram is None else ram.grid.shape,
        notes=notes,
        provenance=problem.provenance(),
    )


def exact_row(problem: Problem) -> tuple[str, float, float, str]:
    """Clopper-Pearson on the labels, for comparison."""
    inputs, y = problem.held_out if problem.held_out is not None else (problem.labelled, problem.y)
    errors = int((inputs.predicted != y).sum())
    upper = clopper_pearson(errors, len(y), 1 - problem.alpha, "upper")[1]
    return ("Clopper-Pearson", errors / len(y), float(upper), _EXACT)


def full_ledger(
    problem: Problem,
    *,
    ram: Ram | None = None,
    side: float | None = None,
    weights: str | None = None,
) -> tuple[Assumption, ...]:
    """The paper's six assumptions, and what every bound needs beside them."""
    X = problem.labelled.X
    grid = None if ram is None else ram.grid
    return (
        ledger.independent_cells(ram),
        ledger.separation_found(separation_of(problem), side),
        ledger.labels_from_profile(problem.drift(), weights),
        ledger.one_label_per_cell(ram),
        ledger.vote_is_right(ram, X, problem.y),
        ledger.uniform_in_cells(grid, X),
        ledger.independent_inputs(problem.wrong),
        ledger.labels_are_right(),
    )


def separation_of(problem: Problem) -> Separation | None:
    """r-separation of the labelled rows (of the first ones, where there are many features)."""
    X, y = problem.labelled.X, problem.y
    if len(np.unique(y)) < 2 or (len(X) > _MOST_ROWS_FOR_R and X.shape[1] > 15):
        X, y = X[:_MOST_ROWS_FOR_R], y[:_MOST_ROWS_FOR_R]
    return r_separation(X, y) if len(np.unique(y)) > 1 else None
