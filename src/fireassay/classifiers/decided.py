"""A classifier that answers by an operating rule instead of by its most probable class."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fireassay.classifiers.wrapped import WrappedClassifier
from fireassay.core.arrays import AnyArray, FloatArray, IntArray, Probabilities, softmax
from fireassay.core.errors import ModelError, ParameterError
from fireassay.core.validation import check_real

# A probability on the threshold counts as reached, whatever the last bit says.
_REACHED = 1.0 - 1e-9
# Probabilities below this are taken as this: then the answer's own do not vanish, and lead back.
_WIDEST = 230.0
_LEAST, _UNDERFLOW = math.exp(-_WIDEST), 1e-300


class Decided(WrappedClassifier):
    """Answers a class as soon as its probability reaches a threshold of its own.

    A row gets the class that is furthest above its threshold, in odds; where none reaches its
    threshold, the most probable of the classes without one. The probabilities it gives are those
    of the rule: the largest one belongs to the class that is answered, and two classes are even
    exactly where the rule changes. Whoever asks for the answer, attacks the model or watches its
    confidence thus meets the decision that will be used. `own` gives the model's own
    probabilities back.

    Args:
        model: A `Classifier`, or anything `as_classifier` takes.
        threshold: By class, as in ``model.classes`` or written as text, in (0, 1). At least one
            class must be without.

    >>> screening = Decided(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), {1: 0.2})
    >>> answers = screening.predict_proba([[0.1], [0.2], [0.6]])
    >>> answers.argmax(axis=1).tolist(), answers[1].round(3).tolist()
    ([0, 1, 1], [0.5, 0.5])
    """

    def __init__(self, model: Any, threshold: Mapping[Any, float]) -> None:
        super().__init__(model)
        if self.output == "labels":
            raise ModelError(
                "A threshold needs probabilities or logits.", got="a model that gives labels"
            )
        if not threshold:
            raise ParameterError("A rule needs the threshold of a class.", got="none")
        self.threshold = {
            str(name): check_real(value, f"threshold of '{name}'", low=0, high=1)
            for name, value in threshold.items()
        }

    def _identity(self) -> tuple[Any, ...]:
        return "decided", *(f"{name} at {t!r}" for name, t in sorted(self.threshold.items()))

    def own(self, probabilities: Probabilities) -> FloatArray:
        """The model's own probabilities behind answers of this classifier."""
        return self._undone(probabilities)

    def _places(self) -> tuple[IntArray, FloatArray, IntArray]:
        """Columns with a threshold, the log odds of these thresholds, and the other columns."""
        names = [str(name) for name in self.classes]
        unknown = [name for name in self.threshold if name not in names]
        if unknown or len(self.threshold) == len(names):
            raise ParameterError(
                f"A threshold is for some of the classes {', '.join(names[:12])}, not for all.",
                got=", ".join(unknown or self.threshold),
            )
        chosen = np.array([names.index(name) for name in self.threshold], dtype=np.int64)
        odds = [math.log(t * _REACHED / (1.0 - t * _REACHED)) for t in self.threshold.values()]
        return chosen, np.array(odds), np.setdiff1d(np.arange(len(names)), chosen)

    def _answer(self, probabilities: Probabilities, X: AnyArray) -> FloatArray:
        logs = np.log(np.maximum(probabilities, _LEAST, dtype=np.float64))
        return softmax(self._scores(logs, X))

    def _scores(self, logits: FloatArray, X: AnyArray) -> FloatArray:  # noqa: ARG002
        chosen, odds, others = self._places()
        # An impossible class may have -inf; differences of infinities would be no number.
        logits = np.maximum(logits, logits.max(axis=1, keepdims=True) - _WIDEST)
        scores = np.array(logits, dtype=np.float64)
        best = scores[:, others].max(axis=1)
        for column, least in zip(chosen.tolist(), odds.tolist(), strict=True):
            scores[:, column] = best + logits[:, column] - _log_sum(logits, column) - least
        return scores

    def _pulled(self, logits: FloatArray, weights: FloatArray) -> FloatArray:
        chosen, _, others = self._places()
        pulled = np.array(weights, dtype=np.float64)
        rows = np.arange(len(logits))
        best = others[logits[:, others].argmax(axis=1)]
        for column in chosen.tolist():
            weight = weights[:, column]
            pulled[rows, best] += weight
            rest = np.array(logits)
            rest[:, column] = -np.inf
            pulled -= weight[:, None] * softmax(rest)
        return pulled

    def _undone(self, probabilities: Probabilities) -> FloatArray:
        chosen, odds, others = self._places()
        logs = np.log(np.maximum(probabilities, _UNDERFLOW, dtype=np.float64))
        above = logs[:, chosen] - logs[:, others].max(axis=1, keepdims=True) + odds
        found = np.empty_like(logs)
        found[:, chosen] = 1.0 / (1.0 + np.exp(-np.clip(above, -_WIDEST, _WIDEST)))
        left = np.maximum(0.0, 1.0 - found[:, chosen].sum(axis=1, keepdims=True))
        found[:, others] = left * softmax(logs[:, others])
        together: FloatArray = found / found.sum(axis=1, keepdims=True)
        return together


def _log_sum(logits: FloatArray, column: int) -> FloatArray:
    """Log of the summed exponentials of all columns but one."""
    rest = np.delete(logits, column, axis=1)
    top = rest.max(axis=1)
    total: FloatArray = top + np.log(np.exp(rest - top[:, None]).sum(axis=1))
    return total
