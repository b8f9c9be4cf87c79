"""Restricted mean survival time: the mean number of queries a sample stands, up to a horizon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import IntArray
from fireassay.core.errors import ParameterError
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Evidence, Table
from fireassay.core.lazy_modules import pd, stats
from fireassay.core.result import Answer
from fireassay.core.validation import check_real
from fireassay.survival.curves import (
    Curve,
    area_interval,
    estimate_curve,
    jackknife_variance,
    survival_interval,
)
from fireassay.survival.measures import MEASURES
from fireassay.survival.rows import arms, as_frame, group_codes, recoded
from fireassay.survival.times import Times, read_times


@dataclass(frozen=True)
class Rmst(Answer):
    """Restricted mean times per group, and their differences to the first group.

    Attributes
    ----------
    table
        Per group: rmst, low, high, survival (at the horizon), survival_low, survival_high, n,
        events; with several groups also difference, difference_low, difference_high, p.
    horizon, confidence
        Up to which time the mean is taken; of all intervals.
    method
        How the intervals were found.
    """

    table: pd.DataFrame
    horizon: float
    confidence: float
    method: str

    def frame(self) -> pd.DataFrame:
        """One row per group."""
        return self.table

    def estimate(self, group: str | None = None) -> Estimate:
        """The restricted mean of one group."""
        name = self.table.index[0] if group is None else group
        row: dict[Any, Any] = self.table.loc[[name]].iloc[0].to_dict()
        return Estimate(
            row["rmst"], row["low"], row["high"], self.confidence, int(row["n"]), self.method
        )

    def evidence(self) -> Evidence:
        """Restricted means as estimates."""
        estimates = {f"rmst_{name}": self.estimate(str(name)) for name in self.table.index}
        return Evidence(
            question="survival",
            headline=f"Mean time within {self.horizon:g}: "
            + "; ".join(f"{name} {e.value:.3g}" for name, e in estimates.items()),
            estimates=estimates,
            measures=MEASURES,
            tables={"rmst": Table.from_frame(self.table, "Restricted mean time to failure")},
        )


def rmst(
    obs: Any,
    by: str | Sequence[str] | None = None,
    *,
    horizon: float | None = None,
    groups: str | None = None,
    confidence: float = 0.95,
) -> Rmst:
    """Restricted mean survival time per group: the area under its curve up to ``horizon``.

    Parameters
    ----------
    horizon
        Time up to which the mean is taken, by default the latest observed time.
    groups
        Column that says which rows belong together: intervals are jackknifed over groups.
    confidence
        Of all intervals, in (0, 1).
    obs
        `Observations`, or a table with times.
    by
        Column, or columns, whose values make the groups; None: all rows.

    >>> rows = pd.DataFrame({"duration": [1, 2, 3, 4], "event": [1, 1, 1, 0]})
    >>> float(rmst(rows, horizon=4).frame()["rmst"].iloc[0])
    2.5
    """
    check_real(confidence, "confidence", low=0.0, high=1.0)
    frame = as_frame(obs)
    times, codes = read_times(frame), group_codes(frame, groups)
    limit = times.latest if horizon is None else check_real(horizon, "horizon", low=0.0)
    if limit > times.latest * (1 + 1e-12):
        raise ParameterError(
            "The 'horizon' must not be later than the latest observed time: nothing is known "
            "beyond it.",
            got=f"{limit:g}, latest {times.latest:g}",
            do="Use a parametric family and expected_time to extrapolate.",
        )
    parts = arms(frame, by)
    curves = [estimate_curve(times.rows(i), recoded(codes, i)) for _, i in parts]
    rows = [
        _row(curve, times.rows(index), limit, confidence)
        for curve, (_, index) in zip(curves, parts, strict=True)
    ]
    table = pd.DataFrame(rows, index=pd.Index([name for name, _ in parts], name="group"))
    if len(parts) > 1:
        members = [index for _, index in parts]
        differences = [
            _difference(times, codes, members, curves, j, limit, confidence)
            for j in range(len(parts))
        ]
        columns = ["difference", "difference_low", "difference_high", "p"]
        table[columns] = pd.DataFrame(differences, index=table.index, columns=columns)
    return Rmst(table, limit, confidence, f"RMST({limit:g}), {curves[0].method}")


def _row(curve: Curve, times: Times, horizon: float, confidence: float) -> dict[str, float]:
    value, low, high = area_interval(curve, horizon, confidence)
    survival, survival_low, survival_high = survival_interval(curve, horizon, confidence)
    return {
        "rmst": value,
        "low": low,
        "high": high,
        "survival": survival,
        "survival_low": survival_low,
        "survival_high": survival_high,
        "n": len(times),
        "events": times.n_events,
    }


def _difference(
    times: Times,
    codes: IntArray | None,
    members: list[NDArray[np.int64]],
    curves: list[Curve],
    j: int,
    horizon: float,
    confidence: float,
) -> tuple[float, float, float, float]:
    """Arm j against the first, paired over groups where groups are in both."""
    if j == 0:
        return 0.0, 0.0, 0.0, float("nan")
    first, other = curves[0], curves[j]
    difference = float(other.area(horizon) - first.area(horizon))
    shared = codes is not None and bool(np.intersect1d(codes[members[0]], codes[members[j]]).size)
    if shared and codes is not None:
        names = np.union1d(codes[members[0]], codes[members[j]])
        replicates = np.array(
            [
                _area_without(times, codes, members[j], name, horizon)
                - _area_without(times, codes, members[0], name, horizon)
                for name in names
            ]
        )
        variance, freedom = float(jackknife_variance(replicates, difference)), float(len(names) - 1)
    else:
        parts = [first.variance_of("area", horizon), other.variance_of("area", horizon)]
        variance, freedom = float(sum(parts)), _welch(parts, [first.freedom, other.freedom])
    if variance == 0.0:
        return difference, float("nan"), float("nan"), float("nan")
    error = np.sqrt(variance)
    reach = float(stats.t.ppf(0.5 + confidence / 2, freedom)) * error
    p = 2.0 * float(stats.t.sf(abs(difference) / error, freedom))
    return difference, difference - reach, difference + reach, p


def _area_without(
    times: Times, codes: IntArray, members: NDArray[np.int64], name: int, horizon: float
) -> float:
    kept = members[codes[members] != name]
    return float(estimate_curve(times.rows(kept)).area(horizon)) if len(kept) else float("nan")


def _welch(variances: list[float], freedoms: list[float]) -> float:
    below = sum(v * v / f for v, f in zip(variances, freedoms, strict=True))
    return sum(variances) ** 2 / below if below > 0 else float("inf")
