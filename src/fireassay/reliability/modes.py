"""From a checked problem to a result, one function per mode."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from fireassay.core.errors import DataError, NotEnoughEvidenceError, ParameterError
from fireassay.core.evidence import Assumption
from fireassay.core.validation import check_real
from fireassay.reliability import ledger
from fireassay.reliability.build_result import (
    build_result,
    exact_row,
    full_ledger,
    separation_of,
)
from fireassay.reliability.cell_shares import CellEstimator, ExactTrees, estimator_for
from fireassay.reliability.cells import Grid, box
from fireassay.reliability.conservative_bayes import (
    ConservativePrior,
    conservative_upper,
    sensitivity,
)
from fireassay.reliability.density_ratio import estimated_weights
from fireassay.reliability.problem import Problem, too_few_labels
from fireassay.reliability.profile import KdeProfile, Profile
from fireassay.reliability.ram import CentreDensity, Ram, assess_cells, refinement_curve
from fireassay.reliability.rectified import rectified_bound
from fireassay.reliability.result import ReliabilityResult, empty_frame
from fireassay.reliability.surrogate import Inputs, Risk, fit_risk, user_risk
from fireassay.reliability.worst_case import worst_case_interval
from fireassay.statistics.clopper_pearson import clopper_pearson

FloatArray = NDArray[np.float64]
_CELLS_BY_DIMENSION = {1: 250, 2: 250, 3: 60, 4: 20, 5: 10}


@dataclass(frozen=True)
class CellSettings:
    """How cells are laid and evaluated; None takes the defaults described in `assess`."""

    cells: int | tuple[int, ...] | None = None
    bounds: ArrayLike | None = None
    bandwidth: float | str | None = None
    samples: int = 10_000
    estimator: CellEstimator | None = None


def rectified(
    problem: Problem, surrogate: Any, weights: Any, weight_bound: float | None
) -> ReliabilityResult:
    """The default: labels, operational rows and a surrogate."""
    risk = _risk(problem, surrogate)
    kind, values, bound = _weights(problem, weights, weight_bound)
    found = rectified_bound(
        problem.labelled,
        problem.y,
        problem.operational,
        alpha=problem.alpha,
        risk=risk,
        weights=values,
        weight_bound=bound,
        seed=problem.seed,
    )
    rows = [("headline", found.pmi, found.pmi_upper, "holds" if kind != "estimated" else "none")]
    if kind is None:
        share = found.betting_share
        claim = "holds"
        rows.append(
            (f"Clopper-Pearson at {1 - share:.1f} α", found.pmi, found.clopper_pearson, claim)
        )
        if share:
            rows.append((f"rectified betting at {share:.1f} α", found.pmi, found.betting, claim))
        rows.append(exact_row(problem))
    rows.append(
        ("prediction-powered, normal", found.pmi, min(1.0, found.normal_upper), "asymptotic")
    )
    notes = [*too_few_labels(len(problem.y), problem.alpha)]
    if problem.operational is None or len(problem.operational) < len(problem.y):
        notes.append("With fewer operational rows than labels the bound rests on the labels alone.")
    elif kind is None:
        notes.append(
            f"The surrogate explains {max(0.0, found.explained):.0%} of the errors' variance."
        )
    if problem.shared_rows:
        notes.append(
            f"{problem.shared_rows} operational rows are labelled rows as well and were left out."
        )
    if kind is not None and weight_bound is None:
        notes.append(
            f"The largest given weight, {bound:.3g}, is taken as the largest possible one."
        )
    low = float(clopper_pearson(problem.wrong.sum(), len(problem.y), 1 - problem.alpha, "lower")[0])
    return build_result(
        problem,
        "rectified",
        pmi=found.pmi,
        low=min(low, found.pmi) if kind is None else 0.0,
        upper=found.pmi_upper,
        std=found.std,
        comparison=rows,
        assumptions=full_ledger(problem, weights=kind),
        notes=tuple(notes),
        is_bound=kind != "estimated",
        contradiction=float("nan") if kind else None,
    )


def conservative(problem: Problem, prior: ConservativePrior | None) -> ReliabilityResult:
    """Conservative Bayesian inference from the labels and a partly stated prior."""
    prior = ConservativePrior() if prior is None else prior
    n, errors = len(problem.y), int(problem.wrong.sum())
    notes = [
        f"Prior: P(pmi ≤ {prior.epsilon:g}) = {prior.theta:g}, pmi ≥ {prior.floor:g}.",
        "The prior has to be argued for; see the sensitivity table.",
        *too_few_labels(n, problem.alpha),
    ]
    try:
        upper = conservative_upper(errors, n, prior, problem.alpha)
    except NotEnoughEvidenceError as refusal:
        upper = 1.0
        notes.insert(0, str(refusal))
    rows = [("conservative Bayes", errors / n, upper, "holds given the prior"), exact_row(problem)]
    belief = Assumption(
        f"Before testing, P(pmi ≤ {prior.epsilon:g}) = {prior.theta:g} and pmi ≥ {prior.floor:g}.",
        "untestable",
        "A prior belief; the data cannot confirm it.",
    )
    rate = errors / n
    return build_result(
        problem,
        "conservative-bayes",
        pmi=rate,
        low=0.0,
        upper=max(upper, rate),
        std=float(np.sqrt(rate * (1 - rate) / n)),
        comparison=rows,
        assumptions=(belief, *full_ledger(problem)),
        notes=tuple(notes),
        table=sensitivity(errors, n, prior, problem.alpha),
    )


def worst_case(problem: Problem, settings: CellSettings) -> ReliabilityResult:
    """Nothing is assumed about cells without labels."""
    labelled, y, field = problem.labelled, problem.y, problem.operational
    notes: list[str] = []
    if field is None:
        if len(y) < 2:
            raise NotEnoughEvidenceError(
                "Mode 'worst-case' needs operational rows, or at least 2 labelled ones.",
                got=f"{len(y)} labelled row(s)",
            )
        # Rows that label cells must not be the rows that show how often cells come.
        half = len(y) // 2
        labelled, y, field = (
            labelled.take(slice(0, half)),
            y[:half],
            labelled.take(slice(half, None)),
        )
        notes.append("Without operational rows, half of the labelled rows stand for them.")
    side, origin = _cell_sides(problem, settings)
    found = worst_case_interval(labelled, y, field, side=side, origin=origin, alpha=problem.alpha)
    notes.append(
        f"{found.unseen:.1%} of operational rows are in cells without one label; there the model "
        "counts as wrong every time."
    )
    rows = [
        ("worst case", found.identified_low, found.high, "holds if a cell has one true label"),
        exact_row(problem),
    ]
    middle = (found.identified_low + found.identified_high) / 2
    return build_result(
        problem,
        "worst-case",
        pmi=min(max(middle, found.low), found.high),
        low=found.low,
        upper=found.high,
        std=float("nan"),
        comparison=rows,
        assumptions=full_ledger(problem, side=float(side.max())),
        notes=tuple(notes),
    )


def by_cells(
    problem: Problem, settings: CellSettings, class_priors: dict[Any, float] | None
) -> ReliabilityResult:
    """The paper's assessment on a full grid, with its contradictions."""
    X = problem.labelled.X
    grid = _grid(problem, settings)
    profile = _profile(problem, settings, grid, class_priors)
    estimator = settings.estimator or estimator_for(problem.model, settings.samples)
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
    notes = (
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


def _risk(problem: Problem, surrogate: Any) -> Risk | None:
    if surrogate is None:
        return None
    if callable(surrogate):
        return user_risk(surrogate, problem.row_shape)
    if isinstance(surrogate, tuple | list) and len(surrogate) == 2:
        from fireassay.core.validation import check_class_indices, check_features

        rows = check_features(surrogate[0], name="surrogate X")
        y = check_class_indices(
            surrogate[1], problem.model.classes, name="surrogate y", n=len(rows)
        )
        flat = rows.reshape(len(rows), -1).astype(np.float64)
        return fit_risk(Inputs(flat, problem.model.predict_proba(rows)), y)
    raise ParameterError(
        "The 'surrogate' must be None, a pair (X_fit, y_fit) or a function of rows.",
        got=type(surrogate).__name__,
    )


def _weights(
    problem: Problem, weights: Any, weight_bound: float | None
) -> tuple[str | None, FloatArray | None, float | None]:
    if weights is None:
        return None, None, None
    if isinstance(weights, str):
        if weights != "estimate" or problem.operational is None:
            raise ParameterError(
                "weights must be an array, a function, or 'estimate' (with operational rows).",
                got=repr(weights),
            )
        values = estimated_weights(problem.labelled.X, problem.operational.X, problem.seed)
        return "estimated", values, float(values.max())
    n = len(problem.y)
    raw = (
        weights(problem.labelled.X.reshape(n, *problem.row_shape)) if callable(weights) else weights
    )
    values = np.asarray(raw, dtype=np.float64)
    if values.shape != (n,) or not np.isfinite(values).all() or (values < 0).any():
        raise DataError(
            "weights must be one finite number >= 0 per labelled row: profile over label density.",
            got=f"shape {values.shape}",
        )
    if not values.max() > 0:
        raise DataError("At least one weight must be positive.", got="all zero")
    largest = float(values.max())
    if weight_bound is not None:
        largest = check_real(weight_bound, "weight_bound", low=largest, inclusive="low")
    return "given", values, largest


def _grid(problem: Problem, settings: CellSettings) -> Grid:
    X = problem.labelled.X
    d = X.shape[1]
    cells = settings.cells
    if cells is None:
        if d not in _CELLS_BY_DIMENSION:
            raise ParameterError(
                "A full grid of cells takes at most 5 features.",
                got=f"{d}",
                do="Pass latent=reliability.PcaLatent(...) for cells in a latent space.",
            )
        cells = _CELLS_BY_DIMENSION[d]
    return Grid.regular(cells, _bounds(X, settings), dimensions=d)


def _bounds(X: FloatArray, settings: CellSettings) -> ArrayLike:
    if settings.bounds is not None:
        return settings.bounds
    if X.min() >= 0 and X.max() <= 1:
        return (0.0, 1.0)
    margin = 0.05 * np.maximum(np.ptp(X, axis=0), 1e-6)
    return np.column_stack([X.min(axis=0) - margin, X.max(axis=0) + margin])


def _profile(
    problem: Problem, settings: CellSettings, grid: Grid, priors: dict[Any, float] | None
) -> "CentreDensity | Profile":
    if problem.profile is not None:
        return problem.profile
    rows = problem.labelled.X if problem.operational is None else problem.operational.X
    if priors is not None:
        labels = np.array(problem.classes)[problem.y]
        limits = np.column_stack([grid.low, grid.high])
        width = "loo" if settings.bandwidth is None else settings.bandwidth
        return KdeProfile(width, limits).fit(problem.labelled.X, labels, class_priors=priors)
    if isinstance(settings.bandwidth, str) or len(grid.shape) > 3:
        limits = np.column_stack([grid.low, grid.high])
        return KdeProfile(settings.bandwidth or "loo", limits).fit(rows, seed=problem.seed)
    if settings.bandwidth is None:
        return CentreDensity(rows, 0.2 * float((grid.high - grid.low).mean()))
    return CentreDensity(rows, check_real(settings.bandwidth, "bandwidth", low=0))


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


def _cell_sides(problem: Problem, settings: CellSettings) -> tuple[FloatArray, FloatArray]:
    X = problem.labelled.X
    d = X.shape[1]
    low, high = box(_bounds(X, settings), d)
    if settings.cells is not None:
        per_axis = np.broadcast_to(np.asarray(settings.cells, dtype=np.float64), (d,))
        return (high - low) / per_axis, low
    if d <= 2:
        return (high - low) / _CELLS_BY_DIMENSION[d], low
    separation = separation_of(problem)
    r = 0.0 if separation is None else separation.r
    side = r if r > 0 else float((high - low).mean()) / 1000
    return np.full(d, side), low
