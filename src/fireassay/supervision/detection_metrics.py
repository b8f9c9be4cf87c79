"""Detection metrics with intervals: AUPR, FPR at 95 % TPR, AURC, with and without groups."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.lazy import special
from fireassay.core.validation import check_finite, check_labels
from fireassay.statistics import clopper_pearson, delong_interval
from fireassay.statistics.clustered_auc import clustered_auc, freedom_of_groups
from fireassay.statistics.groups.group_bound import group_mean
from fireassay.statistics.samples import logit_ends

_FURTHER, _OF_A_GROUP = 0.9, 0.5


def error_kept(
    scores: FloatArray, wrong: BoolArray, confidence: float, groups: AnyArray | None = None
) -> Estimate:
    """Mean error of the model over the rows kept, keeping the least suspicious first."""
    # A sum over wrong rows, weighted by rank alone: Fay and Feuer's gamma interval (1997), whose
    # upper end allows for a further event. That event weighs as much as nine rows in ten at the
    # most, or as half of such a group: approximate.
    weights = _weights(scores)
    units = np.arange(len(scores))
    if groups is not None:
        units = np.unique(groups, return_inverse=True)[1].ravel()
    events = np.bincount(units, weights * wrong)
    value, variance = float(events.sum()), float(np.square(events).sum())
    further = float(np.quantile(weights, _FURTHER))
    method = "gamma interval of a weighted sum (Fay and Feuer)"
    if groups is not None:
        of_groups = float(np.quantile(np.bincount(units, weights), _FURTHER))
        further = max(further, _OF_A_GROUP * of_groups)
        method += f", {len(events):,} groups"
    low, high = _gamma_ends(value, variance, further, (1.0 - confidence) / 2.0)
    return Estimate.around(
        value, low, min(1.0, high), confidence=confidence, n=len(scores), method=method
    )


def _weights(scores: FloatArray) -> FloatArray:
    """What a wrong answer of each row adds; rows of one score are kept together."""
    _, place, many = np.unique(scores, return_inverse=True, return_counts=True)
    after = np.cumsum((many / np.cumsum(many))[::-1])[::-1] / len(scores)
    return np.asarray(after[place.ravel()])


def _gamma_ends(value: float, variance: float, further: float, tail: float) -> tuple[float, float]:
    low = 0.0
    if variance > 0.0:
        low = float(special.gammaincinv(value**2 / variance, tail)) * variance / value
    mean, spread = value + further, variance + further**2
    return low, float(special.gammainccinv(mean**2 / spread, tail)) * spread / mean


_MOST_PARTS = 200
_CELLS = 4_000_000


def jackknifed(
    statistic: Callable[[FloatArray], FloatArray],
    rows: Estimate,
    marks: BoolArray,
    groups: IntArray,
) -> Estimate:
    """A statistic of weighted rows by the jackknife over groups, logit scale, Student's t."""
    # Both kinds of rows keep their proportion; more than 200 groups are left out several at a time.
    # Never narrower than ``rows``, the interval that takes rows for independent.
    member = np.unique(groups, return_inverse=True)[1].ravel() % _MOST_PARTS
    parts = int(member.max()) + 1
    of_part = np.stack([np.bincount(member[side], minlength=parts) for side in (marks, ~marks)])
    totals = of_part.sum(axis=1, keepdims=True)
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
    spread = float(np.square(plain).sum()) / (value * (1.0 - value)) ** 2
    error = math.sqrt((parts - 1) / parts * max(float(np.square(steps).sum()), spread))
    if error == 0.0:
        return _replaced(rows, rows.low, rows.high, f"{rows.method}; no group changes it")
    freedom = freedom_of_groups(plain, of_part)
    half = -float(special.stdtrit(freedom, (1.0 - rows.confidence) / 2.0)) * error
    low, high = logit_ends(value, half)
    method = f"jackknife over {parts} groups, logit scale"
    return _replaced(rows, min(low, rows.low), max(high, rows.high), method)


def grouped_fpr95(
    value: float,
    suspicious: FloatArray,
    nominal: FloatArray,
    groups: tuple[IntArray, IntArray],
    confidence: float,
) -> Estimate:
    """FPR at 95 % TPR; ``groups`` are those of the suspicious and of the nominal rows."""
    # A quarter of the error goes to each bound: the threshold that catches 95 % from below and
    # above, and the share of nominal rows above either.
    each = 1.0 - (1.0 - confidence) / 4.0
    levels = np.unique(suspicious)

    def below(k: int, side: str) -> Estimate:
        return group_mean(suspicious < levels[k], groups[0], each, side)

    def flagged(k: int, side: str) -> Estimate:
        return group_mean(nominal >= levels[k], groups[1], each, side)

    # The bounds rise with the level: bisection finds the last and the first that will do.
    surely_below = _first(lambda k: below(k, "upper").high > 0.05, len(levels)) - 1
    surely_above = _first(lambda k: below(k, "lower").low >= 0.05, len(levels))
    low = flagged(surely_above, "lower").low if surely_above < len(levels) else 0.0
    high = flagged(surely_below, "upper").high if surely_below >= 0 else 1.0
    return Estimate.around(
        value, low, high, confidence=confidence, n=len(suspicious) + len(nominal),
        method="order statistics and shares of groups",
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


Marks = BoolArray


@dataclass(frozen=True)
class DetectionMetrics:
    """AUROC (DeLong), AUPR (logit), FPR95 (order statistics) and AURC (gamma interval).

    Attributes:
        auroc, aupr, fpr95: As in `detection_metrics`, each with its interval.
        aurc: None where nothing said which answers are wrong.
    """

    auroc: Estimate
    aupr: Estimate
    fpr95: Estimate
    aurc: Estimate | None


def detection_metrics(
    nominal: ArrayLike,
    suspicious: ArrayLike,
    wrong: ArrayLike | None = None,
    *,
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
) -> DetectionMetrics:
    """Metrics of one supervisor on one set.

    Args:
        nominal, suspicious: Scores; higher is more suspicious.
        wrong: For AURC: whether the model is wrong, for the nominal rows and then the others.
        confidence: Of all intervals.
        groups: The patient or device of the nominal rows and then of the others: intervals then
            count groups, and are approximate.

    Raises:
        DataError: For a set without scores, or ``wrong`` of another length.

    AUPR counts suspicious rows as positive, and so depends on their share. FPR95 is the share of
    nominal rows above the threshold that catches at least 95 % of the suspicious ones. AURC is the
    mean error of the model over the rows kept, over all coverages, keeping the least suspicious
    first; its interval is that of a weighted sum of rare events. AUPR's is Boyd, Eng and Page's
    (2013) on the logit scale. FPR95's combines order statistics of the suspicious scores with
    Clopper and Pearson's share above the threshold (MOVER); below 72 suspicious rows (at 95 %) its
    upper end is 1. With groups AUROC and AUPR have a jackknife over groups on the logit scale,
    FPR95 takes both shares from `statistics.group_mean`, and AURC counts groups as events.

    >>> found = detection_metrics([0.1, 0.2, 0.3, 0.6], [0.5, 0.8, 0.9])
    >>> round(found.auroc.value, 3), found.fpr95.value
    (0.917, 0.25)
    """
    scores, marks = joined(nominal, suspicious)
    who = None if groups is None else check_labels(groups, name="groups", n=len(scores))
    auroc = delong_interval(scores, marks, confidence)
    curve = SortedScores(scores, marks)
    aurc = None
    if wrong is not None:
        errors = np.asarray(wrong, dtype=bool)
        if errors.shape != marks.shape:
            raise DataError(
                f"'wrong' must have {len(marks)} entries, nominal rows first.",
                got=f"shape {errors.shape}",
            )
        aurc = error_kept(scores, errors, confidence, who)
    once = np.ones((1, len(scores)))
    aupr = _logit_interval(float(curve.aupr(once)[0]), int(marks.sum()), len(scores), confidence)
    caught = np.sort(scores[marks])
    fpr95 = _fpr95_interval(float(curve.fpr95(once)[0]), caught, scores[~marks], confidence)
    if who is None:
        return DetectionMetrics(auroc, aupr, fpr95, aurc)
    own = clustered_auc(scores, marks, who, confidence)
    return DetectionMetrics(
        Estimate.around(
            own.auc, own.low, own.high, confidence=confidence, n=len(scores),
            method="jackknife over groups, logit scale",
        ),
        jackknifed(curve.aupr, aupr, marks, who),
        grouped_fpr95(
            fpr95.value, scores[marks], scores[~marks], (who[marks], who[~marks]), confidence
        ),
        aurc,
    )  # fmt: skip


def _logit_interval(value: float, n_positive: int, n: int, confidence: float) -> Estimate:
    """θ with logit(θ) ± z / √(n₊ θ (1 − θ)); a θ of 1 is taken as half a row less."""
    inside = min(max(value, 0.5 / (n_positive + 1)), 1.0 - 0.5 / (n_positive + 1))
    half = float(special.ndtri((1 + confidence) / 2)) / np.sqrt(n_positive * inside * (1 - inside))
    low, high = logit_ends(inside, half)
    return Estimate.around(
        value, low, high, confidence=confidence, n=n, method="logit scale (Boyd, Eng and Page)"
    )


def _fpr95_interval(
    value: float, suspicious: FloatArray, nominal: FloatArray, confidence: float
) -> Estimate:
    """The threshold's order statistics and the share's exact ends, combined (MOVER)."""
    m, tail = len(suspicious), (1.0 - confidence) / 2.0
    ranks = np.arange(1, m + 1)
    # s_(r) lies above the 5 % quantile if fewer than r scores lie below it, and vice versa.
    under = np.flatnonzero(special.bdtr(ranks - 1, m, 0.05) <= tail)
    over = np.flatnonzero(special.bdtrc(ranks - 1, m, 0.05) <= tail)
    most = float((nominal >= suspicious[under[-1]]).mean()) if len(under) else 1.0
    least = float((nominal >= suspicious[over[0]]).mean()) if len(over) else 0.0
    exact = clopper_pearson(value * len(nominal), len(nominal), confidence)
    return Estimate.around(
        value,
        max(0.0, value - math.hypot(value - least, value - exact[0])),
        min(1.0, value + math.hypot(most - value, exact[1] - value)),
        confidence=confidence,
        n=m + len(nominal),
        method="order statistics and Clopper-Pearson, combined",
    )


def joined(nominal: ArrayLike, suspicious: ArrayLike) -> tuple[FloatArray, Marks]:
    """Scores in one array, and which of them are suspicious."""
    a, b = np.asarray(nominal, dtype=np.float64), np.asarray(suspicious, dtype=np.float64)
    if a.ndim != 1 or b.ndim != 1 or not len(a) or not len(b):
        raise DataError(
            "Both sets need scores of shape (n,), at least one.", got=f"{a.shape} and {b.shape}"
        )
    scores = np.concatenate([a, b])
    check_finite(scores, name="scores")
    return scores, np.repeat([False, True], [len(a), len(b)])


class SortedScores:
    """Scores sorted once, most suspicious first; statistics of many weightings of the rows."""

    def __init__(self, scores: FloatArray, marks: Marks) -> None:
        self.order = np.argsort(-scores, kind="stable")
        ranked = scores[self.order]
        self.marks = marks[self.order]
        self.last = np.append(np.flatnonzero(np.diff(ranked) != 0), len(ranked) - 1)

    def aupr(self, weights: FloatArray) -> FloatArray:
        """Average precision of each row of weights; ties are taken together."""
        ranked = weights[:, self.order]
        found = np.cumsum(ranked * self.marks, axis=1)[:, self.last]
        flagged = np.cumsum(ranked, axis=1)[:, self.last]
        precision = np.divide(found, flagged, out=np.zeros_like(found), where=flagged > 0)
        gained = np.diff(found, axis=1, prepend=0.0)
        return np.asarray((precision * gained).sum(axis=1) / found[:, -1])

    def fpr95(self, weights: FloatArray) -> FloatArray:
        """Share of nominal rows flagged when at least 95 % of the others are."""
        ranked = weights[:, self.order]
        caught = np.cumsum(ranked * self.marks, axis=1)[:, self.last]
        alarms = np.cumsum(ranked * ~self.marks, axis=1)[:, self.last]
        first = (caught >= 0.95 * caught[:, -1:] - 1e-9).argmax(axis=1)
        return np.asarray(alarms[np.arange(len(alarms)), first] / alarms[:, -1])
