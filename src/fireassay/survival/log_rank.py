"""The log-rank test: do groups fail at the same rate? With rows of one model kept together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from fireassay.core.errors import DataError
from fireassay.core.result import Result
from fireassay.survival.rows import as_frame, cluster_codes, groups
from fireassay.survival.times import check_events, read_times

FloatArray = NDArray[Any]


@dataclass(frozen=True)
class LogRank(Result):
    """The test's statistic and p, and per group the observed and expected failures."""

    statistic: float
    p: float
    df: float
    table: pd.DataFrame
    method: str

    def frame(self) -> pd.DataFrame:
        """Observed and expected failures per group."""
        return self.table


def log_rank(obs: Any, by: str | Sequence[str], *, cluster: str | None = None) -> LogRank:
    """Test that all groups have the same survival.

    Without ``cluster`` the statistic is chi-square with K − 1 degrees of freedom. With it the
    variance is taken between clusters and the reference is an F distribution with as many
    degrees of freedom as clusters allow.
    """
    frame = as_frame(obs)
    times, clusters = read_times(frame), cluster_codes(frame, cluster)
    check_events(times, at_least=1, purpose="A log-rank test")
    parts = groups(frame, by)
    if len(parts) < 2:
        raise DataError("A log-rank test compares at least two groups.", got=f"{len(parts)}")
    member = np.zeros((len(frame), len(parts)))
    for j, (_, index) in enumerate(parts):
        member[index, j] = 1.0
    grid, place = np.unique(times.seen, return_inverse=True)
    failed = times.failed.astype(np.float64)
    events = np.bincount(place, failed, len(grid))
    risk_by_group = _from_end(
        np.column_stack([np.bincount(place, member[:, j], len(grid)) for j in range(len(parts))])
    )
    at_risk = risk_by_group.sum(axis=1)
    share = risk_by_group / at_risk[:, None]
    observed = failed @ member
    expected = events @ share
    difference = (observed - expected)[:-1]
    if clusters is None:
        variance = _hypergeometric(events, at_risk, share)
        statistic = float(difference @ np.linalg.pinv(variance) @ difference)
        freedom, method = float(len(parts) - 1), "log-rank, chi-square"
        p = float(stats.chi2.sf(statistic, freedom))
    else:
        scores = _row_scores(place, failed, member, events, at_risk, share)
        sums = np.zeros((int(clusters.max()) + 1, len(parts)))
        np.add.at(sums, clusters, scores)
        statistic, freedom, p = _between_clusters(difference, sums, clusters, member)
        method = f"log-rank between {len(sums)} clusters, F"
    table = pd.DataFrame(
        {"n": member.sum(axis=0).astype(int), "observed": observed, "expected": expected},
        index=pd.Index([name for name, _ in parts], name="group"),
    )
    return LogRank(statistic, p, freedom, table, method)


def _from_end(values: FloatArray) -> FloatArray:
    return np.cumsum(values[::-1], axis=0)[::-1]


def _hypergeometric(events: FloatArray, at_risk: FloatArray, share: FloatArray) -> FloatArray:
    spread = np.divide(
        events * (at_risk - events), at_risk - 1.0, out=np.zeros_like(events), where=at_risk > 1
    )
    inner = np.diag(spread @ share) - share.T @ (share * spread[:, None])
    return np.asarray(inner[:-1, :-1])


def _row_scores(
    place: NDArray[np.intp],
    failed: FloatArray,
    member: FloatArray,
    events: FloatArray,
    at_risk: FloatArray,
    share: FloatArray,
) -> FloatArray:
    """Each row's part of observed minus expected, as a sum of martingale differences."""
    hazard = events / at_risk
    cumulative = np.cumsum(hazard)
    cumulative_share = np.cumsum(hazard[:, None] * share, axis=0)
    at_event = failed[:, None] * (member - share[place])
    return np.asarray(at_event - (member * cumulative[place][:, None] - cumulative_share[place]))


def _between_clusters(
    difference: FloatArray, sums: FloatArray, clusters: NDArray[np.int64], member: FloatArray
) -> tuple[float, float, float]:
    count, tests = len(sums), len(difference)
    nested = np.zeros((count, member.shape[1]))
    np.add.at(nested, clusters, member)
    is_nested = bool(((nested > 0).sum(axis=1) == 1).all())
    # Clusters inside groups cost one degree of freedom a group, as in a t test.
    freedom = float(count - member.shape[1] if is_nested else count - tests)
    if freedom < 1:
        raise DataError(
            "A clustered log-rank test needs more clusters than groups.",
            got=f"{count} clusters in {member.shape[1]} groups",
        )
    part = sums[:, :-1] - sums[:, :-1].mean(axis=0)
    if is_nested:
        group = (nested > 0).argmax(axis=1)
        for code in np.unique(group):
            part[group == code] -= part[group == code].mean(axis=0)
    variance = part.T @ part * count / freedom
    statistic = float(difference @ np.linalg.pinv(variance) @ difference) / tests
    return statistic, freedom, float(stats.f.sf(statistic, tests, freedom))
