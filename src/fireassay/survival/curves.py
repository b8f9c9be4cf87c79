"""Survival curves without a family: Kaplan–Meier by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fireassay.core import Answer, Chart, Estimate, Evidence, Table, generator
from fireassay.core.arrays import AnyArray, IntArray
from fireassay.core.lazy import pd, stats
from fireassay.core.validation import check_real
from fireassay.statistics import clopper_pearson
from fireassay.survival.measures import MEASURES
from fireassay.survival.rows import arms, as_frame, group_codes, recoded
from fireassay.survival.times import Times, TurnbullSupport, intervals_overlap, read_times

_TURNBULL_GROUPS = 25


@dataclass(frozen=True)
class Curve:
    """A step function: ``survival[k]`` from ``times[k]`` on, 1 before."""

    # ``left_out`` holds the curves without one group each (G × K), ``variance`` Greenwood's where
    # rows are independent, ``units_at_risk`` rows, or groups where rows are grouped.

    times: AnyArray
    survival: AnyArray
    at_risk: AnyArray
    events: AnyArray
    method: str
    n_units: int
    units_at_risk: AnyArray
    variance: AnyArray | None = None
    left_out: AnyArray | None = None

    def at(self, time: float, survival: AnyArray | None = None) -> AnyArray:
        """Survival at a time, of the curve or of each of several on the same grid."""
        values = self.survival if survival is None else survival
        k = int(np.searchsorted(self.times, time, side="right"))
        return np.ones(values.shape[:-1]) if k == 0 else np.asarray(values[..., k - 1])

    def area(self, horizon: float, survival: AnyArray | None = None) -> AnyArray:
        """Restricted mean: the area under the curve up to the horizon."""
        values = self.survival if survival is None else survival
        inside = self.times < horizon
        widths = np.diff(np.concatenate([[0.0], self.times[inside], [horizon]]))
        first = np.ones((*values.shape[:-1], 1))
        steps = np.concatenate([first, values[..., : int(inside.sum())]], axis=-1)
        return np.asarray(steps @ widths)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of an interval: groups less one, or infinite."""
        return np.inf if self.left_out is None else max(self.n_units - 1, 1)

    def variance_of(self, kind: str, at: float) -> float:
        """Variance of ``survival`` or ``area`` at a time."""
        if self.left_out is not None:
            measure = self.at if kind == "survival" else self.area
            replicates = measure(at, self.left_out)
            return float(jackknife_variance(replicates, float(measure(at))))
        assert self.variance is not None
        k = int(np.searchsorted(self.times, at, side="right" if kind == "survival" else "left"))
        if k == 0:
            return 0.0
        if kind == "survival":
            return float(self.variance[k - 1])
        inside = slice(0, k)
        widths = np.diff(np.append(self.times[inside], at))
        remaining = np.cumsum((self.survival[inside] * widths)[::-1])[::-1]
        risk, failed = self.at_risk[inside], self.events[inside]
        left = risk - failed
        terms = np.divide(failed, risk * left, out=np.zeros(k), where=left > 0)
        return float((remaining**2 * terms).sum())


def jackknife_variance(replicates: AnyArray, value: float | AnyArray) -> AnyArray:
    """(G − 1)/G Σ (θ₋g − θ)², for one number or for each column."""
    count = len(replicates)
    return np.asarray((count - 1) / count * np.square(replicates - value).sum(axis=0))


def estimate_curve(times: Times, groups: IntArray | None = None) -> Curve:
    """Kaplan and Meier's curve at the times failures were seen; Turnbull's if intervals overlap."""
    if intervals_overlap(times):
        return _turnbull_curve(times, groups)
    grid, place = np.unique(times.seen, return_inverse=True)
    failed = times.failed.astype(np.float64)
    events = np.bincount(place, failed, len(grid))
    leaving = np.bincount(place, minlength=len(grid)).astype(np.float64)
    at_risk = np.cumsum(leaving[::-1])[::-1]
    survival = _product_limit(events, at_risk)
    if groups is None:
        left = at_risk - events
        terms = np.divide(events, at_risk * left, out=np.zeros(len(grid)), where=left > 0)
        variance = survival**2 * np.cumsum(terms)
        return Curve(grid, survival, at_risk, events, "Kaplan-Meier", len(times), at_risk, variance)
    count = int(groups.max()) + 1
    cell = groups * len(grid) + place
    own_events = np.bincount(cell, failed, count * len(grid)).reshape(count, -1)
    own_leaving = np.bincount(cell, minlength=count * len(grid)).reshape(count, -1)
    own_risk = np.cumsum(own_leaving[:, ::-1], axis=1)[:, ::-1]
    left_out = _product_limit(events - own_events, at_risk - own_risk)
    units, how = (
        (own_risk > 0).sum(axis=0).astype(np.float64),
        "Kaplan-Meier, jackknife over groups",
    )
    return Curve(grid, survival, at_risk, events, how, count, units, None, left_out)


def _product_limit(events: AnyArray, at_risk: AnyArray) -> AnyArray:
    hazard = np.divide(events, at_risk, out=np.zeros_like(events), where=at_risk > 0)
    return np.cumprod(1.0 - hazard, axis=-1)


def _turnbull_curve(times: Times, groups: IntArray | None) -> Curve:
    support = TurnbullSupport.of(times)
    mass = support.mass(np.ones(len(times)))
    grid, survival = support.curve(mass)
    method = "Turnbull, jackknife over groups"
    units = np.arange(len(times)) if groups is None else groups
    if groups is None:
        # Rows are independent: a jackknife over random groups of rows.
        random = min(_TURNBULL_GROUPS, len(times))
        groups = generator(0, "turnbull groups").permutation(len(times)) % random
        method = f"Turnbull, jackknife over {random} random groups"
    count = int(groups.max()) + 1
    kept = ((groups != code).astype(np.float64) for code in range(count))
    left_out = np.array([support.curve(support.mass(weights, mass))[1] for weights in kept])
    at_risk = np.array([float((times.seen >= time).sum()) for time in grid])
    units_at_risk = np.array([float(len(np.unique(units[times.seen >= time]))) for time in grid])
    drops = -np.diff(np.append(1.0, survival)) * len(times)
    return Curve(grid, survival, at_risk, drops, method, count, units_at_risk, None, left_out)


def survival_interval(curve: Curve, time: float, confidence: float) -> tuple[float, float, float]:
    """Survival at a time with its interval, on the log(−log) scale."""
    value = np.atleast_1d(curve.at(time))
    variance = np.atleast_1d(curve.variance_of("survival", time))
    k = int(np.searchsorted(curve.times, time, side="right"))
    units = curve.units_at_risk[k - 1 : k] if k else np.array([float(curve.n_units)])
    low, high = _band(curve, value, variance, units, confidence)
    return float(value[0]), float(low[0]), float(high[0])


def survival_band(curve: Curve, confidence: float) -> tuple[AnyArray, AnyArray, AnyArray]:
    """`survival_interval` at every time of the curve, all at once."""
    if curve.left_out is not None:
        variance = jackknife_variance(curve.left_out, curve.survival)
    else:
        assert curve.variance is not None
        variance = curve.variance
    return curve.survival, *_band(curve, curve.survival, variance, curve.units_at_risk, confidence)


def _band(
    curve: Curve, value: AnyArray, variance: AnyArray, units: AnyArray, confidence: float
) -> tuple[AnyArray, AnyArray]:
    """Pointwise interval of a curve; where it is 0 or 1, exact binomial of the units at risk."""
    n = np.maximum(units, 1.0).astype(np.int64)
    low, high = clopper_pearson(np.where(value >= 1.0, n, 0), n, confidence)
    inner = (value > 0.0) & (value < 1.0)
    inside = value[inner]
    error = np.sqrt(variance[inner]) / np.abs(inside * np.log(inside))
    reach = _quantile(confidence, curve.freedom) * error
    with np.errstate(over="ignore"):
        low[inner], high[inner] = inside ** np.exp(reach), inside ** np.exp(-reach)
    return low, high


def area_interval(curve: Curve, horizon: float, confidence: float) -> tuple[float, float, float]:
    """Restricted mean time with its interval."""
    value = float(curve.area(horizon))
    error = np.sqrt(curve.variance_of("area", horizon))
    if error == 0.0:
        # Nothing failed before the horizon: carry the bound on survival over to the area.
        _, low, high = survival_interval(curve, np.nextafter(horizon, 0.0), confidence)
        return value, min(value, low * horizon), max(value, high * horizon)
    reach = _quantile(confidence, curve.freedom) * error
    return value, max(0.0, value - reach), min(horizon, value + reach)


def _quantile(confidence: float, freedom: float) -> float:
    return float(stats.t.ppf(0.5 + confidence / 2.0, freedom))


@dataclass(frozen=True)
class KaplanMeier(Answer):
    """Survival curves.

    Attributes:
        curves: One row per group and time: at_risk, events, survival, low, high.
        medians: Per group: median (infinite: not reached), low, high, n, units (groups, where rows
            are grouped), events, method.
        confidence, time_unit: Of all intervals; what times are counted in.
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
                f"{name}: median {median}" for name, median in shown["median"].items()
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

    Args:
        obs: Columns ``lower`` and ``upper``, or ``duration`` and ``event``.
        by: Column(s) that form the groups.
        groups: Column that says which rows belong together, e.g. ``"model_id"``.
        confidence: Of all intervals, in (0, 1).

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
        band = dict(zip(("survival", "low", "high"), survival_band(curve, confidence), strict=True))
        seen = {"time": curve.times, "at_risk": curve.at_risk, "events": curve.events}
        parts.append(pd.DataFrame({"group": name, **seen, **band}))
        medians[name] = {
            "median": _crossing(curve.times, band["survival"]),
            "low": _crossing(curve.times, band["low"]),
            "high": _crossing(curve.times, band["high"]),
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
