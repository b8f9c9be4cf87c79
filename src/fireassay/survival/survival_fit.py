"""What every fitted survival model can do, whatever its family."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray
from fireassay.core.chart import Chart
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption, Claim, Evidence, Provenance, Table
from fireassay.core.lazy_modules import pd
from fireassay.core.result import Answer
from fireassay.survival.assumptions import censored_times, independent_rows
from fireassay.survival.calibration import FailureCalibration, calibrate
from fireassay.survival.concordance import concordance
from fireassay.survival.measures import MEASURES
from fireassay.survival.rows import as_frame
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
        estimates = {
            f"effect_{name!s}": Estimate(
                row["coef"],
                row["low"],
                row["high"],
                self.confidence,
                self.n,
                how,
                rests_on=rests_on,
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
