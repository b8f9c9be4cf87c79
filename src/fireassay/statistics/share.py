"""A share of rows with its interval."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.errors import ParameterError
from fireassay.core.estimate import Estimate
from fireassay.statistics.clopper_pearson import clopper_pearson
from fireassay.statistics.grouped_share import grouped_share


def share(
    hits: Any,
    n: int | None = None,
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
    *,
    rests_on: tuple[str, ...] = (),
) -> Estimate:
    """A share with the exact Clopper–Pearson interval, or with one that counts groups.

    Parameters
    ----------
    hits
        How many of ``n``; with ``groups``, True or False for each row.
    n
        The number of rows; without rows the share is not estimable.
    confidence
        In (0, 1).
    groups
        For each row the patient, device or document it belongs to (see `grouped_share`).
    rests_on
        Ids of the assumptions that the estimate carries.

    >>> print(share(3, 40))
    0.075 [0.016, 0.204] n=40
    >>> print(share([1, 0, 0, 0, 0, 0, 0, 0], groups=[0, 0, 1, 1, 2, 2, 3, 3]))
    0.125 [0.000, 0.831] n=8
    """
    if groups is not None:
        if n is not None:
            raise ParameterError("With groups, hits are given row by row, without n.", got=f"n={n}")
        return grouped_share(hits, groups, confidence, rests_on=rests_on)[0]
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
    """A share for each pair of counts, with exact intervals.

    The quantiles of all pairs are found together, of equal pairs once: a thousand classes take as
    long as a few.

    Parameters
    ----------
    hits, n
        Whole numbers of one length, ``hits <= n``; a set without rows is not estimable.
    confidence
        In (0, 1).
    alternative
        "two-sided", or "upper" and "lower" for bounds on one side.
    simultaneous
        Whether all intervals together hold with this confidence (Bonferroni over those with rows).
    rests_on
        Ids of the assumptions that the estimates carry.

    >>> [str(found) for found in exact_shares([3, 0], [40, 5])]
    ['0.075 [0.016, 0.204] n=40', '0.000 [0.000, 0.522] n=5']
    """
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
