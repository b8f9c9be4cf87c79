"""Survival curves by group, with intervals that know which rows belong to one model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fireassay.core.chart import Chart
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Evidence, Table
from fireassay.core.lazy_modules import pd
from fireassay.core.result import Answer
from fireassay.core.validation import check_real
from fireassay.statistics import clopper_pearson
from fireassay.survival.curves import estimate_curve, survival_band
from fireassay.survival.measures import MEASURES
from fireassay.survival.rows import arms, as_frame, group_codes, recoded
from fireassay.survival.times import read_times


@dataclass(frozen=True)
class KaplanMeier(Answer):
    """Survival curves.

    Attributes
    ----------
    curves
        One row per group and time: at_risk, events, survival, low, high.
    medians
        Per group: median (infinite: not reached), low, high, n, units (groups, where rows are
        grouped), events, method.
    confidence, time_unit
        Of all intervals; what times are counted in.
    """

    curves: pd.DataFrame
    medians: pd.DataFrame
    confidence: float
    time_unit: str = "queries"

    def frame(self) -> pd.DataFrame:
        """The curves."""
        return self.curves

    def at(self, time: float, group: str | None = None) -> Estimate:
        """Survival at a time.

        Beyond the last time of the group nothing was seen: its survival there is then only known
        to be no higher than at the end, and the interval reaches down to 0.
        """
        name = self.medians.index[0] if group is None else group
        own = self.curves[self.curves["group"] == name]
        part = own[own["time"] <= time]
        about: dict[Any, Any] = self.medians.loc[[name]].iloc[0].to_dict()
        n, method = int(about["n"]), str(about["method"])
        if part.empty:
            low = clopper_pearson(int(about["units"]), int(about["units"]), self.confidence)[0]
            return Estimate(1.0, float(low), 1.0, self.confidence, n, method)
        last = part.iloc[-1]
        low, latest = float(last["low"]), float(own["time"].iloc[-1])
        if time > latest and last["survival"] > 0:
            low, method = 0.0, f"{method}; beyond follow-up, which ended at {latest:g}"
        return Estimate(last["survival"], low, last["high"], self.confidence, n, method)

    def charts(self) -> dict[str, Chart]:
        """The curves with their bands."""
        from fireassay.survival.charts import curves_chart

        return {"survival": curves_chart(self.curves, self.time_unit)}

    def evidence(self) -> Evidence:
        """Survival at the last time of each group."""
        shown = self.medians.copy()
        shown["median"] = [reached(value) for value in shown["median"]]
        ends = self.curves.groupby("group")["time"].max()
        estimates = {
            f"survival_end_{name}": self.at(float(ends[name]), str(name))
            for name in self.medians.index
        }
        return Evidence(
            question="survival",
            headline="; ".join(
                f"{name}: median {reached(row['median'])}" for name, row in self.medians.iterrows()
            ),
            estimates=estimates,
            measures=MEASURES,
            tables={"medians": Table.from_frame(shown, "Median time to failure")},
            charts=self.charts(),
        )


def reached(median: float) -> str:
    """A median for people: an infinite one was not reached."""
    return f"{median:.4g}" if np.isfinite(median) else "not reached"


def kaplan_meier(
    obs: Any,
    by: str | Sequence[str] | None = None,
    *,
    groups: str | None = None,
    confidence: float = 0.95,
) -> KaplanMeier:
    """Survival curves of the groups of ``by``, without assuming a family.

    Failures count when they were seen. Where intervals of different rows overlap, Turnbull's
    estimate takes the place of Kaplan and Meier's. With ``groups`` the band is a jackknife over
    groups with t quantiles.

    Parameters
    ----------
    obs
        Columns ``lower`` and ``upper``, or ``duration`` and ``event``.
    by
        Column(s) that form the groups.
    groups
        Column that says which rows belong together, e.g. ``"model_id"``.
    confidence
        Of all intervals, in (0, 1).

    >>> rows = pd.DataFrame({"duration": [1, 2, 2, 4, 5], "event": [1, 1, 0, 1, 0]})
    >>> kaplan_meier(rows).frame()["survival"].round(3).tolist()
    [0.8, 0.6, 0.3, 0.3]
    """
    check_real(confidence, "confidence", low=0.0, high=1.0)
    frame = as_frame(obs)
    times, codes = read_times(frame), group_codes(frame, groups)
    parts, medians = [], {}
    for name, index in arms(frame, by):
        curve = estimate_curve(times.rows(index), recoded(codes, index))
        bands = np.column_stack(survival_band(curve, confidence))
        part = pd.DataFrame(bands, columns=["survival", "low", "high"])
        part.insert(0, "group", name)
        part.insert(1, "time", curve.times)
        part.insert(2, "at_risk", curve.at_risk)
        part.insert(3, "events", curve.events)
        parts.append(part)
        medians[name] = {
            "median": _crossing(curve.times, bands[:, 0]),
            "low": _crossing(curve.times, bands[:, 1]),
            "high": _crossing(curve.times, bands[:, 2]),
            "n": len(index),
            "units": curve.n_units,
            "events": times.rows(index).n_events,
            "method": curve.method,
        }
    table = pd.DataFrame.from_dict(medians, orient="index")
    table.index.name = "group"
    return KaplanMeier(pd.concat(parts, ignore_index=True), table, confidence, unit_of(frame))


def unit_of(frame: pd.DataFrame) -> str:
    """Unit of the times: seconds for experiment rows, queries for observed samples."""
    return str(frame.attrs.get("time_unit", "queries" if "lower" in frame.columns else "time"))


def _crossing(times: Any, survival: Any) -> float:
    below = np.flatnonzero(survival <= 0.5 + 1e-12)
    return float(times[below[0]]) if len(below) else float("inf")
