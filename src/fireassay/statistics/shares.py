"""Shares of rows with intervals: one share, several at once, and each kind of confusion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, BoolArray, IntArray
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.estimate import Estimate
from fireassay.core.groups import largest_group
from fireassay.core.lazy import pd
from fireassay.core.validation import check_choice, check_labels
from fireassay.statistics.counts import clopper_pearson
from fireassay.statistics.groups.group_bound import group_lower, group_mean, group_upper
from fireassay.statistics.groups.group_counts import GroupCounts
from fireassay.statistics.samples import check_confidence


def share(
    hits: Any,
    n: int | None = None,
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
    *,
    rests_on: tuple[str, ...] = (),
) -> Estimate:
    """A share with the exact Clopper–Pearson interval, or with one that counts groups.

    Args:
        hits: How many of ``n``; with ``groups``, True or False for each row.
        n: The number of rows; without rows the share is not estimable.
        confidence: In (0, 1).
        groups: For each row the patient, device or document it belongs to (see `group_mean`).
        rests_on: Ids of the assumptions that the estimate carries.

    >>> print(share(3, 40))
    0.075 [0.016, 0.204] n=40
    >>> print(share([1, 0, 0, 0, 0, 0, 0, 0], groups=[0, 0, 1, 1, 2, 2, 3, 3]))
    0.125 [0.001, 0.669] n=8
    """
    if groups is not None:
        if n is not None:
            raise ParameterError("With groups, hits are given row by row, without n.", got=f"n={n}")
        return group_mean(hits, groups, confidence, rests_on=rests_on)
    if n is None:
        raise ParameterError("A share needs hits and n, or rows and their groups.", got="no n")
    if n == 0:
        nan = float("nan")
        return Estimate(nan, nan, nan, confidence, 0, "Clopper-Pearson", rests_on=rests_on)
    low, high = clopper_pearson(float(hits), float(n), confidence)
    return Estimate.around(
        hits / n, low, high, confidence=confidence, n=n, method="Clopper-Pearson", rests_on=rests_on
    )


def exact_shares(
    hits: ArrayLike,
    n: ArrayLike,
    confidence: float = 0.95,
    alternative: str = "two-sided",
    *,
    simultaneous: bool = False,
    rests_on: tuple[str, ...] = (),
) -> list[Estimate]:
    """A share for each pair of counts with exact intervals; equal pairs are computed once."""
    counts, sizes = np.asarray(hits, dtype=np.int64), np.asarray(n, dtype=np.int64)
    several = int((sizes > 0).sum()) if simultaneous else 1
    each = 1.0 - (1.0 - confidence) / max(1, several) if simultaneous else confidence
    method = "Clopper-Pearson" + (f", simultaneous over {several}" if several > 1 else "")
    pairs, place = np.unique(np.stack([counts, sizes]), axis=1, return_inverse=True)
    ends = clopper_pearson(pairs[0], pairs[1], each, alternative)
    lows, highs = (end[place.ravel()].tolist() for end in ends)
    nothing = share(0, 0, confidence, rests_on=rests_on)
    return [
        Estimate.around(
            k / m, low, high, confidence=confidence, n=m, method=method, rests_on=rests_on
        )
        if m
        else nothing
        for k, m, low, high in zip(counts.tolist(), sizes.tolist(), lows, highs, strict=True)
    ]


def confusion_rates(
    y: IntArray,
    predicted: IntArray,
    classes: Sequence[Any],
    confidence: float,
    groups: ArrayLike | None = None,
) -> pd.DataFrame:
    """The probability per input of each confusion, with its own and a joint upper bound."""
    k, n = len(classes), len(y)
    kept = predicted >= 0
    counts = np.bincount((y * k + predicted)[kept], minlength=k * k).reshape(k, k)
    true, given = np.nonzero(~np.eye(k, dtype=bool))
    errors = counts[true, given]
    kinds = max(1, k * (k - 1))
    _, upper = clopper_pearson(errors, n, confidence, "upper")
    low, _ = clopper_pearson(errors, n, confidence, "lower")
    _, joint = clopper_pearson(errors, n, 1 - (1 - confidence) / kinds, "upper")
    if groups is not None:
        cap = largest_group(groups)
        none = _grouped(GroupCounts.of(np.zeros(n), groups), confidence, kinds, cap)
        table = [
            _grouped(GroupCounts.of((y == i) & (predicted == j), groups), confidence, kinds, cap)
            if count
            else none
            for i, j, count in zip(true, given, errors, strict=True)
        ]
        low, upper, joint = np.array(table).reshape(-1, 3).T
    frame = pd.DataFrame(
        {
            "true": [classes[int(i)] for i in true],
            "predicted": [classes[int(i)] for i in given],
            "count": errors,
            "pmi": errors / n,
            "low": low,
            "upper": upper,
            "upper_joint": joint,
        }
    )
    return frame.sort_values("count", ascending=False, kind="stable").reset_index(drop=True)


def _grouped(
    counts: GroupCounts, confidence: float, kinds: int, largest: float | None
) -> tuple[float, float, float]:
    """Lower, upper and joint upper bound of one kind of mistake."""
    pair, tail = (counts.hits, counts.sizes), 1.0 - confidence
    low = group_lower(*pair, tail, largest) if counts.hits.any() else 0.0
    upper, joint = (group_upper(*pair, level, largest) for level in (tail, tail / kinds))
    return low, upper, joint


def simultaneous_shares(
    hit: ArrayLike,
    members: ArrayLike,
    confidence: float = 0.95,
    alternative: str = "two-sided",
    *,
    groups: ArrayLike | None = None,
    rests_on: tuple[str, ...] = (),
) -> list[Estimate]:
    """The share of hits in each set of rows; with this confidence no interval misses.

    Whatever set is then looked at because it is the worst keeps its interval.

    Args:
        hit: True or False for each row, or of shape (n, m) with its own meaning in each set.
        members: Shape (n, m): which rows belong to each of m sets. Sets may overlap.
        confidence: That all intervals contain their share, in (0, 1).
        alternative: "two-sided", or "upper" and "lower" for bounds on one side.
        groups: For each row the patient, device or document it belongs to (see `group_mean`).
        rests_on: Ids of the assumptions that the estimates carry.

    Returns:
        One per set; a set without rows is not estimable and does not count.

    Exact Clopper–Pearson intervals at the level ``1 - (1 - confidence) / m`` (Bonferroni), given
    how many rows each set has: no assumption on how the sets depend on each other.

    >>> errors, sets = [1, 0, 0, 0, 0, 0], [[1, 0]] * 3 + [[0, 1]] * 3
    >>> [round(e.high, 3) for e in simultaneous_shares(errors, sets)]
    [0.934, 0.768]
    """
    check_confidence(confidence)
    check_choice(alternative, "alternative", ("two-sided", "upper", "lower"))
    inside, hits = _checked(hit, members)
    if groups is None:
        k, n = (np.count_nonzero(which, axis=0) for which in (hits & inside, inside))
        return exact_shares(k, n, confidence, alternative, simultaneous=True, rests_on=rests_on)
    who = check_labels(groups, name="groups", n=len(inside))
    several = int(inside.any(axis=0).sum())
    each = 1.0 - (1.0 - confidence) / max(1, several)
    nothing = share(0, 0, confidence, rests_on=rests_on)
    found = []
    for column in range(inside.shape[1]):
        rows = inside[:, column]
        one = (
            group_mean(hits[rows, column], who[rows], each, alternative) if rows.any() else nothing
        )
        method = one.method + (f", simultaneous over {several}" if several > 1 and one.n else "")
        found.append(replace(one, confidence=confidence, method=method, rests_on=rests_on))
    return found


def _checked(hit: ArrayLike, members: ArrayLike) -> tuple[BoolArray, BoolArray]:
    inside, hits = np.asarray(members), np.asarray(hit)
    if inside.ndim != 2 or not _yes_or_no(inside):
        raise DataError(
            "members must be True or False, a row for each row and a column for each set.",
            got=f"{inside.dtype} of shape {inside.shape}",
        )
    known = _yes_or_no(hits)
    if hits.ndim == 1:
        hits = np.broadcast_to(hits[:, None], (len(hits), inside.shape[1]))
    if hits.shape != inside.shape or not known:
        raise DataError(
            f"hit must be True or False for each of the {len(inside):,} rows.",
            got=f"{hits.dtype} of shape {hits.shape}",
        )
    return inside.astype(bool, copy=False), hits.astype(bool, copy=False)


def _yes_or_no(values: AnyArray) -> bool:
    return values.dtype == bool or bool(np.isin(values, (0, 1)).all())
