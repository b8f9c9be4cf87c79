"""A fitted survival model: what all families share, and the AFT model."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core import Answer, Chart, Estimate, ParameterError
from fireassay.core.arrays import AnyArray, IntArray
from fireassay.core.evidence import Assumption, Claim, Evidence, Provenance, Table
from fireassay.core.lazy import pd, stats
from fireassay.survival.aft import mean_time, solve_aft
from fireassay.survival.calibration import FailureCalibration, calibrate
from fireassay.survival.design_matrix import DesignMatrix, Encoding
from fireassay.survival.families import ErrorDistribution, aft_family
from fireassay.survival.fit_numbers import (
    Correction,
    GroupVariance,
    coefficient_table,
    concordance,
    group_variance,
)
from fireassay.survival.likelihood import split
from fireassay.survival.measures import MEASURES
from fireassay.survival.rows import as_frame, censored_times, independent_rows
from fireassay.survival.times import Times, read_times


@dataclass(frozen=True, eq=False)
class SurvivalFit(Answer):
    """Scores, predictions and evidence shared by accelerated failure time and Cox fits."""

    family: str
    observations: pd.DataFrame
    coefficients: pd.DataFrame
    log_likelihood: float
    n_parameters: int
    n: int
    n_events: int
    n_groups: int
    groups: str | None
    confidence: float
    converged: bool
    notes: tuple[str, ...]

    @abstractmethod
    def survival(self, rows: pd.DataFrame, times: ArrayLike) -> AnyArray:
        """P(T > t) for each row (first axis) and time (second axis)."""

    @abstractmethod
    def predicted_order(self, rows: pd.DataFrame) -> AnyArray:
        """A number per row that is larger the longer the row is expected to stand."""

    @cached_property
    def _times(self) -> Times:
        return read_times(self.observations)

    @property
    def latest_time(self) -> float:
        """t*, the latest observed time."""
        return self._times.latest

    @property
    def aic(self) -> float:
        """Akaike's criterion: −2 log L + 2k, unpenalised, all k parameters counted."""
        return -2.0 * self.log_likelihood + 2.0 * self.n_parameters

    @property
    def bic(self) -> float:
        """Schwarz's criterion: −2 log L + k log n, all k parameters counted."""
        return -2.0 * self.log_likelihood + self.n_parameters * math.log(self.n)

    @cached_property
    def concordance(self) -> float:
        """Harrell's concordance on the rows of the fit."""
        return self.concordance_on(self.observations)

    def concordance_on(self, obs: Any) -> float:
        """Harrell's concordance on other observations."""
        frame = as_frame(obs)
        return concordance(read_times(frame), self.predicted_order(frame))

    @property
    def ici(self) -> float:
        """Integrated calibration index on the rows of the fit, at the median failure time."""
        return self._own_calibration.ici

    @property
    def e50(self) -> float:
        """Median absolute calibration error on the rows of the fit, at the median failure time."""
        return self._own_calibration.e50

    @cached_property
    def _own_calibration(self) -> FailureCalibration:
        return self.calibration()

    def calibration(self, obs: Any = None, time: float | None = None) -> FailureCalibration:
        """Calibration of P(failed by ``time``) on observations (default: those of the fit).

        ``time`` is by default the median time at which failures of the fit were seen.
        """
        frame = self.observations if obs is None else as_frame(obs)
        seen = self._times.upper[self._times.failed]
        at = float(np.median(seen)) if time is None else float(time)
        predicted = 1.0 - self.survival(frame, [at])[:, 0]
        return calibrate(read_times(frame), predicted, at)

    def frame(self) -> pd.DataFrame:
        """The coefficients."""
        return self.coefficients

    def charts(self) -> dict[str, Chart]:
        """Covariate effects, quantile-quantile plot and calibration curve."""
        from fireassay.survival.charts import calibration_chart, effects_chart, quantiles_chart

        charts = {}
        if len(self.coefficients.drop(index="Intercept", errors="ignore")):
            charts["effects"] = effects_chart(self.coefficients)
        return {
            **charts,
            "quantiles": quantiles_chart(self),
            "calibration": calibration_chart(self._own_calibration),
        }

    def evidence(self) -> Evidence:
        """Coefficients as estimates, with what they rest on."""
        slopes = self.coefficients.drop(index="Intercept", errors="ignore")
        assumptions = self._assumptions()
        rests_on = tuple(a.id for a in assumptions if a.id != "censored-times")
        how = "t, robust to groups" if self.groups else "Wald z"
        about = (self.confidence, self.n, how)
        estimates = {
            f"effect_{name!s}": Estimate(
                row["coef"], row["low"], row["high"], *about, rests_on=rests_on
            )
            for name, row in slopes.iterrows()
            if np.isfinite(row[["coef", "low", "high"]].to_numpy(dtype=float)).all()
        }
        clear = [
            str(name)
            for name, row in slopes.iterrows()
            if row["simultaneous_low"] > 0 or row["simultaneous_high"] < 0
        ]
        effects = {str(name): str(effect) for name, effect in slopes["effect"].items()}
        return Evidence(
            question="survival",
            headline=f"{self.family} fit: {len(clear)} of {len(slopes)} effects clear of zero "
            f"(simultaneous intervals); "
            f"concordance {self.concordance:.3f}",
            claims=tuple(Claim(f"{name}: {effects[name]} survival", True) for name in clear),
            estimates=estimates,
            assumptions=assumptions,
            measures=MEASURES,
            tables={"coefficients": Table.from_frame(self.coefficients, "Coefficients")},
            charts=self.charts(),
            limits=self.notes,
            provenance=Provenance(seed=0),
        )

    def _assumptions(self) -> tuple[Assumption, ...]:
        own = self._own_calibration
        return (
            independent_rows(self.groups, self.n_groups),
            censored_times(1.0 - self.n_events / self.n),
            Assumption(
                f"The {self.family} family describes the times.",
                "supported" if own.binned_error < 0.05 else "contradicted",
                f"Binned calibration error {own.binned_error:.3f} at t0 = {own.time:g}.",
                id="family-describes-times",
            ),
        )


@dataclass(frozen=True)
class AftFit(SurvivalFit):
    """An accelerated failure time model: log T = x'β + σW.

    Attributes:
        coefficients: Per covariate: coef (on log time), se, cluster_se, low, high, p, df,
            time_ratio and effect ("longer" or "shorter" survival as the covariate grows).
        log_likelihood: Unpenalised, on the time scale.
        scale: σ (1 for the exponential), ``shape`` is Q of the generalised gamma, else None.
        theta, covariance: Parameters on the standardised scale (β, log σ, Q) and their model-based
            covariance.
    """

    scale: Estimate
    shape: Estimate | None
    ridge: float
    iterations: int
    encoding: Encoding
    theta: AnyArray
    covariance: AnyArray
    robust: GroupVariance | None

    @property
    def _law(self) -> ErrorDistribution:
        return aft_family(self.family).law(self._parts[2])

    @property
    def _parts(self) -> tuple[AnyArray, float, float]:
        return split(self.theta, aft_family(self.family), len(self.encoding.names))

    def location(self, rows: pd.DataFrame) -> AnyArray:
        """x'β, the location of the log time."""
        return np.asarray(self.encoding.at(rows) @ self._parts[0])

    def predicted_order(self, rows: pd.DataFrame) -> AnyArray:
        """The location of the log time."""
        return self.location(rows)

    def survival(self, rows: pd.DataFrame, times: ArrayLike) -> AnyArray:
        """P(T > t) for each row (first axis) and time (second axis)."""
        at = np.atleast_1d(np.asarray(times, dtype=np.float64))
        if (at < 0).any() or np.isnan(at).any():
            raise ParameterError("Times must not be negative.", got=f"{at.min():g}")
        with np.errstate(divide="ignore"):
            z = (np.log(at)[None, :] - self.location(rows)[:, None]) / math.exp(self._parts[1])
        survival = np.exp(self._law.log_survival(np.clip(z, -745.0, 745.0).ravel()))
        survival = survival.reshape(z.shape)
        survival[:, at == 0] = 1.0
        return np.asarray(survival)

    def expected_time(self, rows: pd.DataFrame, horizon: float | None = None) -> AnyArray:
        """Mean time to failure of each row up to a horizon.

        ``horizon`` is by default the latest observed time; ``math.inf`` extrapolates (as the
        authors' code does) and may be infinite.
        """
        limit = _horizon(horizon, self.latest_time)
        return mean_time(self._law, self.location(rows), math.exp(self._parts[1]), limit)

    def expected_time_estimate(
        self, rows: pd.DataFrame, horizon: float | None = None
    ) -> tuple[Estimate, float, float]:
        """The mean over rows with its interval (delta method on the log), its error and freedom.

        Returns the estimate, the standard error of its logarithm and the degrees of freedom.
        """
        limit = _horizon(horizon, self.latest_time)
        matrix, family = self.encoding.at(rows), aft_family(self.family)

        def log_mean(theta: AnyArray) -> float:
            beta, log_scale, shape = split(theta, family, matrix.shape[1])
            means = mean_time(family.law(shape), matrix @ beta, math.exp(log_scale), limit)
            return math.log(float(means.mean()))

        value = math.exp(log_mean(self.theta))
        step = 1e-4
        ends = ((self.theta - step * u, self.theta + step * u) for u in np.eye(len(self.theta)))
        gradient = np.array([(log_mean(high) - log_mean(low)) / (2 * step) for low, high in ends])
        error, freedom = _error_of(gradient, self.covariance, self.robust)
        reach = float(stats.t.ppf(0.5 + self.confidence / 2, freedom)) * error
        method = f"{self.family} mean to {limit:g}, delta method"
        low = value * math.exp(-reach)
        high = min(value * math.exp(min(reach, 700.0)), max(limit, value))
        return Estimate(value, low, high, self.confidence, self.n, method), error, freedom


def _horizon(horizon: float | None, latest: float) -> float:
    if horizon is None:
        return latest
    if not horizon > 0:
        raise ParameterError("The 'horizon' parameter must be > 0.", got=repr(horizon))
    return float(horizon)


class FitRequest(NamedTuple):
    """Checked observations and settings of a fit."""

    family: str
    frame: pd.DataFrame
    times: Times
    encoding: Encoding
    groups: str | None
    ridge: float
    confidence: float
    notes: tuple[str, ...]

    def shared(self, robust: GroupVariance | None) -> dict[str, Any]:
        """The fields that fits of every family have."""
        return {
            "family": self.family,
            "observations": self.frame,
            "n": len(self.times),
            "n_events": self.times.n_events,
            "n_groups": len(self.times) if robust is None else robust.n_groups,
            "groups": self.groups,
            "confidence": self.confidence,
            "notes": self.notes,
            "ridge": self.ridge,
            "encoding": self.encoding,
        }


def aft_fit(
    request: FitRequest, design: DesignMatrix, codes: IntArray | None, correction: Correction
) -> AftFit:
    """Fit an accelerated failure time model; ``codes`` says which rows belong to one group."""
    encoding, confidence, n = request.encoding, request.confidence, len(request.times)
    solution = solve_aft(request.family, request.times, design, ridge=request.ridge, groups=codes)
    robust = None
    if solution.group_scores is not None and solution.group_information is not None:
        parts = solution.group_scores, solution.group_information
        robust = group_variance(solution.information, *parts, correction=correction)
    width, size = len(encoding.names), len(solution.theta)
    covariance = np.linalg.pinv(solution.information, hermitian=True)
    transform = np.zeros((width, size))
    transform[:, :width] = encoding.to_raw
    table = coefficient_table(
        encoding.names, transform, solution.theta, covariance, robust, confidence, positive="longer"
    )

    def parameter(position: int, to_value: Callable[[float], float]) -> Estimate:
        error, freedom = _error_of(np.eye(size)[position], covariance, robust)
        reach = float(stats.t.ppf(0.5 + confidence / 2, freedom)) * error
        at = float(solution.theta[position])
        low, value, high = to_value(at - reach), to_value(at), to_value(at + reach)
        return Estimate(value, low, high, confidence, n, "maximum likelihood")

    family, one = aft_family(request.family), Estimate.point(1.0, n, "fixed")
    return AftFit(
        **request.shared(robust),
        coefficients=table,
        log_likelihood=solution.log_likelihood,
        n_parameters=size,
        converged=solution.converged,
        scale=parameter(width, lambda v: math.exp(min(v, 700.0))) if family.has_scale else one,
        shape=parameter(width + 1, float) if family.has_shape else None,
        iterations=solution.iterations,
        theta=solution.theta,
        covariance=covariance,
        robust=robust,
    )


def _error_of(
    contrast: AnyArray, covariance: AnyArray, robust: GroupVariance | None
) -> tuple[float, float]:
    """Standard error of ``contrast @ parameters``, and its degrees of freedom."""
    if robust is not None:
        return robust.standard_error(contrast), robust.degrees_of_freedom(contrast)
    return math.sqrt(max(float(contrast @ covariance @ contrast), 0.0)), math.inf
