"""A classifier whose confidence is corrected by one number."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers.adapt import as_classifier
from fireassay.classifiers.answers import labels_of, log_probabilities
from fireassay.classifiers.protocol import ActivationClassifier, Classifier, GradientClassifier
from fireassay.core.arrays import FloatArray
from fireassay.core.errors import ModelError
from fireassay.core.hashing import sha256
from fireassay.core.probabilities import softmax
from fireassay.core.validation import check_class_indices, check_real
from fireassay.statistics import fit_temperature


class TemperatureScaled:
    """``softmax(logits / temperature)`` of another classifier; the decisions stay the same.

    Has gradients and layers when the inner classifier has them. Queries are the inner ones.

    >>> model = TemperatureScaled(as_classifier(lambda X: np.array([[0.8, 0.2]] * len(X))), 2.0)
    >>> model.predict_proba([[0.0]]).round(4)
    array([[0.6667, 0.3333]])
    """

    def __new__(cls, model: Any, temperature: float) -> "TemperatureScaled":  # noqa: ARG004
        """Of the kind that has what the inner classifier has."""
        gradients = isinstance(model, GradientClassifier)
        layers = isinstance(model, ActivationClassifier)
        if cls is TemperatureScaled and (gradients or layers):
            cls = _KINDS[gradients, layers]
        return super().__new__(cls)

    def __init__(self, model: Classifier, temperature: float) -> None:
        if getattr(model, "output", None) == "labels":
            raise ModelError(
                "Temperature scaling needs probabilities or logits.",
                got="a model that gives labels",
            )
        self.model: Any = as_classifier(model)
        self.temperature = check_real(temperature, "temperature", low=0)

    def __getnewargs__(self) -> tuple[Any, float]:
        return self.model, self.temperature

    @property
    def classes(self) -> tuple[Any, ...]:
        """Class labels in the order of the probability columns."""
        return tuple(self.model.classes)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The smallest and largest allowed input value, or None if not declared."""
        bounds: tuple[float, float] | None = self.model.bounds
        return bounds

    @property
    def queries(self) -> int:
        """Rows that callers have sent so far."""
        return int(self.model.queries)

    @property
    def probe_queries(self) -> int:
        """Rows that `probe` has sent so far."""
        return int(getattr(self.model, "probe_queries", 0))

    @property
    def sha256(self) -> str:
        """Identifies the inner model and the temperature."""
        return sha256("temperature", self.model.sha256, self.temperature)

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Probabilities, float64 of shape ``(n, k)``, rows summing to one."""
        if isinstance(self.model, GradientClassifier):
            return softmax(self.model.logits(X) / self.temperature)
        probabilities = self.model.predict_proba(X)
        # Powers of the ratio to the largest: exact zeros stay zero, nothing underflows to 0 / 0.
        ratios = probabilities / probabilities.max(axis=1, keepdims=True)
        powers = ratios ** (1.0 / self.temperature)
        scaled: FloatArray = powers / powers.sum(axis=1, keepdims=True)
        return scaled

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class label of each row (the first one on ties)."""
        return labels_of(self.predict_proba(X), self.classes)

    def __repr__(self) -> str:
        return f"TemperatureScaled({self.model!r}, {self.temperature:.4g})"


class _Gradients(TemperatureScaled):
    @property
    def gradient_queries(self) -> int:
        """Rows sent through a backward pass so far."""
        return int(self.model.gradient_queries)

    def logits(self, X: ArrayLike) -> FloatArray:
        """Logits divided by the temperature."""
        scaled: FloatArray = self.model.logits(X) / self.temperature
        return scaled

    def loss_gradient(
        self, X: ArrayLike, y: Sequence[int] | NDArray[np.int64]
    ) -> tuple[FloatArray, NDArray[Any]]:
        """Scaled logits and the gradient of the cross-entropy to class *index* ``y``."""
        return self._loss_gradient(X, y, 1.0)

    def _loss_gradient(
        self, X: ArrayLike, y: Sequence[int] | NDArray[np.int64], temperature: float
    ) -> tuple[FloatArray, NDArray[Any]]:
        if hasattr(self.model, "_loss_gradient"):
            logits, slope = self.model._loss_gradient(X, y, temperature * self.temperature)
            return logits / self.temperature, slope
        rows = np.asarray(X)
        columns = np.tile(np.arange(len(self.classes)), (len(rows), 1))
        logits, slopes = self.logit_gradients(X, columns)
        weights = softmax(logits / temperature)
        weights[np.arange(len(rows)), np.asarray(y)] -= 1.0
        return logits, np.einsum("nk,nk...->n...", weights / temperature, slopes)

    def logit_gradients(
        self, X: ArrayLike, columns: NDArray[np.int64]
    ) -> tuple[FloatArray, NDArray[Any]]:
        """Scaled logits and the gradients of the chosen ones."""
        logits, slopes = self.model.logit_gradients(X, columns)
        return logits / self.temperature, slopes / self.temperature


class _Layers(TemperatureScaled):
    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the layers that can be read."""
        return tuple(self.model.layers)

    def activations(self, X: ArrayLike, layers: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The output of each named layer: the temperature acts behind all of them."""
        read: dict[str, NDArray[np.float32]] = self.model.activations(X, layers)
        return read


class _GradientsAndLayers(_Gradients, _Layers):
    pass


_KINDS: dict[tuple[bool, bool], type[TemperatureScaled]] = {
    (True, False): _Gradients,
    (False, True): _Layers,
    (True, True): _GradientsAndLayers,
}


def calibrate(model: Any, X: ArrayLike, y: ArrayLike) -> TemperatureScaled:
    """The classifier with the temperature that fits labelled rows best.

    Use rows that neither trained the model nor will be used to judge it.

    Parameters
    ----------
    model
        A `Classifier`, or anything `as_classifier` takes.
    X, y
        Rows and their true labels, as in ``model.classes``.
    """
    inner: Any = as_classifier(model)
    if isinstance(inner, GradientClassifier):
        logits = inner.logits(X)
    else:
        logits = log_probabilities(inner.predict_proba(X))
    labels = check_class_indices(y, inner.classes, n=len(logits))
    return TemperatureScaled(inner, fit_temperature(logits, labels))
