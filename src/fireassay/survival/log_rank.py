"""The log-rank test: do arms fail at the same rate? With rows of one model kept together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import AnyArray
from fireassay.core.errors import DataError
from fireassay.core.lazy_modules import pd, stats
from fireassay.core.percent import p_text
from fireassay.core.result import Result
from fireassay.core.seeds import generator
from fireassay.survival.rows import arms, as_frame, group_codes
from fireassay.survival.times import check_events, read_times


@dataclass(frozen=True)
class LogRank(Result):
    """The test's statistic and p, and per arm the observed and expected failures.

    Attributes
    ----------
    statistic, df, p
        Of the test.
    table
        Per arm: what was observed and expected.
    method
        Which of the tests it was.
    smallest_p
        The smallest p that the test could have given: with few groups to permute, no difference
        however large reaches .05, and ``method`` says so.
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

    Parameters
    ----------
    obs
        `Observations`, or a table with times and arms.
    by
        Column, or columns, whose values are the arms.
    groups
        Column of what belongs together, e.g. ``"model_id"``.
    n_permutations, seed
        Of the permutations.

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
    """Share of arrangements of groups over arms that no statistic can tell from the one seen.

    Arms of one size may swap their names; every other arrangement may be less extreme.
    """
    arrangements = math.factorial(int(sizes.sum()))
    for size in sizes:
        arrangements //= math.factorial(int(size))
    alike = math.prod(math.factorial(int(count)) for count in np.bincount(sizes))
    return alike / arrangements


def _log_hazard_ratios(place: NDArray[np.intp], failed: AnyArray, member: AnyArray) -> AnyArray:
    """Peto's estimates of all arms but the last, against the mean of those at risk."""
    observed, expected, variance = _counts(place, failed, member)
    return np.asarray(np.linalg.pinv(variance) @ (observed - expected)[:-1])
