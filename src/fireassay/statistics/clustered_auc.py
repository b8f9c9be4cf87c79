"""The AUC when rows belong together: several windows of one patient, frames of one video."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from fireassay.core.arrays import BoolArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.validation import check_labels
from fireassay.statistics.mann_whitney import MannWhitney
from fireassay.statistics.ranks import average_ranks
from fireassay.statistics.samples import FloatVector, check_confidence, check_positive, check_sample


def clustered_auc(
    scores: ArrayLike, positive: ArrayLike, groups: ArrayLike, confidence: float = 0.95
) -> MannWhitney:
    """Mann-Whitney AUC whose interval and test count groups, not rows.

    Parameters
    ----------
    scores
        Finite scores, larger meaning more positive.
    positive
        True or False per score; both must occur.
    groups
        Which rows belong together (a patient, a video), one value per row; at least three groups.
    confidence
        In (0, 1).

    Returns
    -------
    MannWhitney
        The p-value is two-sided for AUC = 1/2.

    Raises
    ------
    DataError
        For one class only, fewer than three groups, NaN or different lengths.

    Notes
    -----
    The standard error is the jackknife over groups: the AUC without each of them in turn, in
    O(n log n) altogether. It is Obuchowski's (1997) variance for many groups and keeps the level
    better for few. Test and interval use Student's t with one degree of freedom less than there
    are groups.

    >>> found = clustered_auc([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1], [0, 0, 1, 1, 2, 2])
    >>> round(found.auc, 3)
    0.889
    """
    check_confidence(confidence)
    sample = check_sample(scores, "scores", min_rows=2)
    marks = check_positive(positive, len(sample))
    labels = check_labels(groups, name="groups", n=len(sample))
    _, member = np.unique(labels, return_inverse=True)
    member = member.ravel()
    n_groups = int(member.max()) + 1
    if n_groups < 3:
        raise DataError(
            "A clustered AUC needs at least three groups.",
            got=str(n_groups),
            do="Collect more patients or devices; more rows of the same ones do not help.",
        )
    n_positive = int(marks.sum())
    n_negative = len(sample) - n_positive
    together = average_ranks(sample)
    wins_of_positives = together[marks] - average_ranks(sample[marks])
    wins_over_negatives = n_positive - (together[~marks] - average_ranks(sample[~marks]))
    total = float(wins_of_positives.sum())
    auc = total / (n_positive * n_negative)
    left = _without_each(
        total,
        np.bincount(member[marks], weights=wins_of_positives, minlength=n_groups),
        np.bincount(member[~marks], weights=wins_over_negatives, minlength=n_groups),
        _wins_within(sample, marks, member, n_groups),
        n_positive - np.bincount(member[marks], minlength=n_groups),
        n_negative - np.bincount(member[~marks], minlength=n_groups),
    )
    error = math.sqrt((n_groups - 1) / n_groups * float(((left - left.mean()) ** 2).sum()))
    if not error > 1e-15:
        # One group holds a whole class, or no group changes anything: no spread to learn from.
        return MannWhitney(auc, 0.0, 1.0, 1.0, n_positive, n_negative)
    half = -float(stdtrit(n_groups - 1, (1.0 - confidence) / 2.0)) * error
    p_value = float(2.0 * stdtr(n_groups - 1, -abs(auc - 0.5) / error))
    low, high = max(0.0, auc - half), min(1.0, auc + half)
    return MannWhitney(auc, low, high, p_value, n_positive, n_negative)


def _without_each(
    total: float,
    of_positives: NDArray[Any],
    over_negatives: NDArray[Any],
    within: FloatVector,
    positives_left: IntArray,
    negatives_left: IntArray,
) -> FloatVector:
    """The AUC without each group; NaN where nothing of a class is left."""
    wins = total - of_positives - over_negatives + within
    pairs = positives_left * negatives_left
    left: FloatVector = np.divide(wins, pairs, out=np.full(len(wins), np.nan), where=pairs > 0)
    return left


def _wins_within(
    sample: FloatVector, marks: BoolArray, member: IntArray, n_groups: int
) -> FloatVector:
    """Pairs won (ties half) by positives of a group against negatives of the same group."""
    order = np.argsort(member, kind="stable")
    wins = np.zeros(n_groups)
    for number, rows in enumerate(np.split(order, np.cumsum(np.bincount(member))[:-1])):
        mine = marks[rows]
        count = int(mine.sum())
        if 0 < count < len(rows):
            ranks = average_ranks(sample[rows])
            wins[number] = ranks[mine].sum() - count * (count + 1) / 2
    return wins
