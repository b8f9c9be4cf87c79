"""From a checked problem to a result: the modes that rest on labels alone."""

from typing import Any

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError, NotEnoughEvidenceError, ParameterError
from fireassay.core.evidence import Assumption
from fireassay.core.validation import check_class_indices, check_features, check_real
from fireassay.reliability.build_result import build_result, exact_row, full_ledger
from fireassay.reliability.cell_settings import CellSettings, cell_sides
from fireassay.reliability.conservative_bayes import (
    ConservativePrior,
    conservative_upper,
    sensitivity,
)
from fireassay.reliability.density_ratio import estimated_weights
from fireassay.reliability.problem import Problem, too_few_labels
from fireassay.reliability.rectified import rectified_bound
from fireassay.reliability.result import ReliabilityResult
from fireassay.reliability.surrogate import Inputs, Risk, fit_risk, user_risk
from fireassay.reliability.worst_case import worst_case_interval
from fireassay.statistics.clopper_pearson import clopper_pearson


def rectified(
    problem: Problem, surrogate: Any, weights: Any, weight_bound: float | None
) -> ReliabilityResult:
    """The default: labels, operational rows and a surrogate."""
    risk = _risk(problem, surrogate)
    kind, values, bound = _weights(problem, weights, weight_bound)
    found = rectified_bound(
        problem.labelled,
        problem.y,
        problem.field,
        alpha=problem.alpha,
        risk=risk,
        weights=values,
        weight_bound=bound,
        seed=problem.seed,
    )
    assumptions = full_ledger(problem, weights=kind)
    shifted = any(a.status == "contradicted" and "assumption 3" in a.statement for a in assumptions)
    claim = "none" if kind == "estimated" else "holds"
    claim = "does not hold: labels not from the profile" if shifted else claim
    rows = [("headline", found.pmi, found.pmi_upper, claim)]
    if kind is None:
        share = found.betting_share
        if share:
            exact, betting = found.clopper_pearson, found.betting
            rows.append((f"Clopper-Pearson at {1 - share:.1f} α", found.pmi, exact, claim))
            rows.append((f"rectified betting at {share:.1f} α", found.pmi, betting, claim))
        rows.append(exact_row(problem))
    rows.append(
        ("prediction-powered, normal", found.pmi, min(1.0, found.normal_upper), "asymptotic")
    )
    notes = [*too_few_labels(len(problem.y), problem.alpha)]
    if problem.n_operational < len(problem.y):
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
        assumptions=assumptions,
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
    labelled, y, field = problem.labelled, problem.y, problem.field
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
    side, origin = cell_sides(problem, settings)
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


def _risk(problem: Problem, surrogate: Any) -> Risk | None:
    if surrogate is None:
        return None
    if callable(surrogate):
        return user_risk(surrogate, problem.row_shape)
    if isinstance(surrogate, tuple | list) and len(surrogate) == 2:
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
