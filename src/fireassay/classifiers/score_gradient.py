"""Gradients of any function of the logits, in one backward pass where the classifier allows it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray, IntArray

Weigh = Callable[[FloatArray, IntArray], FloatArray]


def backward_passes(model: Any) -> int:
    """Gradient queries that `score_gradient` takes per row: one, or one for each class."""
    return int(getattr(model, "backward_passes", 0)) or len(model.classes)


def score_gradient(
    model: Any, X: AnyArray, columns: IntArray, weigh: Weigh
) -> tuple[FloatArray, AnyArray]:
    """Logits, and the gradient of their sum with the weights ``weigh(logits, columns)``.

    A gradient classifier that is not ours gives the gradient of every logit instead.
    """
    if hasattr(model, "score_gradient"):
        found: tuple[FloatArray, AnyArray] = model.score_gradient(X, columns, weigh)
        return found
    every = np.tile(np.arange(len(model.classes)), (len(X), 1))
    logits, slopes = model.logit_gradients(X, every)
    return logits, np.einsum("nk,nk...->n...", weigh(logits, columns), slopes)
