"""Cox's proportional hazards with Efron's ties, and a check of proportionality."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import AnyArray, IntArray
from fireassay.core.lazy import pd, stats
from fireassay.survival.aft import maximise
from fireassay.survival.likelihood import Totals
from fireassay.survival.times import Times


@dataclass(frozen=True)
class CoxSolution:
    """Coefficients, information, baseline and score residuals of a Cox model."""

    # ``drift`` is for coefficients that change with ranked time g: Σ g (x − x̄), Σ g V and Σ g² V.

    beta: AnyArray
    log_likelihood: float
    log_likelihood_null: float
    information: AnyArray
    converged: bool
    baseline_times: AnyArray
    baseline_hazard: AnyArray
    residuals: AnyArray
    drift: tuple[AnyArray, AnyArray, AnyArray]


@dataclass(frozen=True)
class _RiskSets:
    """Rows sorted by time, with the tied failures of each time."""

    order: IntArray
    first_at_risk: IntArray
    tie_of_event: IntArray
    fraction: AnyArray
    event_rows: IntArray
    tie_starts: IntArray
    tie_times: AnyArray
    rank_of_row: IntArray
    ranked_times: AnyArray


def solve_cox(times: Times, matrix: AnyArray, *, ridge: float = 0.0) -> CoxSolution:
    """Fit Cox's model; an interval-censored failure counts at its upper end, when it was seen."""
    sets = _risk_sets(times)
    sorted_matrix = matrix[sets.order]
    n = len(times)

    def derivatives(beta: AnyArray) -> Totals:
        value, gradient, hessian, *_ = _partial_likelihood(beta, sets, sorted_matrix)
        return Totals(
            value - 0.5 * n * ridge * float(beta @ beta),
            gradient - n * ridge * beta,
            hessian - n * ridge * np.eye(len(beta)),
        )

    zero = np.zeros(matrix.shape[1])
    found = maximise(derivatives, lambda beta: derivatives(beta).value, zero)
    value, _, hessian, increments, means, risk = _partial_likelihood(
        found.theta, sets, sorted_matrix
    )
    drift = _drift(sets, sorted_matrix, risk, increments, means)
    jumps = np.add.reduceat(increments, sets.tie_starts)
    residuals = np.empty_like(matrix)
    residuals[sets.order] = _score_residuals(sets, sorted_matrix, risk, increments, means)
    return CoxSolution(
        found.theta,
        value,
        _partial_likelihood(zero, sets, sorted_matrix)[0],
        -hessian + n * ridge * np.eye(len(zero)),
        found.converged,
        sets.tie_times,
        np.cumsum(jumps),
        residuals,
        drift,
    )


def proportional_hazards_check(
    solution: CoxSolution, names: tuple[str, ...], spread: AnyArray
) -> pd.DataFrame:
    """Score test (R's cox.zph since survival 3.0) of effects that drift with ranked time."""
    # ``slope`` is the drift per rank, one Newton step from zero.
    score, border, square = solution.drift
    inner = square - border @ np.linalg.solve(solution.information, border)
    own = np.diag(inner)
    chi_square = np.divide(score**2, own, out=np.zeros_like(score), where=own > 0)
    joint = float(score @ np.linalg.pinv(inner) @ score)
    slope = np.divide(score, own, out=np.zeros_like(score), where=own > 0)
    rows = [*chi_square, joint]
    freedom = [1] * len(names) + [len(names)]
    return pd.DataFrame(
        {
            "chi_square": rows,
            "df": freedom,
            "p": [float(stats.chi2.sf(c, f)) for c, f in zip(rows, freedom, strict=True)],
            "slope": [*(slope / spread), np.nan],
        },
        index=pd.Index([*names, "all together"], name="covariate"),
    )


def _risk_sets(times: Times) -> _RiskSets:
    seen, failed = times.seen, times.failed
    order = np.lexsort((~failed, seen))
    at = seen[order]
    event_rows = np.flatnonzero(failed[order])
    tie_times, starts, tie_of_event = np.unique(
        at[event_rows], return_index=True, return_inverse=True
    )
    counts = np.bincount(tie_of_event)
    place = np.arange(len(event_rows)) - starts[tie_of_event]
    return _RiskSets(
        order,
        np.searchsorted(at, tie_times, side="left"),
        tie_of_event.astype(np.int64),
        place / counts[tie_of_event],
        event_rows,
        starts.astype(np.int64),
        tie_times,
        np.searchsorted(tie_times, at, side="right"),
        stats.rankdata(at)[event_rows],
    )


def _from_end(values: AnyArray) -> AnyArray:
    return np.cumsum(values[::-1], axis=0)[::-1]


def _partial_likelihood(
    beta: AnyArray, sets: _RiskSets, matrix: AnyArray
) -> tuple[float, AnyArray, AnyArray, AnyArray, AnyArray, AnyArray]:
    """Value, gradient, Hessian, hazard increments, mean covariates per failure, and risks."""
    eta = matrix @ beta
    shift = float(eta.max(initial=0.0))
    risk = np.exp(eta - shift)
    tie, fraction = sets.tie_of_event, sets.fraction
    total = _from_end(risk)[sets.first_at_risk]
    weighted = _from_end(risk[:, None] * matrix)[sets.first_at_risk]
    tied_risk = np.add.reduceat(risk[sets.event_rows], sets.tie_starts)
    tied_weighted = np.add.reduceat(
        risk[sets.event_rows, None] * matrix[sets.event_rows], sets.tie_starts, axis=0
    )
    level = total[tie] - fraction * tied_risk[tie]
    means = (weighted[tie] - fraction[:, None] * tied_weighted[tie]) / level[:, None]
    value = float(eta[sets.event_rows].sum() - (np.log(level) + shift).sum())
    gradient = (matrix[sets.event_rows] - means).sum(axis=0)
    increments = 1.0 / level
    hessian = -_information(sets, matrix, risk, increments, means, np.ones(len(level)))
    return value, gradient, hessian, increments * np.exp(-shift), means, risk * np.exp(shift)


def _information(
    sets: _RiskSets,
    matrix: AnyArray,
    risk: AnyArray,
    increments: AnyArray,
    means: AnyArray,
    weights: AnyArray,
) -> AnyArray:
    """Sum over failures of weight × variance of the covariates among those at risk."""
    steps = weights * increments
    exposure = risk * _cumulative(sets, steps)
    thinning = np.add.reduceat(sets.fraction * steps, sets.tie_starts)
    exposure[sets.event_rows] -= risk[sets.event_rows] * thinning[sets.tie_of_event]
    return np.asarray(
        matrix.T @ (matrix * exposure[:, None]) - means.T @ (means * weights[:, None])
    )


def _drift(
    sets: _RiskSets, matrix: AnyArray, risk: AnyArray, increments: AnyArray, means: AnyArray
) -> tuple[AnyArray, AnyArray, AnyArray]:
    centred = sets.ranked_times - sets.ranked_times.mean()
    score = centred @ (matrix[sets.event_rows] - means)
    border = _information(sets, matrix, risk, increments, means, centred)
    return score, border, _information(sets, matrix, risk, increments, means, centred**2)


def _cumulative(sets: _RiskSets, increments: AnyArray) -> AnyArray:
    """Cumulative hazard at each sorted row's time."""
    steps = np.append(0.0, np.cumsum(np.add.reduceat(increments, sets.tie_starts)))
    return np.asarray(steps[sets.rank_of_row])


def _score_residuals(
    sets: _RiskSets, matrix: AnyArray, risk: AnyArray, increments: AnyArray, means: AnyArray
) -> AnyArray:
    tie, fraction = sets.tie_of_event, sets.fraction
    products = means * increments[:, None]
    sums = np.cumsum(np.add.reduceat(products, sets.tie_starts, axis=0), axis=0)
    steps = np.concatenate([np.zeros((1, matrix.shape[1])), sums])
    hazard = _cumulative(sets, increments)
    residuals = -risk[:, None] * (matrix * hazard[:, None] - steps[sets.rank_of_row])
    rows = sets.event_rows
    # Mean covariates averaged over the failures of the same time.
    counts = np.bincount(tie)
    tied_means = (np.add.reduceat(means, sets.tie_starts, axis=0) / counts[:, None])[tie]
    residuals[rows] += matrix[rows] - tied_means
    thinned = np.add.reduceat(fraction * increments, sets.tie_starts)[tie]
    thinned_means = np.add.reduceat(fraction[:, None] * products, sets.tie_starts, axis=0)[tie]
    residuals[rows] += risk[rows, None] * (matrix[rows] * thinned[:, None] - thinned_means)
    return np.asarray(residuals)
