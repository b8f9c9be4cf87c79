"""The paper's own strawman: the mean local unastuteness of the test rows."""

import numpy as np
from scipy.stats import norm

from fireassay.core.errors import NotEnoughEvidenceError
from fireassay.core.seeds import derived_seed
from fireassay.core.validation import check_real
from fireassay.reliability.build_result import (
    build_result,
    exact_row,
    full_ledger,
    separation_of,
)
from fireassay.reliability.cell_settings import CellSettings
from fireassay.reliability.problem import Problem
from fireassay.reliability.rare_events import MonteCarlo, map_boxes
from fireassay.reliability.result import ReliabilityResult
from fireassay.reliability.splitting import ball_problem

_MOST_QUERIES = 2_000_000


def naive(problem: Problem, settings: CellSettings, radius: float | None) -> ReliabilityResult:
    """Average the failure probability of a small ball around every test row.

    The radius comes from r-separation. The number looks like a reliability estimate, but it only
    smears each test row a little: it says no more than the test error.
    """
    if radius is None:
        separation = separation_of(problem)
        if separation is None or separation.r <= 0:
            raise NotEnoughEvidenceError(
                "Mode 'naive' takes its ball radius from the distance between two classes.",
                got="one class, or equal rows of two classes",
                do="Pass radius=.",
            )
        radius = separation.r
    check_real(radius, "radius", low=0)
    n = len(problem.y)
    draws = int(np.clip(_MOST_QUERIES // n, 10, settings.samples))
    rows = problem.labelled.X.reshape(n, *problem.row_shape)
    margin, low, high = ball_problem(problem.model, rows, radius)
    seed = derived_seed(problem.seed, "naive")
    found = map_boxes(MonteCarlo(draws), margin, low, high, problem.y, seed, problem.workers)
    local = np.exp(found.log_p)
    pmi = float(local.mean())
    std = float(local.std(ddof=1) / np.sqrt(n)) if n > 1 else 1.0
    upper = min(1.0, pmi + float(norm.isf(problem.alpha)) * std)
    comparison = [
        ("mean local unastuteness", pmi, upper, "none: normal approximation over test rows"),
        exact_row(problem),
    ]
    return build_result(
        problem,
        "naive",
        pmi=pmi,
        low=0.0,
        upper=upper,
        std=std,
        comparison=comparison,
        assumptions=full_ledger(problem),
        notes=(f"Balls of radius {radius:.3g} (L∞), {draws} draws each.",),
        is_bound=False,
        acu=pmi,
    )
