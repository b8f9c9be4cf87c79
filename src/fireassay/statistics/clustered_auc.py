"""The AUC when rows come in clusters: several windows of one patient, frames of one video."""

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
    scores: ArrayLike, positive: ArrayLike, clusters: ArrayLike, confidence: float = 0.95
) -> MannWhitney:
    """Mann-Whitney AUC whose interval and test count clusters, not rows.

    Parameters
    ----------
    scores
        Finite scores, larger meaning more positive.
    positive
        True or False per score; both must occur.
    clusters
        A cluster label per row; at least three clusters.
    confidence
        In (0, 1).

    Returns
    -------
    MannWhitney
        The p-value is two-sided for AUC = 1/2.

    Raises
    ------
    DataError
        For one class only, fewer than three clusters, NaN or different lengths.

    Notes
    -----
    The standard error is the jackknife over clusters: the AUC without each of them in turn, in
    O(n log n) altogether. It is Obuchowski's (1997) variance for many clusters and keeps the level
    better for few. Test and interval use Student's t with one degree of freedom less than there
    are clusters.

    >>> found = clustered_auc([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1], [0, 0, 1, 1, 2, 2])
    >>> round(found.auc, 3)
    0.889
    """
    check_confidence(confidence)
    sample = check_sample(scores, "scores", min_rows=2)
    marks = check_positive(positive, len(sample))
    labels = check_labels(clusters, name="clusters", n=len(sample))
    _, member = np.unique(labels, return_inverse=True)
    member = member.ravel()
    n_clusters = int(member.max()) + 1
    if n_clusters < 3:
        raise DataError(
            "A clustered AUC needs at least three clusters.",
            got=str(n_clusters),
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
        np.bincount(member[marks], weights=wins_of_positives, minlength=n_clusters),
        np.bincount(member[~marks], weights=wins_over_negatives, minlength=n_clusters),
        _wins_within(sample, marks, member, n_clusters),
        n_positive - np.bincount(member[marks], minlength=n_clusters),
        n_negative - np.bincount(member[~marks], minlength=n_clusters),
    )
    error = math.sqrt((n_clusters - 1) / n_clusters * float(((left - left.mean()) ** 2).sum()))
    if not error > 1e-15:
        # One cluster holds a whole class, or no cluster changes anything: no spread to learn from.
        return MannWhitney(auc, 0.0, 1.0, 1.0, n_positive, n_negative)
    half = -float(stdtrit(n_clusters - 1, (1.0 - confidence) / 2.0)) * error
    p_value = float(2.0 * stdtr(n_clusters - 1, -abs(auc - 0.5) / error))
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
    """The AUC without each cluster; NaN where nothing of a class is left."""
    wins = total - of_positives - over_negatives + within
    pairs = positives_left * negatives_left
    left: FloatVector = np.divide(wins, pairs, out=np.full(len(wins), np.nan), where=pairs > 0)
    return left


def _wins_within(
    sample: FloatVector, marks: BoolArray, member: IntArray, n_clusters: int
) -> FloatVector:
    """Pairs won (ties half) by positives of a cluster against negatives of the same cluster."""
    order = np.argsort(member, kind="stable")
    wins = np.zeros(n_clusters)
    for number, rows in enumerate(np.split(order, np.cumsum(np.bincount(member))[:-1])):
        mine = marks[rows]
        count = int(mine.sum())
        if 0 < count < len(rows):
            ranks = average_ranks(sample[rows])
            wins[number] = ranks[mine].sum() - count * (count + 1) / 2
    return wins
