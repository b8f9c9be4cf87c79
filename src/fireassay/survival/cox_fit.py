"""A fitted Cox model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray
from fireassay.core.errors import ParameterError
from fireassay.core.evidence import Assumption
from fireassay.core.lazy import pd
from fireassay.core.words import p_text
from fireassay.survival.cox import CoxSolution, proportional_hazards_check
from fireassay.survival.design_matrix import Encoding
from fireassay.survival.fit_numbers import GroupVariance, coefficient_table
from fireassay.survival.fitted import SurvivalFit
from fireassay.survival.times import Times


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
    frame: pd.DataFrame,
    times: Times,
    encoding: Encoding,
    solution: CoxSolution,
    robust: GroupVariance | None,
    groups: str | None,
    confidence: float,
    ridge: float,
    notes: tuple[str, ...],
) -> CoxFit:
    """Put a solution into its result, with raw coefficients and intervals."""
    names = encoding.names[1:]
    table = coefficient_table(
        names,
        encoding.to_raw[1:, 1:],
        solution.beta,
        np.linalg.pinv(solution.information, hermitian=True),
        robust,
        confidence,
        positive="shorter",
    )
    return CoxFit(
        family="cox",
        observations=frame,
        coefficients=table,
        log_likelihood=solution.log_likelihood,
        log_likelihood_null=solution.log_likelihood_null,
        n_parameters=len(solution.beta),
        n=len(times),
        n_events=times.n_events,
        n_groups=robust.n_groups if robust is not None else len(times),
        groups=groups,
        confidence=confidence,
        converged=solution.converged and math.isfinite(solution.log_likelihood),
        notes=notes,
        ridge=ridge,
        encoding=encoding,
        beta=solution.beta,
        baseline_times=solution.baseline_times,
        baseline_hazard=solution.baseline_hazard,
        proportionality=proportional_hazards_check(solution, names, encoding.spread),
    )
