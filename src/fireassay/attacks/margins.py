"""The margin by which the attacked class leads: a loss that does not vanish when softmax does."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.result import NOT_FOUND
from fireassay.classifiers import GradientClassifier
from fireassay.classifiers.answers import log_probabilities

Scores = NDArray[np.float64]


def lead(scores: Scores, goal: Index) -> Scores:
    """Score of the attacked class minus the best other one; negative where the class is another.

    >>> lead(np.array([[3.0, 1.0, 2.0]]), np.array([0]))
    array([1.])
    """
    return np.asarray(scores[np.arange(len(goal)), goal] - rivals(scores, goal).max(axis=1))


def rivals(scores: Scores, goal: Index) -> Scores:
    """The scores with the attacked class out of the race."""
    others = scores.copy()
    others[np.arange(len(goal)), goal] = -np.inf
    return others


def ask_leads(
    target: AttackedModel, points: NDArray[Any], rows: Index
) -> tuple[Scores, NDArray[np.bool_]]:
    """Ask about finished points, one per sample: how far the class leads, and who still stands.

    Logits where the model has them, otherwise logarithms of its probabilities: one forward query
    each. What logits call wrong is asked again as a user would ask, for one query more.
    """
    if isinstance(target.model, GradientClassifier):
        scores = target.logits(points, rows)
        standing = confirm(target, points, rows, target.seems_wrong(scores, rows))
        return lead(scores, target.goal[rows]), standing
    answers, wrong = target.answers(points, rows)
    target.settle(points, rows, wrong)
    leads = lead(log_probabilities(answers), target.goal[rows])
    return leads, np.asarray(target.status[rows] == NOT_FOUND)


def confirm(
    target: AttackedModel, points: NDArray[Any], rows: Index, wrong: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Book the points whose logits say right; ask again about the others. True: still standing."""
    target.stood(rows[~wrong])
    target.keep_last(points[~wrong], rows[~wrong])
    suspects = np.flatnonzero(wrong & (target.room(rows) >= 1))
    target.check(points[suspects], rows[suspects])
    standing = target.status[rows] == NOT_FOUND
    # Without a query left to confirm it, a point does not count.
    return np.asarray(standing & (~wrong | (target.room(rows) >= 1)))
