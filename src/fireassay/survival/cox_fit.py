"""A fitted Cox model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core import Assumption, DataError, ParameterError
from fireassay.core.arrays import AnyArray, IntArray
from fireassay.core.lazy import pd
from fireassay.core.words import p_text
from fireassay.survival.cox import CoxSolution, proportional_hazards_check, solve_cox
from fireassay.survival.design_matrix import DesignMatrix, Encoding
from fireassay.survival.fit_numbers import (
    Correction,
    GroupVariance,
    coefficient_table,
    group_variance,
)
from fireassay.survival.fitted import FitRequest, SurvivalFit
from fireassay.survival.times import Times

_MOST_REFITS = 60


@dataclass(frozen=True)
class CoxFit(SurvivalFit):
    """Cox's proportional hazards model.

    Attributes:
        coefficients: As for the other families, but on the log *hazard*: positive means *shorter*
            survival, which the column ``effect`` says.
        log_likelihood: The partial log-likelihood (Efron's ties); AIC and BIC from it do not
            compare with those of the parametric families.
        proportionality: Grambsch and Therneau's check: a small p says that an effect changes with
            time.
    """

    log_likelihood_null: float
    ridge: float
    encoding: Encoding
    beta: AnyArray
    baseline_times: AnyArray
    baseline_hazard: AnyArray
    proportionality: pd.DataFrame

    def predicted_order(self, rows: pd.DataFrame) -> AnyArray:
        """Minus the log hazard ratio."""
        return np.asarray(-(self.encoding.at(rows)[:, 1:] @ self.beta))

    def survival(self, rows: pd.DataFrame, times: ArrayLike) -> AnyArray:
        """P(T > t) for each row (first axis) and time (second axis), from Breslow's baseline."""
        at = np.atleast_1d(np.asarray(times, dtype=np.float64))
        steps = np.append(0.0, self.baseline_hazard)
        hazard = steps[np.searchsorted(self.baseline_times, at, side="right")]
        with np.errstate(over="ignore"):
            risk = np.exp(-self.predicted_order(rows))
            return np.asarray(np.exp(-risk[:, None] * hazard[None, :]))

    def expected_time(self, rows: pd.DataFrame, horizon: float | None = None) -> AnyArray:
        """Mean time to failure of each row up to a horizon (default: the latest time)."""
        limit = self.latest_time if horizon is None else float(horizon)
        if not 0 < limit <= self.latest_time:
            raise ParameterError(
                "Cox's model says nothing beyond the latest observed time: the 'horizon' must be "
                f"in (0, {self.latest_time:g}].",
                got=repr(horizon),
                do="Use a parametric family to extrapolate.",
            )
        inside = self.baseline_times[self.baseline_times < limit]
        widths = np.diff(np.concatenate([[0.0], inside, [limit]]))
        curves = self.survival(rows, inside)
        ones = np.ones((len(curves), 1))
        return np.asarray(np.concatenate([ones, curves], axis=1) @ widths)

    def _assumptions(self) -> tuple[Assumption, ...]:
        p = float(self.proportionality["p"].iloc[-1])
        check = Assumption(
            "Hazards are proportional: effects do not change with time.",
            "contradicted" if p < 0.05 else "supported",
            f"Grambsch-Therneau {p_text(p)} for all covariates together.",
            id="proportional-hazards",
        )
        return (*super()._assumptions(), check)


def cox_fit(
    request: FitRequest, design: DesignMatrix, codes: IntArray | None, correction: Correction
) -> CoxFit:
    """Fit Cox's model; ``codes`` says which rows belong to one group."""
    if not design.encoding.columns:
        raise DataError(
            "Cox's model needs at least one covariate.",
            got="none",
            do="For a curve without covariates use survival.kaplan_meier.",
        )
    times, ridge, encoding = request.times, request.ridge, request.encoding
    matrix = np.concatenate([block for _, block in design.blocks()])[:, 1:]
    solution = solve_cox(times, matrix, ridge=ridge)
    robust = None
    if codes is not None and correction == "cr3" and codes.max() < _MOST_REFITS:
        robust = _jackknife(times, matrix, codes, solution, ridge)
    elif codes is not None:
        scores = np.zeros((int(codes.max()) + 1, matrix.shape[1]))
        np.add.at(scores, codes, solution.residuals)
        # The partial likelihood has no rows; a group's share of information goes with its risk.
        shares = np.bincount(codes, times.failed) / times.n_events
        part = shares[:, None, None] * solution.information
        robust = group_variance(solution.information, scores, part, correction=correction)
    names = encoding.names[1:]
    table = coefficient_table(
        names,
        encoding.to_raw[1:, 1:],
        solution.beta,
        np.linalg.pinv(solution.information, hermitian=True),
        robust,
        request.confidence,
        positive="shorter",
    )
    return CoxFit(
        **request.shared(robust),
        coefficients=table,
        log_likelihood=solution.log_likelihood,
        log_likelihood_null=solution.log_likelihood_null,
        n_parameters=len(solution.beta),
        converged=solution.converged and math.isfinite(solution.log_likelihood),
        beta=solution.beta,
        baseline_times=solution.baseline_times,
        baseline_hazard=solution.baseline_hazard,
        proportionality=proportional_hazards_check(solution, names, encoding.spread),
    )


def _jackknife(
    times: Times, matrix: AnyArray, codes: IntArray, solution: CoxSolution, ridge: float
) -> GroupVariance:
    """Fits without one group each: a partial likelihood has no share per group."""
    count, width = int(codes.max()) + 1, matrix.shape[1]
    changes = np.array(
        [
            solve_cox(times.rows(codes != code), matrix[codes != code], ridge=ridge).beta
            - solution.beta
            for code in range(count)
        ]
    )
    covariance = changes.T @ changes * (count - 1) / count
    empty = np.zeros((0, width, width))
    return GroupVariance(covariance, "jackknife", count, np.eye(width), empty)
