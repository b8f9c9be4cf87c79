"""Mahalanobis-distance surprise adequacy (MDSA)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.validation import check_lengths
from fireassay.supervision.gaussian import Gaussian
from fireassay.supervision.nearest import group_rows
from fireassay.supervision.reading import (
    FloatArray,
    IntArray,
    Reading,
    as_rows,
    predicted_classes,
)
from fireassay.supervision.supervisor import Supervisor

_POOLED = -1


def mdsa_scores(
    train_activations: ArrayLike,
    train_predictions: ArrayLike,
    activations: ArrayLike,
    predictions: ArrayLike,
) -> FloatArray:
    """MDSA of activations, from arrays alone: squared Mahalanobis distance to the predicted class.

    Parameters
    ----------
    train_activations, activations
        Shape (n, d); further axes are flattened.
    train_predictions, predictions
        The model's predicted class of each row.

    Notes
    -----
    Kim et al. (2020): mean and maximum-likelihood covariance of the training activations with the
    same predicted class; `Gaussian` says what happens in directions without variance. Classes
    without training rows are compared with all of them.

    >>> mdsa_scores([[-1.0], [1.0], [9.0], [11.0]], [0, 0, 1, 1], [[2.0]], [0])
    array([4.])
    """
    rows, labels = (
        as_rows(train_activations, "train_activations"),
        predicted_classes(train_predictions),
    )
    check_lengths(train_activations=len(rows), train_predictions=len(labels))
    new, predicted = as_rows(activations), predicted_classes(predictions)
    check_lengths(activations=len(new), predictions=len(predicted))
    return _scores(_fit(rows, labels), new, predicted)


def _fit(activations: FloatArray, predictions: IntArray) -> dict[str, Any]:
    groups = {label: rows for label, rows in group_rows(predictions).items() if len(rows) > 1}
    groups[_POOLED] = np.arange(len(activations))
    return {str(label): Gaussian.fit(activations[rows]) for label, rows in groups.items()}


def _scores(classes: dict[str, Any], activations: FloatArray, labels: IntArray) -> FloatArray:
    scores = np.empty(len(activations))
    for label, rows in group_rows(labels).items():
        gaussian = classes.get(str(label), classes[str(_POOLED)])
        scores[rows] = gaussian.squared_distance(activations[rows])
    return scores


@dataclass(kw_only=True, eq=False)
class Mdsa(Supervisor):
    """Squared Mahalanobis distance to the training activations of the predicted class."""

    name: ClassVar[str] = "mdsa"
    needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")
    fit_needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        del labels
        assert reading.features is not None
        return _fit(reading.features, reading.predictions)

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.features is not None
        return _scores(self.state_, reading.features, reading.predictions)
