"""Losses and margins of the logits, with derivatives that do not vanish.

Each takes logits ``(n, k)`` and class indices ``(n, m)``, the attacked class first, and gives one
value per row and the weights of the logits in its gradient.
"""

from collections.abc import Callable

import numpy as np

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.result import NOT_FOUND
from fireassay.classifiers import GradientClassifier
from fireassay.classifiers.answers import log_probabilities
from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, softmax

Scores = FloatArray


def lead(scores: Scores, goal: Index) -> Scores:
    """Score of the attacked class minus the best other one; negative where the class is another."""
    return np.asarray(scores[np.arange(len(goal)), goal] - rivals(scores, goal).max(axis=1))


def rivals(scores: Scores, goal: Index) -> Scores:
    """The scores with the attacked class out of the race."""
    others = scores.copy()
    others[np.arange(len(goal)), goal] = -np.inf
    return others


def ask_leads(target: AttackedModel, points: AnyArray, rows: Index) -> tuple[Scores, BoolArray]:
    """Lead of the attacked class at one point per sample, and which samples still stand."""
    # One forward query each, for logits or else log-probabilities; a point that is wrong by its
    # logits is asked again as a user would ask.
    if isinstance(target.model, GradientClassifier):
        scores = target.logits(points, rows)
        standing = confirm(target, points, rows, target.seems_wrong(scores, rows))
        return lead(scores, target.goal[rows]), standing
    answers, wrong = target.answers(points, rows)
    target.settle(points, rows, wrong)
    leads = lead(log_probabilities(answers), target.goal[rows])
    return leads, np.asarray(target.status[rows] == NOT_FOUND)


def confirm(target: AttackedModel, points: AnyArray, rows: Index, wrong: BoolArray) -> BoolArray:
    """Book the points whose logits say right; ask again about the others. True: still standing."""
    target.stood(rows[~wrong])
    target.keep_last(points[~wrong], rows[~wrong])
    suspects = np.flatnonzero(wrong & (target.queries_left(rows) >= 1))
    target.check(points[suspects], rows[suspects])
    standing = target.status[rows] == NOT_FOUND
    # Without a query left to confirm it, a point does not count.
    return np.asarray(standing & (~wrong | (target.queries_left(rows) >= 1)))


Matrix = FloatArray
Loss = Callable[[Matrix, Index], tuple[Matrix, Matrix]]


def log_odds(logits: Matrix, columns: Index) -> tuple[Matrix, Matrix]:
    """Log-odds against the attacked class, and slope: cross-entropy that never rounds to 0."""
    goal, take = columns[:, 0], np.arange(len(logits))
    others = rivals(logits, goal)
    best = others.max(axis=1)
    total = best + np.log(np.exp(others - best[:, None]).sum(axis=1))
    weights = softmax(others)
    weights[take, goal] = -1.0
    return np.asarray(total - logits[take, goal]), weights


def margin(logits: Matrix, columns: Index) -> tuple[Matrix, Matrix]:
    """Minus the lead of the attacked class over the best other one.

    >>> margin(np.array([[3.0, 1.0, 2.0]]), np.array([[0]]))
    (array([-1.]), array([[-1.,  0.,  1.]]))
    """
    goal = columns[:, 0]
    return -lead(logits, goal), _toward(logits, goal, rivals(logits, goal).argmax(axis=1))


def logit_ratio(logits: Matrix, columns: Index) -> tuple[Matrix, Matrix]:
    """Difference of logits ratio (Croce and Hein 2020, Eq. 6); with two classes minus the lead."""
    goal = columns[:, 0]
    rival = rivals(logits, goal).argmax(axis=1)
    weights = _toward(logits, goal, rival)
    if logits.shape[1] < 3:
        return -lead(logits, goal), weights
    order = np.argsort(-logits, axis=1, kind="stable")
    return _over_spread(logits, weights, order[:, :1], order[:, 2:3])


def target_ratio(logits: Matrix, columns: Index) -> tuple[Matrix, Matrix]:
    """The targeted `logit_ratio` (Croce and Hein 2020, Eq. 7) toward the second column."""
    # With fewer than four classes: minus the lead over the target.
    weights = _toward(logits, columns[:, 0], columns[:, 1])
    if logits.shape[1] < 4:
        return np.asarray((weights * logits).sum(axis=1)), weights
    order = np.argsort(-logits, axis=1, kind="stable")
    return _over_spread(logits, weights, order[:, :1], order[:, 2:4])


def _toward(logits: Matrix, goal: Index, other: Index) -> Matrix:
    weights, take = np.zeros_like(logits), np.arange(len(logits))
    weights[take, other] = 1.0
    weights[take, goal] -= 1.0
    return weights


def _over_spread(logits: Matrix, weights: Matrix, top: Index, low: Index) -> tuple[Matrix, Matrix]:
    """The ratio of a difference to a spread; its gradient up to the factor 1 / spread."""
    across, take = np.zeros_like(logits), np.arange(len(logits))[:, None]
    across[take, top] = 1.0
    across[take, low] = -1.0 / low.shape[1]
    spread = np.maximum((across * logits).sum(axis=1), 1e-12)
    values = (weights * logits).sum(axis=1) / spread
    return np.asarray(values), np.asarray(weights - values[:, None] * across)
