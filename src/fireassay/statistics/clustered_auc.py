"""The AUC when rows belong together: several windows of one patient, frames of one video."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import BoolArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.lazy import special
from fireassay.core.validation import check_labels
from fireassay.statistics.auc import MannWhitney
from fireassay.statistics.rank_tests import average_ranks
from fireassay.statistics.samples import (
    FloatVector,
    check_confidence,
    check_positive,
    check_sample,
    logit_ends,
)
from fireassay.statistics.simultaneous import largest_z


def clustered_auc(
    scores: ArrayLike, positive: ArrayLike, groups: ArrayLike, confidence: float = 0.95
) -> MannWhitney:
    """Mann-Whitney AUC whose interval and test count groups, not rows.

    Args:
        scores: Finite scores, larger meaning more positive.
        positive: True or False per score; both must occur.
        groups: Which rows belong together (a patient, a video); at least three groups.
        confidence: In (0, 1).

    Raises:
        DataError: For one class only, fewer than three groups, NaN or different lengths.

    The standard error is the jackknife over groups of logit AUC, the AUC without each of them in
    turn, in O(n log n) altogether, and never below that of the AUC itself carried to the logit
    scale. Test and interval use Student's t with Satterthwaite's degrees of freedom over the groups
    that hold only positives, only negatives, and both: three sick and three healthy patients have
    about four, not five.

    >>> found = clustered_auc([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1], [0, 0, 1, 1, 2, 2])
    >>> round(found.auc, 3)
    0.889
    """
    check_confidence(confidence)
    sample = check_sample(scores, "scores", min_rows=2)
    marks = check_positive(positive, len(sample))
    n_positive, n_negative = int(marks.sum()), len(sample) - int(marks.sum())
    aucs, covariance, freedom = clustered_logits(sample[None, :], marks, groups)
    auc, error = float(aucs[0]), math.sqrt(float(covariance[0, 0]))
    if not math.isfinite(error):
        # One group holds a whole class, or no group changes anything: no spread to learn from.
        return MannWhitney(auc, 0.0, 1.0, 1.0, n_positive, n_negative)
    half = -float(special.stdtrit(freedom, (1.0 - confidence) / 2.0)) * error
    p_value = float(2.0 * special.stdtr(freedom, -abs(float(special.logit(auc))) / error))
    return MannWhitney(auc, *logit_ends(auc, half), p_value, n_positive, n_negative)


def clustered_logits(
    scores: FloatVector, marks: BoolArray, groups: ArrayLike
) -> tuple[FloatVector, FloatVector, float]:
    """AUCs of several scores (m, n) on the same rows, and what their intervals are made from."""
    labels = check_labels(groups, name="groups", n=scores.shape[1])
    _, member = np.unique(labels, return_inverse=True)
    member = member.ravel()
    n_groups = int(member.max()) + 1
    if n_groups < 3:
        raise DataError(
            "A clustered AUC needs at least three groups.",
            got=str(n_groups),
            do="Collect more patients or devices; more rows of the same ones do not help.",
        )
    of_group = np.stack([np.bincount(member[part], minlength=n_groups) for part in (marks, ~marks)])
    pairs = int(of_group[0].sum()) * int(of_group[1].sum())
    found = [_with_and_without(row, marks, member, of_group) for row in scores]
    aucs = np.array([auc for auc, _ in found])
    left = np.stack([without for _, without in found])
    factor = (n_groups - 1) / n_groups
    near = 0.5 / pairs  # an AUC of 1 is taken as half a pair less
    logits = special.logit(np.clip(aucs, near, 1.0 - near))
    steps = special.logit(np.clip(left, near, 1.0 - near)) - logits[:, None]
    plain = left - aucs[:, None]
    known = (factor * np.square(plain).sum(axis=1) > 1e-30) & (aucs > 0.0) & (aucs < 1.0)
    covariance = factor * steps @ steps.T
    slope = np.divide(1.0, aucs * (1.0 - aucs), out=np.ones(len(aucs)), where=known)
    carried = factor * np.square(plain).sum(axis=1) * slope**2
    with np.errstate(invalid="ignore", divide="ignore"):
        widen = np.sqrt(np.maximum(1.0, carried / np.diag(covariance)))
        covariance = covariance * np.outer(widen, widen)
    covariance[~known, :] = covariance[:, ~known] = 0.0
    covariance[~known, ~known] = np.inf
    freedom = min(
        (freedom_of_groups(row, of_group) for row in plain[known]), default=float(n_groups - 1)
    )
    return aucs, covariance, freedom


def simultaneous_clustered_aucs(
    scores: ArrayLike, positive: ArrayLike, groups: ArrayLike, confidence: float = 0.95
) -> list[Estimate]:
    """`clustered_auc` of several scores on the same rows; the intervals hold all at once."""
    table = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    marks = check_positive(positive, table.shape[1])
    aucs, covariance, freedom = clustered_logits(table, marks, groups)
    known = np.isfinite(np.diag(covariance))
    quantile = (
        largest_z(covariance[np.ix_(known, known)], confidence, freedom) if known.any() else 0
    )
    found = []
    method = f"jackknife over groups, logit scale, simultaneous over {len(table)}"
    for auc, variance in zip(aucs, np.diag(covariance), strict=True):
        half = quantile * math.sqrt(variance) if math.isfinite(variance) else math.inf
        ends, n = (float(auc), *logit_ends(float(auc), half)), table.shape[1]
        found.append(Estimate.around(*ends, confidence=confidence, n=n, method=method))
    return found


def _with_and_without(
    sample: FloatVector, marks: BoolArray, member: IntArray, of_group: IntArray
) -> tuple[float, FloatVector]:
    """The AUC, and the AUC without each group."""
    n_groups, (n_positive, n_negative) = of_group.shape[1], of_group.sum(axis=1)
    together = average_ranks(sample)
    wins_of_positives = together[marks] - average_ranks(sample[marks])
    wins_over_negatives = n_positive - (together[~marks] - average_ranks(sample[~marks]))
    total = float(wins_of_positives.sum())
    left = _without_each(
        total,
        np.bincount(member[marks], weights=wins_of_positives, minlength=n_groups),
        np.bincount(member[~marks], weights=wins_over_negatives, minlength=n_groups),
        _wins_within(sample, marks, member, n_groups),
        n_positive - of_group[0],
        n_negative - of_group[1],
    )
    return total / float(n_positive * n_negative), left


def freedom_of_groups(steps: FloatVector, of_group: IntArray) -> float:
    """Satterthwaite's, over groups with positives only, with negatives only and with both."""
    kind = (of_group[0] > 0) + 2 * (of_group[1] > 0)
    parts = [
        (float(np.square(steps[kind == k]).sum()), max(1, int((kind == k).sum()) - 1))
        for k in (1, 2, 3)
    ]
    total = sum(spread for spread, _ in parts)
    return float(total**2 / sum(spread**2 / freedom for spread, freedom in parts))


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
    return np.asarray(np.divide(wins, pairs, out=np.full(len(wins), np.nan), where=pairs > 0))


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
