"""Two numbers of the same rows: the interval of their difference."""

import math

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.lazy import special
from fireassay.core.validation import check_labels, check_lengths
from fireassay.statistics.auc import delong, delong_interval
from fireassay.statistics.counts import wilson
from fireassay.statistics.groups.group_bound import group_mean
from fireassay.statistics.samples import check_confidence, check_positive, check_sample
from fireassay.statistics.shares import share

_FEW = 20
_Ends = tuple[float, float, float]  # a value, its low and its high end


def paired_difference(
    first: ArrayLike, second: ArrayLike, confidence: float = 0.95, groups: ArrayLike | None = None
) -> Estimate:
    """Share of ``second`` minus share of ``first``, on the same rows.

    Rows that two models answer alike say nothing: using that makes the interval narrower.

    Args:
        first, second: True or False per row in the same order, e.g. whether a model is right.
        confidence: In (0, 1).
        groups: For each row the patient, device or document it belongs to: then groups are counted.

    Newcombe's score interval for paired proportions (1998, method 10): the two Wilson intervals
    are combined with the correlation of the rows. The correlation is shrunk by half a row in the
    direction of no correlation, as in his continuity-corrected phi. Where no row differs, the
    exact limit of the share of rows that do is given, half of the error on either side. With
    groups it is the bound of `group_mean` on changes from -1 to 1.

    >>> print(paired_difference([1, 1, 0, 0] * 25, [1, 1, 1, 0] * 25))
    0.250 [0.161, 0.333] n=100
    """
    check_confidence(confidence)
    a, b = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    check_lengths(first=len(a), second=len(b))
    n = len(a)
    if n == 0:
        raise DataError("A difference needs at least one row.", got="0 rows")
    if groups is not None:
        return group_mean(b.astype(float) - a, groups, confidence, lowest=-1.0)
    both, neither = int((a & b).sum()), int((~a & ~b).sum())
    only_b, only_a = int((~a & b).sum()), int((a & ~b).sum())
    share_a, share_b = (both + only_a) / n, (both + only_b) / n
    low_a, high_a = (float(end) for end in wilson(both + only_a, n, confidence))
    low_b, high_b = (float(end) for end in wilson(both + only_b, n, confidence))
    phi = _correlation(both, only_a, only_b, neither, n)
    if only_a + only_b == 0:
        # |change| is at most the chance that the two differ, of which no row shows any.
        most = 1.0 - ((1.0 - confidence) / 2.0) ** (1.0 / n)
        return Estimate(0.0, -most, most, confidence, n, "exact, no row differs")
    before, after = (share_a, low_a, high_a), (share_b, low_b, high_b)
    ends = _combined(share_b - share_a, before, after, phi)
    return Estimate(*ends, confidence, n, "Newcombe, paired")


def paired_mean_difference(
    first: ArrayLike, second: ArrayLike, confidence: float = 0.95, groups: ArrayLike | None = None
) -> Estimate:
    """Mean of ``second`` minus mean of ``first``, on the same rows: Student's t, approximate.

    Args:
        first, second: A number per row in the same order, e.g. the queries until a model falls.
        confidence: In (0, 1).
        groups: For each row what it belongs to: whole groups are then left out in turn.

    >>> print(paired_mean_difference([1.0, 2, 3, 4], [2.0, 3, 3, 5]))
    0.750 [-0.046, 1.546] n=4
    """
    check_confidence(confidence)
    a, b = check_sample(first, "first", min_rows=2), check_sample(second, "second", min_rows=2)
    check_lengths(first=len(a), second=len(b))
    change = b - a
    n, value = len(change), float(change.mean())
    units, error = n, float(change.std(ddof=1)) / math.sqrt(n)
    method = "t, paired"
    if groups is not None:
        _, member = np.unique(check_labels(groups, name="groups", n=n), return_inverse=True)
        sums, sizes = np.bincount(member.ravel(), change), np.bincount(member.ravel())
        units = len(sizes)
        if units < 2:
            return Estimate(value, -math.inf, math.inf, confidence, n, "one group: no spread")
        without = (change.sum() - sums) / (n - sizes)
        error = math.sqrt((units - 1) / units * float(np.square(without - value).sum()))
        method = f"t, paired, jackknife over {units} groups"
    half = -float(special.stdtrit(units - 1, (1.0 - confidence) / 2.0)) * error
    return Estimate(value, value - half, value + half, confidence, n, method)


def paired_auc_difference(
    first: ArrayLike, second: ArrayLike, positive: ArrayLike, confidence: float = 0.95
) -> Estimate:
    """AUC of ``second`` minus AUC of ``first`` on the same rows: DeLong's covariance, approximate.

    Args:
        first, second: Two scores of the same rows; larger means more positive.
        positive: True or False per row, at least two of each.
        confidence: In (0, 1).

    The two intervals on the logit scale (`delong_interval`) are combined with DeLong's correlation,
    shrunk by ``m / (m + 20)`` with m rows of the rarer kind, as Newcombe combines shares: a normal
    interval of the difference misses 12 % near AUC 0.98 with 20 positives. Scores that order the
    rows alike have the same AUC on any rows.

    >>> print(paired_auc_difference([1, 2, 3, 4], [1, 2, 3, 4], [0, 1, 0, 1]))
    0.000 [0.000, 0.000] n=4
    """
    check_confidence(confidence)
    a, b = check_sample(first, "first", min_rows=4), check_sample(second, "second", min_rows=4)
    check_lengths(first=len(a), second=len(b))
    marks = check_positive(positive, len(a))
    if min(int(marks.sum()), int((~marks).sum())) < 2:
        raise DataError("A difference of AUCs needs two rows of each kind.", got="fewer")
    aucs, covariance = delong(np.stack([a, b]), marks)
    value, n, method = float(aucs[1] - aucs[0]), len(a), "DeLong, paired, combined logit intervals"
    if np.array_equal(np.argsort(a, kind="stable"), np.argsort(b, kind="stable")):
        return Estimate(value, value, value, confidence, n, "the same order of rows")
    found = (delong_interval(scores, marks, confidence) for scores in (a, b))
    spread = math.sqrt(float(covariance[0, 0] * covariance[1, 1]))
    together = max(float(covariance[0, 1]) / spread, 0.0) if spread > 1e-15 else 0.0
    fewest = min(int(marks.sum()), int((~marks).sum()))
    together *= fewest / (fewest + _FEW)  # a correlation of few rows is not to be relied on
    before, after = ((e.value, e.low, e.high) for e in found)
    return Estimate(*_combined(value, before, after, together), confidence, n, method)


def paired_ratio_difference(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
) -> Estimate:
    """Share of hits among other rows in ``second`` minus that in ``first``: a precision, say.

    Each model answers other rows of the same set with a class; how often each is right there.

    Args:
        first, second: For each row whether it is a hit, and whether it counts at all.
        confidence: In (0, 1).
        groups: For each row the patient, device or document it belongs to.

    The two intervals (`share`) are combined with the correlation of what the rows contribute to
    either, shrunk by ``m / (m + 20)`` with m rows of the smaller set, as for AUCs: approximate.

    >>> said, right = np.ones(100, dtype=bool), np.arange(100) < 80
    >>> print(paired_ratio_difference((right, said), (right | (np.arange(100) > 89), said)))
    0.100 [0.029, 0.176] n=100
    """
    check_confidence(confidence)
    hits, counts, ends, pull = [], [], [], []
    for hit, inside in (first, second):
        hits.append(np.asarray(hit).astype(bool) & np.asarray(inside).astype(bool))
        counts.append(np.asarray(inside).astype(bool))
    check_lengths(first=len(hits[0]), second=len(hits[1]))
    if not all(inside.any() for inside in counts):
        raise DataError("A difference of shares needs rows on both sides.", got="none")
    n = int((counts[0] | counts[1]).sum())
    if np.array_equal(hits[0], hits[1]) and np.array_equal(counts[0], counts[1]):
        most = 1.0 - ((1.0 - confidence) / 2.0) ** (1.0 / n)
        return Estimate(0.0, -most, most, confidence, n, "exact, no row differs")
    who = None if groups is None else check_labels(groups, name="groups", n=len(hits[0]))
    member = np.arange(len(hits[0])) if who is None else np.unique(who, return_inverse=True)[1]
    for hit, inside in zip(hits, counts, strict=True):
        if who is None:
            ends.append(share(int(hit.sum()), int(inside.sum()), confidence))
        else:
            ends.append(share(hit[inside], confidence=confidence, groups=who[inside]))
        pull.append(np.bincount(member.ravel(), weights=(hit - ends[-1].value) * inside))
    spread = math.sqrt(float(pull[0] @ pull[0]) * float(pull[1] @ pull[1]))
    together = max(0.0, float(pull[0] @ pull[1]) / spread) if spread > 0 else 0.0
    fewest = min(int(np.count_nonzero(own)) for own in pull) if spread > 0 else 0
    together *= fewest / (fewest + _FEW)
    before, after = ((e.value, e.low, e.high) for e in ends)
    difference = _combined(after[0] - before[0], before, after, together)
    return Estimate(*difference, confidence, n, f"{ends[1].method}, paired")


def _combined(value: float, before: _Ends, after: _Ends, phi: float) -> _Ends:
    """A change with its ends, from both sides with theirs and their correlation (Newcombe)."""

    def reach(one: float, other: float) -> float:
        return math.sqrt(max(one**2 - 2 * phi * one * other + other**2, 0.0))

    down = reach(after[0] - after[1], before[2] - before[0])
    up = reach(after[2] - after[0], before[0] - before[1])
    return value, value - down, value + up


def _correlation(both: int, only_a: int, only_b: int, neither: int, n: int) -> float:
    margins = (both + only_a) * (both + only_b) * (neither + only_a) * (neither + only_b)
    if margins == 0:
        return 0.0
    excess = float(both * neither - only_a * only_b)
    if excess > 0:
        excess = max(excess - n / 2, 0.0)
    return excess / math.sqrt(margins)
