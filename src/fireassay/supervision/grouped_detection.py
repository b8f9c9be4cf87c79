"""AUPR and FPR at 95 % TPR where rows belong together: intervals that count groups."""

import math
from collections.abc import Callable

import numpy as np

from fireassay.core.arrays import BoolArray, FloatArray, IntArray
from fireassay.core.estimate import Estimate
from fireassay.core.lazy_modules import special
from fireassay.statistics.clustered_auc import freedom_of_groups
from fireassay.statistics.grouped_share import GroupCounts, upper_share

_MOST_PARTS = 200
_CELLS = 4_000_000


def jackknifed(
    statistic: Callable[[FloatArray], FloatArray],
    rows: Estimate,
    marks: BoolArray,
    groups: IntArray,
) -> Estimate:
    """A statistic of weighted rows: without each group in turn, on the logit scale, Student's t.

    The two kinds of rows keep their proportion. More than 200 groups are left out several at a
    time. Never narrower than ``rows``, the interval that takes rows for independent.

    >>> scores, marks = np.arange(12.0), np.arange(12) % 4 > 1
    >>> alone = Estimate(0.5, 0.4, 0.6, 0.95, 12, "rows")
    >>> share = lambda weights: (weights * marks * (scores > 5)).sum(axis=1) / weights.sum(axis=1)
    >>> found = jackknifed(share, alone, marks, np.arange(12) // 2)
    >>> found.low <= 0.4, found.high >= 0.6
    (True, True)
    """
    member = np.unique(groups, return_inverse=True)[1].ravel() % _MOST_PARTS
    parts = int(member.max()) + 1
    of_part = np.stack([np.bincount(member[side], minlength=parts) for side in (marks, ~marks)])
    totals = of_part.sum(axis=1, keepdims=True)
    method = f"jackknife over {parts} groups, logit scale"
    if parts < 3 or (of_part == totals).any():
        return _replaced(rows, 0.0, 1.0, "one group holds a whole set: nothing is known")
    again = totals / (totals - of_part)  # what is left stands for what is left out
    left = []
    for some in np.array_split(np.arange(parts), math.ceil(parts * len(marks) / _CELLS)):
        weights = np.where(marks, again[0][some, None], again[1][some, None])
        left.append(statistic(weights * (member != some[:, None])))
    without = np.concatenate(left)
    near = 0.5 / (float(totals.min()) + 1.0)
    value = min(max(rows.value, near), 1.0 - near)
    steps = special.logit(np.clip(without, near, 1.0 - near)) - special.logit(value)
    plain = without - rows.value
    factor = (parts - 1) / parts
    error = math.sqrt(
        factor
        * max(
            float(np.square(steps).sum()),
            float(np.square(plain).sum()) / (value * (1.0 - value)) ** 2,
        )
    )
    if error == 0.0:
        return _replaced(rows, rows.low, rows.high, f"{rows.method}; no group changes it")
    freedom = freedom_of_groups(plain, of_part)
    half = -float(special.stdtrit(freedom, (1.0 - rows.confidence) / 2.0)) * error
    low, high = (float(special.expit(special.logit(value) + step)) for step in (-half, half))
    return _replaced(rows, min(low, rows.low), max(high, rows.high), method)


def grouped_fpr95(
    value: float,
    suspicious: FloatArray,
    nominal: FloatArray,
    groups: tuple[IntArray, IntArray],
    confidence: float,
) -> Estimate:
    """FPR at 95 % TPR; ``groups`` are those of the suspicious and of the nominal rows.

    As with independent rows, a quarter of the error goes to each of four bounds: the threshold
    that catches 95 % from below and above, and the share of nominal rows above either.
    """
    tail = (1.0 - confidence) / 4.0
    levels = np.unique(suspicious)

    def below(k: int) -> GroupCounts:
        return GroupCounts.of(suspicious < levels[k], groups[0])

    def flagged(k: int) -> GroupCounts:
        return GroupCounts.of(nominal >= levels[k], groups[1])

    # The bounds rise with the level: bisection finds the last and the first that will do.
    surely_below = _first(lambda k: upper_share(below(k), tail) > 0.05, len(levels)) - 1
    surely_above = _first(
        lambda k: 1.0 - upper_share(below(k).swapped(), tail) >= 0.05, len(levels)
    )
    low, high = 0.0, 1.0
    if surely_below >= 0:
        high = upper_share(flagged(surely_below), tail)
    if surely_above < len(levels):
        low = 1.0 - upper_share(flagged(surely_above).swapped(), tail)
    return Estimate.around(
        value, low, high, confidence=confidence, n=len(suspicious) + len(nominal),
        method="order statistics and shares of groups, approximate",
    )  # fmt: skip


def _first(true_from_here: Callable[[int], bool], n: int) -> int:
    """The first of 0 … n-1 for which it is true; n if none."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if true_from_here(middle) else (middle + 1, high)
    return low


def _replaced(rows: Estimate, low: float, high: float, method: str) -> Estimate:
    return Estimate.around(
        rows.value, low, high, confidence=rows.confidence, n=rows.n, method=method
    )
