"""Shares of several sets of rows, with intervals that hold for all of them at once."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, BoolArray
from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.validation import check_choice, check_labels
from fireassay.statistics.grouped_share import grouped_share
from fireassay.statistics.samples import check_confidence
from fireassay.statistics.share import exact_shares, share


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

    Parameters
    ----------
    hit
        True or False for each row; or of shape (n, m), where a hit means something else in each
        set.
    members
        Shape (n, m): which rows belong to each of m sets. Sets may overlap.
    confidence
        That all intervals contain their share, in (0, 1).
    alternative
        "two-sided", or "upper" and "lower" for bounds on one side.
    groups
        For each row the patient, device or document it belongs to (see `grouped_share`).
    rests_on
        Ids of the assumptions that the estimates carry.

    Returns
    -------
    list of Estimate
        One per set; a set without rows is not estimable and does not count.

    Notes
    -----
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
        return exact_shares(
            np.count_nonzero(hits & inside, axis=0),
            np.count_nonzero(inside, axis=0),
            confidence,
            alternative,
            simultaneous=True,
            rests_on=rests_on,
        )
    who = check_labels(groups, name="groups", n=len(inside))
    several = int(inside.any(axis=0).sum())
    each = 1.0 - (1.0 - confidence) / max(1, several)
    nothing = share(0, 0, confidence, rests_on=rests_on)
    found = []
    for column in range(inside.shape[1]):
        rows = inside[:, column]
        one = (
            grouped_share(hits[rows, column], who[rows], each, alternative)[0]
            if rows.any()
            else nothing
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
