"""Area under the ROC curve (Mann–Whitney) and the covariance of several (DeLong)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import BoolArray
from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.lazy import special
from fireassay.core.seeds import generator
from fireassay.core.validation import check_finite, check_lengths
from fireassay.statistics.rank_tests import average_ranks
from fireassay.statistics.samples import (
    FloatVector,
    as_real,
    check_confidence,
    check_positive,
    check_sample,
    logit_ends,
)

_MOST_EXACT = 8


@dataclass(frozen=True, slots=True)
class MannWhitney:
    """AUC with its interval and the test of AUC = 1/2.

    Attributes:
        auc, low, high: With its interval.
        p_value: Two-sided.
        n_positive, n_negative: Rows of both classes.
    """

    auc: float
    low: float
    high: float
    p_value: float
    n_positive: int
    n_negative: int


def mann_whitney_auc(
    scores: ArrayLike, positive: ArrayLike, confidence: float = 0.95
) -> MannWhitney:
    """Probability that a positive scores above a negative, ties counted half.

    Args:
        scores: Finite scores, larger meaning more positive.
        positive: True or False per score; both must occur.
        confidence: In (0, 1).

    Returns:
        The p-value is two-sided: exact for small samples without ties, otherwise approximate.

    Raises:
        DataError: For one class only, NaN or different lengths.

    The interval is Newcombe's (2006) score interval with Hanley and McNeil's variance; it is not
    degenerate at AUC = 1. `delong_interval` needs no such model, and is better for large samples.

    >>> mann_whitney_auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]).auc
    0.75
    """
    check_confidence(confidence)
    sample = check_sample(scores, "scores", min_rows=2)
    marks = check_positive(positive, len(sample))
    n_positive = int(marks.sum())
    n_negative = len(sample) - n_positive
    smallest = n_positive * (n_positive + 1) / 2
    auc = float((average_ranks(sample)[marks].sum() - smallest) / (n_positive * n_negative))
    low, high = auc_score_interval(auc, n_positive, n_negative, confidence)
    return MannWhitney(auc, low, high, _p_value(sample, marks), n_positive, n_negative)


def auc_score_interval(
    auc: float, n_positive: int, n_negative: int, confidence: float
) -> tuple[float, float]:
    """The AUCs from which the observed one is at most z standard errors away (Newcombe 2006)."""
    z = -float(special.ndtri((1.0 - confidence) / 2.0))
    half = (n_positive + n_negative) / 2.0 - 1.0

    def excess(theta: float) -> float:
        pairs = 1.0 + half * ((1.0 - theta) / (2.0 - theta) + theta / (1.0 + theta))
        variance = theta * (1.0 - theta) * pairs / (n_positive * n_negative)
        return abs(auc - theta) - z * math.sqrt(variance)

    return _crossing(excess, auc, 0.0), _crossing(excess, auc, 1.0)


def _crossing(excess: Callable[[float], float], inside: float, outside: float) -> float:
    """Where ``excess`` turns positive on the way from the estimate to the end of [0, 1]."""
    for _ in range(100):
        middle = (inside + outside) / 2.0
        if middle in (inside, outside):  # neighbours: nothing changes any more
            break
        inside, outside = (inside, middle) if excess(middle) > 0 else (middle, outside)
    return outside


def _p_value(sample: FloatVector, marks: BoolArray) -> float:
    # scipy.stats takes half a second to import: only when it is needed.
    from scipy.stats import mannwhitneyu

    if np.ptp(sample) == 0:
        return 1.0
    x, y = sample[marks], sample[~marks]
    small = min(len(x), len(y)) <= _MOST_EXACT and len(x) * len(y) <= 50 * _MOST_EXACT
    exact = small and len(np.unique(sample)) == len(sample)
    method: Literal["exact", "asymptotic"] = "exact" if exact else "asymptotic"
    return float(mannwhitneyu(x, y, alternative="two-sided", method=method).pvalue)


_EXCHANGES = 1999
_ENOUGH_MISORDERED = 5
_ENOUGH_FOR_T = 10


def delong(scores: ArrayLike, positive: ArrayLike) -> tuple[FloatVector, FloatVector]:
    """AUCs of one or several scores on the same rows, and their covariance matrix.

    Args:
        scores: Shape (m, n) for m scores of n rows, or (n,); larger means more positive.
        positive: True or False per row, at least two of each.

    Returns:
        (aucs, covariance): Shapes (m,) and (m, m).

    Raises:
        DataError: For fewer than two rows of a class, NaN or different lengths.

    DeLong, DeLong and Clarke-Pearson (1988), in O(m n log n) by midranks (Sun and Xu 2014).

    >>> aucs, covariance = delong([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    >>> float(aucs[0]), float(covariance[0, 0])
    (0.75, 0.125)
    """
    table = np.atleast_2d(as_real(scores, "scores"))
    if table.ndim != 2 or table.shape[0] == 0:
        raise DataError("scores must have shape (m, n) or (n,).", got=f"shape {table.shape}")
    check_finite(table, name="scores")
    marks = check_positive(positive, table.shape[1])
    counts = int(marks.sum()), int((~marks).sum())
    if min(counts) < 2:
        raise DataError(
            "DeLong's variance needs at least two positive and two negative rows.",
            got=f"{counts[0]} and {counts[1]}",
            do="delong_interval and mann_whitney_auc also work with one.",
        )
    of_positives, of_negatives = _placements(table, marks)
    covariance: FloatVector = _spread(of_positives) + _spread(of_negatives)
    return of_positives.mean(axis=1), covariance


def delong_interval(scores: ArrayLike, positive: ArrayLike, confidence: float = 0.95) -> Estimate:
    """AUC with DeLong's interval on the logit scale, which stays within (0, 1).

    Where DeLong's variance is zero or undefined (perfect separation, constant scores, one row of a
    class) it would claim certainty; Newcombe's score interval is given instead, and said so in
    ``method``.

    Args:
        scores: Shape (n,); larger means more positive.
        positive: True or False per row; both must occur.
        confidence: In (0, 1).

    With few rows of a class DeLong's variance is itself uncertain, and the normal quantile gives
    too narrow an interval near 1. Student's quantile with the degrees of freedom of Brunner and
    Munzel (2000) is used; for large samples it is the normal one. Where fewer than five rows of a
    class are misordered at all, the variance rests on them alone: the interval is then widened to
    contain Newcombe's, and ``method`` says so.

    >>> print(delong_interval([1, 2, 3, 4, 5, 6], [0, 0, 0, 1, 1, 1]))
    1.000 [0.501, 1.000] n=6
    """
    check_confidence(confidence)
    sample = check_sample(scores, "scores", min_rows=2)
    marks = check_positive(positive, len(sample))
    n_positive, n_negative = int(marks.sum()), int((~marks).sum())
    placements = _placements(sample[None, :], marks)
    auc = float(placements[0].mean())
    several = min(n_positive, n_negative) >= 2
    parts = [float(_spread(part)[0, 0]) if several else 0.0 for part in placements]
    variance = sum(parts)
    low, high = auc_score_interval(auc, n_positive, n_negative, confidence)
    method = "Newcombe score (DeLong's variance is zero)"
    if variance > 1e-15 and 0.0 < auc < 1.0:
        own = parts[0] ** 2 / (n_positive - 1) + parts[1] ** 2 / (n_negative - 1)
        quantile = -float(special.stdtrit(variance**2 / own, (1.0 - confidence) / 2.0))
        half = quantile * math.sqrt(variance) / (auc * (1.0 - auc))
        logit_low, logit_high = logit_ends(auc, half)
        if _fewest_misordered(placements) < _ENOUGH_MISORDERED:
            low, high = min(low, logit_low), max(high, logit_high)
            method = "DeLong, logit scale, widened to Newcombe score (few misordered rows)"
        else:
            low, high = logit_low, logit_high
            method = "DeLong, logit scale, t quantile"
    return Estimate.around(auc, low, high, confidence=confidence, n=len(sample), method=method)


def delong_test(scores_a: ArrayLike, scores_b: ArrayLike, positive: ArrayLike) -> float:
    """Two-sided p-value of "both scores have the same AUC on these paired rows".

    Student's t with the degrees of freedom of the placements' spread. Where a class has fewer than
    ten rows, or the difference has no variance (both separate perfectly, or one is constant), the
    p-value comes from exchanging the two scores' ranks row by row, 1,999 times with a fixed seed.

    Args:
        scores_a, scores_b: Two scores of the same rows.
        positive: True for rows of the class that should score high.

    >>> delong_test([1, 2, 3, 4], [1, 2, 3, 4], [0, 1, 0, 1])
    1.0
    """
    first, second = check_sample(scores_a, "scores_a"), check_sample(scores_b, "scores_b")
    check_lengths(scores_a=len(first), scores_b=len(second))
    marks = check_positive(positive, len(first))
    of_positives, of_negatives = _placements(np.stack([first, second]), marks)
    gaps = of_positives[0] - of_positives[1], of_negatives[0] - of_negatives[1]
    difference = float(gaps[0].mean())
    if abs(difference) <= 1e-12:
        return 1.0
    sizes = [len(gap) for gap in gaps]
    several = min(sizes) >= _ENOUGH_FOR_T
    parts = [float(gap.var(ddof=1)) / len(gap) if several else 0.0 for gap in gaps]
    variance = sum(parts)
    if variance <= 1e-15:
        return _exchange_test(first, second, marks)
    own = sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
    return float(2.0 * special.stdtr(variance**2 / own, -abs(difference) / math.sqrt(variance)))


def _placements(table: FloatVector, marks: BoolArray) -> tuple[FloatVector, FloatVector]:
    """Share of negatives below each positive, and of positives above each negative."""
    positives, negatives = table[:, marks], table[:, ~marks]
    n_positive, n_negative = positives.shape[1], negatives.shape[1]
    together = np.stack([average_ranks(row) for row in table])
    own_positive = np.stack([average_ranks(row) for row in positives])
    own_negative = np.stack([average_ranks(row) for row in negatives])
    below = (together[:, marks] - own_positive) / n_negative
    above = 1.0 - (together[:, ~marks] - own_negative) / n_positive
    return below, above


def _spread(placements: FloatVector) -> FloatVector:
    """Covariance of the mean placements."""
    return np.asarray(np.atleast_2d(np.cov(placements)) / placements.shape[1])


def _fewest_misordered(placements: tuple[FloatVector, FloatVector]) -> int:
    """In the class that has fewer: rows on the wrong side of some row of the other class."""
    of_either = ((placement < 1.0, placement > 0.0) for placement in placements)
    return min(int(side.sum()) for sides in of_either for side in sides)


def _exchange_test(first: FloatVector, second: FloatVector, marks: BoolArray) -> float:
    """The difference of the two AUCs is a sum over rows, each with the sign of its exchange."""
    a, b = average_ranks(first), average_ranks(second)
    pieces = np.empty(len(a))
    for of, others, sign in ((marks, ~marks, 1.0), (~marks, marks, -1.0)):
        own = _below(a[of], a[others]) - _below(b[of], b[others])
        mixed = _below(a[of], b[others]) - _below(b[of], a[others])
        pieces[of] = sign * (own + mixed) / 2.0
    rng = generator(0, "delong", "exchange")
    observed = abs(float(pieces.sum()))
    extreme = 0
    for _ in range(_EXCHANGES):
        swap = rng.random(len(a)) < 0.5
        extreme += abs(float(np.where(swap, -pieces, pieces).sum())) >= observed - 1e-9
    return (extreme + 1) / (_EXCHANGES + 1)


def _below(values: FloatVector, others: FloatVector) -> FloatVector:
    """How many of the others lie below each value, ties half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, values) + np.searchsorted(ordered, values, side="right")
    return np.asarray(below / 2.0)
