"""Cox's proportional hazards with Efron's ties, and a check of proportionality."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from fireassay.survival.newton import maximise
from fireassay.survival.times import Times

FloatArray = NDArray[Any]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class CoxSolution:
    """Coefficients, information, baseline and score residuals of a Cox model.

    ``residuals`` has each row's share of the score; ``schoenfeld`` one row per failure.
    """

    beta: FloatArray
    log_likelihood: float
    log_likelihood_null: float
    information: FloatArray
    converged: bool
    baseline_times: FloatArray
    baseline_hazard: FloatArray
    residuals: FloatArray
    schoenfeld: FloatArray
    failure_times: FloatArray


@dataclass(frozen=True)
class _RiskSets:
    """Rows sorted by time, with the tied failures of each time."""

    order: IntArray
    first_at_risk: IntArray
    tie_of_event: IntArray
    fraction: FloatArray
    event_rows: IntArray
    tie_starts: IntArray
    tie_times: FloatArray
    rank_of_row: IntArray


@dataclass(frozen=True)
class _Derivatives:
    value: float
    gradient: FloatArray
    hessian: FloatArray


def solve_cox(times: Times, matrix: FloatArray, *, ridge: float = 0.0) -> CoxSolution:
    """Fit Cox's model; an interval-censored failure counts at its upper end, when it was seen."""
    sets = _risk_sets(times)
    sorted_matrix = matrix[sets.order]
    n = len(times)

    def derivatives(beta: FloatArray) -> _Derivatives:
        value, gradient, hessian, *_ = _partial_likelihood(beta, sets, sorted_matrix)
        return _Derivatives(
            value - 0.5 * n * ridge * float(beta @ beta),
            gradient - n * ridge * beta,
            hessian - n * ridge * np.eye(len(beta)),
        )

    zero = np.zeros(matrix.shape[1])
    found = maximise(derivatives, lambda beta: derivatives(beta).value, zero)
    value, _, hessian, increments, means, risk = _partial_likelihood(
        found.theta, sets, sorted_matrix
    )
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
        sorted_matrix[sets.event_rows] - _tie_means(sets, means),
        sets.tie_times[sets.tie_of_event],
    )


def proportional_hazards_check(
    solution: CoxSolution, names: tuple[str, ...], spread: FloatArray
) -> pd.DataFrame:
    """Grambsch and Therneau's test: do scaled Schoenfeld residuals drift with (ranked) time?

    A small p says that a covariate's effect on the hazard changes with time.
    """
    count = len(solution.failure_times)
    ranked = stats.rankdata(solution.failure_times)
    centred = ranked - ranked.mean()
    covariance = np.linalg.inv(solution.information)
    scaled = count * solution.schoenfeld @ covariance
    slope = centred @ scaled
    variance = count * np.diag(covariance) * float(centred @ centred)
    chi_square = np.divide(slope**2, variance, out=np.zeros_like(slope), where=variance > 0)
    joint_score = centred @ solution.schoenfeld
    joint = float(joint_score @ covariance @ joint_score) * count / float(centred @ centred)
    rows = [*chi_square, joint]
    freedom = [1] * len(names) + [len(names)]
    return pd.DataFrame(
        {
            "chi_square": rows,
            "df": freedom,
            "p": [float(stats.chi2.sf(c, f)) for c, f in zip(rows, freedom, strict=True)],
            "slope": [*(slope / float(centred @ centred) / spread), np.nan],
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
    )


def _from_end(values: FloatArray) -> FloatArray:
    return np.cumsum(values[::-1], axis=0)[::-1]


def _partial_likelihood(
    beta: FloatArray, sets: _RiskSets, matrix: FloatArray
) -> tuple[float, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
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
    exposure = risk * _cumulative(sets, increments)
    thinning = np.add.reduceat(fraction * increments, sets.tie_starts)
    exposure[sets.event_rows] -= risk[sets.event_rows] * thinning[tie]
    hessian = -(matrix.T @ (matrix * exposure[:, None])) + means.T @ means
    return value, gradient, hessian, increments * np.exp(-shift), means, risk * np.exp(shift)


def _cumulative(sets: _RiskSets, increments: FloatArray) -> FloatArray:
    """Cumulative hazard at each sorted row's time."""
    steps = np.append(0.0, np.cumsum(np.add.reduceat(increments, sets.tie_starts)))
    return np.asarray(steps[sets.rank_of_row])


def _tie_means(sets: _RiskSets, means: FloatArray) -> FloatArray:
    """Mean covariates averaged over the failures of the same time."""
    sums = np.add.reduceat(means, sets.tie_starts, axis=0)
    counts = np.bincount(sets.tie_of_event)
    return np.asarray((sums / counts[:, None])[sets.tie_of_event])


def _score_residuals(
    sets: _RiskSets,
    matrix: FloatArray,
    risk: FloatArray,
    increments: FloatArray,
    means: FloatArray,
) -> FloatArray:
    tie, fraction = sets.tie_of_event, sets.fraction
    products = means * increments[:, None]
    steps = np.concatenate(
        [
            np.zeros((1, matrix.shape[1])),
            np.cumsum(np.add.reduceat(products, sets.tie_starts, axis=0), axis=0),
        ]
    )
    hazard = _cumulative(sets, increments)
    residuals = -risk[:, None] * (matrix * hazard[:, None] - steps[sets.rank_of_row])
    rows = sets.event_rows
    residuals[rows] += matrix[rows] - _tie_means(sets, means)
    thinned = np.add.reduceat(fraction * increments, sets.tie_starts)[tie]
    thinned_means = np.add.reduceat(fraction[:, None] * products, sets.tie_starts, axis=0)[tie]
    residuals[rows] += risk[rows, None] * (matrix[rows] * thinned[:, None] - thinned_means)
    return np.asarray(residuals)
