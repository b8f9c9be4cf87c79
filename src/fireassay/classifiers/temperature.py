"""A classifier whose confidence is corrected by one number."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.classifiers.adapt import as_classifier
from fireassay.classifiers.protocol import GradientClassifier
from fireassay.classifiers.wrapped import WrappedClassifier
from fireassay.core.arrays import AnyArray, FloatArray, Probabilities, softmax
from fireassay.core.errors import ModelError
from fireassay.core.validation import check_class_indices, check_real
from fireassay.statistics.temperature import Temperature
from fireassay.statistics.temperature import temperature as find_temperature


class TemperatureScaled(WrappedClassifier):
    """``softmax(logits / temperature)`` of another classifier; the decisions stay the same.

    Has gradients and layers when the inner classifier has them. Queries are the inner ones.

    Args:
        model: A `Classifier`, or anything `as_classifier` takes.
        temperature: Above 0; above 1 it makes answers less sure.
        fitted: What `calibrate` found out about it.

    >>> model = TemperatureScaled(as_classifier(lambda X: np.array([[0.8, 0.2]] * len(X))), 2.0)
    >>> model.predict_proba([[0.0]]).round(4)
    array([[0.6667, 0.3333]])
    """

    def __init__(self, model: Any, temperature: float, fitted: Temperature | None = None) -> None:
        super().__init__(model)
        if self.output == "labels":
            raise ModelError(
                "Temperature scaling needs probabilities or logits.",
                got="a model that gives labels",
            )
        self.temperature = check_real(temperature, "temperature", low=0)
        self._divisor, self.fitted = self.temperature, fitted

    def _identity(self) -> tuple[Any, ...]:
        return "temperature", self.temperature

    def predict_proba(self, X: ArrayLike) -> Probabilities:
        """Probabilities of shape ``(n, k)``, rows summing to one: float32 stays, else float64."""
        if isinstance(self.model, GradientClassifier):
            return softmax(self.model.logits(X) / self.temperature)
        return super().predict_proba(X)

    def at(self, probabilities: Probabilities, temperature: float) -> FloatArray:
        """Answers of this model as they would be at another temperature; 1 gives the raw ones."""
        return _powers(probabilities, self.temperature / temperature)

    def _answer(self, probabilities: Probabilities, X: AnyArray) -> FloatArray:  # noqa: ARG002
        return _powers(probabilities, 1.0 / self.temperature)

    def _undone(self, probabilities: Probabilities) -> FloatArray:
        return _powers(probabilities, self.temperature)


def _powers(probabilities: Probabilities, exponent: float) -> FloatArray:
    """Rows proportional to powers of ratios to the largest: exact zeros stay, nothing is 0 / 0."""
    largest = probabilities.max(axis=1, keepdims=True)
    scaled: FloatArray = np.divide(probabilities, largest, dtype=np.float64)
    scaled **= exponent
    scaled /= scaled.sum(axis=1, keepdims=True)
    return scaled


def calibrate(model: Any, X: ArrayLike, y: ArrayLike) -> TemperatureScaled:
    """The classifier with the temperature that fits labelled rows best.

    Exact zeros do not decide it, and one that worsens the log loss of held-out rows is not used.

    Use rows that neither trained the model nor will be used to judge it.

    Args:
        model: A `Classifier`, or anything `as_classifier` takes.
        X, y: Rows and their true labels, as in ``model.classes``.

    >>> boaster = lambda X: np.tile([0.99, 0.01], (len(X), 1))
    >>> honest = calibrate(boaster, np.zeros((10, 1)), [0] * 8 + [1] * 2)
    >>> honest.predict_proba([[0.0]]).round(2).tolist()  # right in 8 of 10
    [[0.8, 0.2]]
    """
    inner: Any = as_classifier(model)
    if isinstance(inner, GradientClassifier):
        probabilities = softmax(inner.logits(X))
    else:
        probabilities = inner.predict_proba(X)
    labels = check_class_indices(y, inner.classes, n=len(probabilities))
    fitted = find_temperature(probabilities, labels)
    return TemperatureScaled(inner, fitted.value, fitted)
