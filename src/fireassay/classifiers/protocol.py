"""Protocols of a classifier: probabilities, gradients, activations."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import AnyArray, FloatArray, IntArray, Probabilities


class _WithoutReading(type(Protocol)):  # type: ignore[misc]
    """Checks ``isinstance`` by the names an object has, without reading its properties."""

    # Reading them would compute a content hash, or raise while the classes are not known yet.

    def __instancecheck__(cls, instance: Any) -> bool:
        if not cls.__dict__.get("_is_protocol", False):
            return bool(type.__instancecheck__(cls, instance))
        names, missing = _PROTOCOL_NAMES[cls.__name__], object()
        return all(inspect.getattr_static(instance, n, missing) is not missing for n in names)


@runtime_checkable
class Classifier(Protocol, metaclass=_WithoutReading):
    """A black box: rows in, class probabilities out."""

    @property
    def classes(self) -> tuple[Any, ...]:
        """Class labels in the order of the probability columns."""

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The smallest and largest allowed input value, or None if not declared."""

    @property
    def queries(self) -> int:
        """Rows that callers have sent so far (padding and probes are not counted)."""

    @property
    def sha256(self) -> str:
        """Identifies the model's content."""

    def predict_proba(self, X: ArrayLike) -> Probabilities:
        """Probabilities of shape ``(n, k)``, rows summing to one: float32 stays, else float64."""

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class label of each row (the first one on ties)."""


@runtime_checkable
class GradientClassifier(Classifier, Protocol):
    """A classifier that also gives gradients with respect to its input.

    ``gradient_queries`` counts rows sent through a backward pass; each of these is also one row
    of ``queries`` for its forward pass.
    """

    @property
    def gradient_queries(self) -> int:
        """Rows sent through a backward pass so far."""

    def logits(self, X: ArrayLike) -> FloatArray:
        """Scores before the softmax, shape ``(n, k)``."""

    def loss_gradient(
        self, X: ArrayLike, y: Sequence[int] | NDArray[np.int64]
    ) -> tuple[FloatArray, NDArray[Any]]:
        """Logits ``(n, k)`` and the gradient of the cross-entropy to class *index* ``y``, as X."""

    def logit_gradients(
        self, X: ArrayLike, columns: NDArray[np.int64]
    ) -> tuple[FloatArray, NDArray[Any]]:
        """Logits ``(n, k)`` and gradients of the chosen logits.

        ``columns`` has shape ``(n, m)``: for each row the class indices whose logits to derive.
        The gradients have shape ``(n, m, *X.shape[1:])``; a row costs m gradient queries.
        """


@runtime_checkable
class ActivationClassifier(Classifier, Protocol):
    """A classifier whose hidden layers can be read."""

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the layers that can be read, in the order of the model."""

    def activations(self, X: ArrayLike, layers: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The output of each named layer, ``(n, ...)``, in the order of the rows."""


_CLASSIFIER = ("classes", "bounds", "queries", "sha256", "predict_proba", "predict")
_PROTOCOL_NAMES = {
    "Classifier": _CLASSIFIER,
    "GradientClassifier": (
        *_CLASSIFIER,
        "gradient_queries",
        "logits",
        "loss_gradient",
        "logit_gradients",
    ),
    "ActivationClassifier": (*_CLASSIFIER, "layers", "activations"),
}


Weigh = Callable[[FloatArray, IntArray], FloatArray]


def backward_passes(model: Any) -> int:
    """Gradient queries that `score_gradient` takes per row: one, or one for each class."""
    return int(getattr(model, "backward_passes", 0)) or len(model.classes)


def score_gradient(
    model: Any, X: AnyArray, columns: IntArray, weigh: Weigh
) -> tuple[FloatArray, AnyArray]:
    """Logits, and the gradient of their sum with the weights ``weigh(logits, columns)``."""
    # A gradient classifier that is not ours gives the gradient of every logit instead.
    if hasattr(model, "score_gradient"):
        found: tuple[FloatArray, AnyArray] = model.score_gradient(X, columns, weigh)
        return found
    every = np.tile(np.arange(len(model.classes)), (len(X), 1))
    logits, slopes = model.logit_gradients(X, every)
    return logits, np.einsum("nk,nk...->n...", weigh(logits, columns), slopes)
