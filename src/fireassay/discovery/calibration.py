"""Calibration first: an overconfident model makes every discovery ratio large."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.classifiers import as_classifier
from fireassay.classifiers.temperature import TemperatureScaled
from fireassay.classifiers.temperature import calibrate as fit
from fireassay.core.errors import NotEnoughEvidenceError
from fireassay.core.probabilities import largest
from fireassay.core.validation import check_class_indices
from fireassay.statistics import ReliabilityCurve
from fireassay.statistics.calibration import stated_curve


def calibrate(model: Any, X_val: ArrayLike, y_val: ArrayLike) -> TemperatureScaled:
    """A classifier with the same decisions and calibrated confidences (one temperature).

    Parameters
    ----------
    model
        A classifier, or anything `as_classifier` makes one of.
    X_val, y_val
        Labelled rows that neither trained the model nor will be searched.

    >>> boaster = lambda X: np.tile([0.99, 0.01], (len(X), 1))
    >>> honest = calibrate(boaster, np.zeros((10, 1)), [0] * 8 + [1] * 2)
    >>> float(honest.predict_proba(np.zeros((1, 1)))[0, 0].round(2))  # right in 8 of 10
    0.8
    """
    return fit(model, X_val, y_val)


def class_reliability(
    model: Any, X: ArrayLike, y: ArrayLike, critical_class: Any = None, n_bins: int = 15
) -> ReliabilityCurve:
    """Accuracy against confidence among the rows predicted as one class (None: all classes).

    Parameters
    ----------
    model, X, y
        A model and labelled rows.
    critical_class
        Of the predictions that are looked at.
    n_bins
        Bins of the confidence.

    >>> model = lambda X: np.tile([0.9, 0.1], (len(X), 1))
    >>> curve = class_reliability(model, np.zeros((10, 1)), [0] * 9 + [1])
    >>> curve.frame().dropna()[["mean_confidence", "accuracy"]].to_numpy().round(6).tolist()
    [[0.9, 0.9]]
    """
    classifier = as_classifier(model)
    probabilities = classifier.predict_proba(X)
    labels = check_class_indices(y, classifier.classes, n=len(probabilities))
    answered, stated = probabilities.argmax(axis=1), largest(probabilities)
    correct = answered == labels
    if critical_class is not None:
        index = tuple(classifier.classes).index(critical_class)
        chosen = np.flatnonzero(answered == index)
        if not len(chosen):
            raise NotEnoughEvidenceError(
                f"No row is predicted as {critical_class!r}.", got=f"{len(labels)} rows"
            )
        stated, correct = stated[chosen], correct[chosen]
    return stated_curve(stated, correct, n_bins)
