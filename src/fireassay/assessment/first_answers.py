"""What a model says about the few rows that a plan sends: how often it is right, and how sure."""

import warnings
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.context import Context
from fireassay.core import ConvergenceWarning
from fireassay.core.arrays import FloatArray, IntArray
from fireassay.statistics.temperature import fit_temperature

_KEPT: Final = "first answers"
_TINY: Final = 1e-12


def keep_first_answers(context: Context, rows: IntArray, answers: FloatArray) -> None:
    """Remember the probabilities that the model gave for these test rows."""
    context.known[_KEPT] = rows, answers


def share_right(context: Context) -> float:
    """The share of rows that it gets right; 1 where nobody knows.

    >>> from fireassay.data import DataSet
    >>> from fireassay.classifiers import as_classifier
    >>> model = as_classifier(lambda X: np.tile([0.9, 0.1], (len(X), 1)), classes=(0, 1))
    >>> context = Context(model, DataSet(np.zeros((4, 1)), [0, 0, 0, 1]))
    >>> share_right(context)
    1.0
    >>> keep_first_answers(context, np.arange(4), model.predict_proba(context.test.X))
    >>> share_right(context)
    0.75
    """
    known = _known(context)
    if known is None:
        return 1.0
    answers, truth = known
    return float((answers.argmax(axis=1) == truth).mean())


def share_sure(context: Context, threshold: float, *, calibrated: bool) -> float:
    """The share of rows that it is surer of than a threshold; 1 where nobody knows.

    Parameters
    ----------
    context
        Whose model was asked.
    threshold
        A confidence.
    calibrated
        By what a temperature makes of its confidences.
    """
    known = _known(context)
    if known is None:
        return 1.0
    answers, truth = known
    logits = np.log(np.maximum(answers, _TINY))
    if calibrated and len(np.unique(truth)) > 1:
        with warnings.catch_warnings():
            # All right or constant: the temperature is far out, and so is the part's.
            warnings.simplefilter("ignore", ConvergenceWarning)
            logits = logits / fit_temperature(logits, truth)
    logits = logits - logits.max(axis=1, keepdims=True)
    return float((1.0 / np.exp(logits).sum(axis=1) > threshold).mean())


def _known(context: Context) -> tuple[FloatArray, NDArray[np.int64]] | None:
    """Answers about rows whose label is a class of the model, and where that class stands."""
    if _KEPT not in context.known or context.test.y is None:
        return None
    rows, answers = context.known[_KEPT]
    places = {label: place for place, label in enumerate(context.model.classes)}
    truth = np.array([places.get(label, -1) for label in context.test.labels[rows].tolist()])
    named = truth >= 0
    return (answers[named], truth[named]) if named.any() else None
