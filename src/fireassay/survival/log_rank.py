"""The log-rank test: do arms fail at the same rate? With rows of one model kept together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core import Answer, DataError, Estimate, Evidence, ParameterError, Result, Table
from fireassay.core.arrays import AnyArray, IntArray
from fireassay.core.lazy import pd, stats
from fireassay.core.seeds import generator
from fireassay.core.validation import check_real
from fireassay.core.words import p_text
from fireassay.survival.curves import (
    Curve,
    area_interval,
    estimate_curve,
    jackknife_variance,
    survival_interval,
)
from fireassay.survival.measures import MEASURES
from fireassay.survival.rows import arms, as_frame, group_codes, recoded
from fireassay.survival.times import Times, check_events, read_times


@dataclass(frozen=True)
class LogRank(Result):
    """The test's statistic and p, and per arm the observed and expected failures.

    Attributes:
        statistic, df, p: Of the test.
        table: Per arm: what was observed and expected.
        method: Which of the tests it was.
        smallest_p: The smallest p that the test could have given: with few groups to permute, no
            difference however large reaches .05, and ``method`` says so.
    """

    statistic: float
    p: float
    df: float
    table: pd.DataFrame
    method: str
    smallest_p: float = 0.0

    def summary(self) -> str:
        """The test in one line."""
        return f"{self.method}: statistic {self.statistic:.3g}, {p_text(self.p)}"

    def frame(self) -> pd.DataFrame:
        """Observed and expected failures per arm."""
        return self.table


def log_rank(
    obs: Any,
    by: str | Sequence[str],
    *,
    groups: str | None = None,
    n_permutations: int = 999,
    seed: int = 0,
) -> LogRank:
    """Test that all arms have the same survival.

    Without ``groups`` the statistic is chi-square with K − 1 degrees of freedom. With it, rows
    of one group stay together: where each group lies in one arm (a model has one depth),
    arms are permuted over groups, which holds its level exactly; where groups are in
    several arms (a model meets every attack), Peto's log hazard ratios V⁻¹(O − E) are tested by
    Hotelling's F with their jackknife variance over groups.

    Args:
        obs: `Observations`, or a table with times and arms.
        by: Column, or columns, whose values are the arms.
        groups: Column of what belongs together, e.g. ``"model_id"``.
        n_permutations, seed: Of the permutations.

    >>> rows = pd.DataFrame({"duration": [1, 2, 3, 4], "event": 1, "arm": ["a", "b", "a", "b"]})
    >>> log_rank(rows, "arm").frame()["observed"].tolist()
    [2.0, 2.0]
    """
    frame = as_frame(obs)
    times, codes = read_times(frame), group_codes(frame, groups)
    check_events(times, at_least=1, purpose="A log-rank test")
    parts = arms(frame, by)
    if len(parts) < 2:
        raise DataError("A log-rank test compares at least two arms.", got=f"{len(parts)}")
    member = np.zeros((len(frame), len(parts)))
    for j, (_, index) in enumerate(parts):
        member[index, j] = 1.0
    _, place = np.unique(times.seen, return_inverse=True)
    failed = times.failed.astype(np.float64)
    observed, expected, _ = _counts(place, failed, member)
    smallest = 0.0
    if codes is None:
        statistic = _chi_square(place, failed, member)
        freedom, method = float(len(parts) - 1), "log-rank, chi-square"
        p = float(stats.chi2.sf(statistic, freedom))
    else:
        statistic, freedom, p, method, smallest = _between_groups(
            place, failed, member, codes, n_permutations, seed
        )
    table = pd.DataFrame(
        {"n": member.sum(axis=0).astype(int), "observed": observed, "expected": expected},
        index=pd.Index([name for name, _ in parts], name="group"),
    )
    return LogRank(statistic, p, freedom, table, method, smallest)


def _counts(
    place: NDArray[np.intp], failed: AnyArray, member: AnyArray
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Observed and expected failures per arm, and the hypergeometric variance."""
    size, width = int(place.max()) + 1, member.shape[1]
    events = np.bincount(place, failed, size)
    leaving = np.column_stack([np.bincount(place, member[:, j], size) for j in range(width)])
    risk_by_group = np.cumsum(leaving[::-1], axis=0)[::-1]
    at_risk = risk_by_group.sum(axis=1)
    share = risk_by_group / np.maximum(at_risk, 1.0)[:, None]
    spread = np.divide(
        events * (at_risk - events), at_risk - 1.0, out=np.zeros(size), where=at_risk > 1
    )
    inner = np.diag(spread @ share) - share.T @ (share * spread[:, None])
    return failed @ member, events @ share, inner[:-1, :-1]


def _chi_square(place: NDArray[np.intp], failed: AnyArray, member: AnyArray) -> float:
    observed, expected, variance = _counts(place, failed, member)
    difference = (observed - expected)[:-1]
    return float(difference @ np.linalg.pinv(variance) @ difference)


def _between_groups(
    place: NDArray[np.intp],
    failed: AnyArray,
    member: AnyArray,
    codes: NDArray[np.int64],
    n_permutations: int,
    seed: int,
) -> tuple[float, float, float, str, float]:
    """Statistic, degrees of freedom, p, method and the smallest p there could have been."""
    count, width = int(codes.max()) + 1, member.shape[1]
    inside = np.zeros((count, width))
    np.add.at(inside, codes, member)
    if ((inside > 0).sum(axis=1) == 1).all():
        group = (inside > 0).argmax(axis=1)
        if np.bincount(group).min() < 2:
            raise DataError(
                "A log-rank test between groups needs two groups in each arm.",
                got=f"{count} groups in {width} arms",
            )
        found = _chi_square(place, failed, member)
        rng = generator(seed, "log-rank")
        others = [
            _chi_square(place, failed, np.eye(width)[rng.permutation(group)[codes]])
            for _ in range(n_permutations)
        ]
        above = int(np.sum(np.array(others) >= found * (1 - 1e-12)))
        method = f"log-rank, arms permuted over {count} groups"
        smallest = max(_smallest_p(np.bincount(group)), 1 / (n_permutations + 1))
        if smallest > 0.05:
            method += f" (too few to be significant: p is at least {smallest:.2g})"
        p = max((1 + above) / (n_permutations + 1), smallest)
        return found, float(width - 1), p, method, smallest
    freedom = float(count - width + 1)
    if freedom < 1:
        raise DataError(
            "A log-rank test between groups needs at least as many groups as arms.",
            got=f"{count} groups in {width} arms",
        )
    whole = _log_hazard_ratios(place, failed, member)
    without = [
        _log_hazard_ratios(place[kept], failed[kept], member[kept])
        for kept in (codes != code for code in range(count))
    ]
    spread = np.array(without) - whole
    variance = spread.T @ spread * (count - 1) / count
    factor = freedom / ((count - 1) * (width - 1))
    statistic = float(whole @ np.linalg.pinv(variance) @ whole) * factor
    p = float(stats.f.sf(statistic, width - 1, freedom))
    return statistic, freedom, p, f"log-rank, jackknife over {count} groups, F", 0.0


def _smallest_p(sizes: NDArray[np.int64]) -> float:
    """Share of arrangements that no statistic tells from the seen one (equal arms swap names)."""
    arrangements = math.factorial(int(sizes.sum()))
    for size in sizes:
        arrangements //= math.factorial(int(size))
    alike = math.prod(math.factorial(int(count)) for count in np.bincount(sizes))
    return alike / arrangements


def _log_hazard_ratios(place: NDArray[np.intp], failed: AnyArray, member: AnyArray) -> AnyArray:
    """Peto's estimates of all arms but the last, against the mean of those at risk."""
    observed, expected, variance = _counts(place, failed, member)
    return np.asarray(np.linalg.pinv(variance) @ (observed - expected)[:-1])


@dataclass(frozen=True)
class Rmst(Answer):
    """Restricted mean times per group, and their differences to the first group.

    Attributes:
        table: Per group: rmst, low, high, survival (at the horizon), survival_low, survival_high,
            n, events; with several groups also difference, difference_low, difference_high, p.
        horizon, confidence: Up to which time the mean is taken; of all intervals.
        method: How the intervals were found.
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

    Args:
        horizon: Time up to which the mean is taken, by default the latest observed time.
        groups: Column that says which rows belong together: intervals are jackknifed over groups.
        confidence: Of all intervals, in (0, 1).
        obs: `Observations`, or a table with times.
        by: Column, or columns, whose values make the groups; None: all rows.

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
