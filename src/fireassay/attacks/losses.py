"""Losses of the logits and their derivatives, none of which vanishes when the softmax saturates.

Each takes logits ``(n, k)`` and class indices ``(n, m)``, the attacked class first, and gives one
value per row and the weights of the logits in its gradient.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fireassay.attacks.attacked_model import Index
from fireassay.attacks.margins import lead, rivals
from fireassay.core.probabilities import softmax

Matrix = NDArray[np.float64]
Loss = Callable[[Matrix, Index], tuple[Matrix, Matrix]]


def log_odds(logits: Matrix, columns: Index) -> tuple[Matrix, Matrix]:
    """Logarithm of the odds against the attacked class.

    Cross-entropy is log(1 + exp(this)): both rise together and point the same way, but this one
    stays a number where the other rounds to zero.

    >>> log_odds(np.array([[1000.0, 0.0]]), np.array([[0]]))
    (array([-1000.]), array([[-1.,  1.]]))
    """
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
    """Difference of logits ratio: minus the lead over the spread of the three largest logits.

    Croce and Hein 2020, Eq. (6). With two classes there is no third: minus the lead itself.

    >>> logit_ratio(np.array([[3.0, 1.0, 2.0]]), np.array([[0]]))[0]
    array([-0.5])
    """
    goal = columns[:, 0]
    rival = rivals(logits, goal).argmax(axis=1)
    weights = _toward(logits, goal, rival)
    if logits.shape[1] < 3:
        return -lead(logits, goal), weights
    order = np.argsort(-logits, axis=1, kind="stable")
    return _over_spread(logits, weights, order[:, :1], order[:, 2:3])


def target_ratio(logits: Matrix, columns: Index) -> tuple[Matrix, Matrix]:
    """As `logit_ratio`, toward one class: the second column.

    Croce and Hein 2020, Eq. (7): the spread is from the largest logit to the mean of the third and
    fourth. With fewer than four classes minus the lead over that class itself.
    """
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
