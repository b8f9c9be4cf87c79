"""Base of wrapped classifiers, and the view in which distances are measured."""

import functools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers.adapt import as_classifier
from fireassay.classifiers.answers import labels_of
from fireassay.classifiers.blocks import BlockSizes
from fireassay.classifiers.protocol import (
    ActivationClassifier,
    GradientClassifier,
    Weigh,
    backward_passes,
    score_gradient,
)
from fireassay.core.arrays import (
    AnyArray,
    BoolArray,
    Float32Array,
    FloatArray,
    IntArray,
    Probabilities,
    softmax,
)
from fireassay.core.hashing import sha256
from fireassay.core.mapped import LEAST_NUMBERS


def numeric_view(model: Any, rows: AnyArray) -> FloatArray:
    """Rows as points, shape (n, d): as the model views them, if it does, else as they are.

    Args:
        model: A classifier; `CodedClassifier` and what is wrapped around it have a view.
        rows: As the classifier takes them.

    >>> numeric_view(None, np.zeros((2, 3, 3))).shape
    (2, 9)
    """
    if not has_view(model):
        return flat_rows(rows)
    viewed: FloatArray = model.view(rows)
    return viewed


def has_view(model: Any) -> bool:
    """Whether a classifier has a view of its rows that is not the rows themselves."""
    inner = getattr(model, "model", None)
    return hasattr(model, "book") or (inner is not None and has_view(inner))


def flat_rows(rows: AnyArray) -> FloatArray:
    """Rows as float64 points; too many to be held twice stay as they are, uncopied."""
    flat = rows.reshape(len(rows), -1)
    return flat if flat.size >= LEAST_NUMBERS else flat.astype(np.float64, copy=False)


Targets = Sequence[int] | IntArray


class WrappedClassifier(ABC):
    """Classes, bounds, counts, budget, hash, gradients and layers of the inner classifier.

    It has gradients, layers and withheld answers exactly where the inner classifier has them, so
    that no attack or supervisor is lost on the way. A subclass says what it hashes (`_identity`)
    and overrides a map together with its derivative:

    - the input map: ``_seen(X)`` gives the rows for the inner classifier, ``_slope(slope)`` turns
      a gradient there into one on this classifier's own rows;
    - the output map: ``_answer(p, X)`` gives the caller's probabilities, ``_scores(logits, X)``
      the logits, ``_undone(p)`` the inner probabilities behind given ones; logits that change
      linearly are divided by ``_divisor``, which is the derivative, too. For any other map
      ``_pulled(logits, weights)`` turns a derivative by the caller's logits into one by the inner
      logits.

    ``gradient_rule`` is "exact", or "straight-through" where a map has no useful derivative
    (rounding, noise): then the gradient is the inner one at the mapped rows, as an attacker who
    knows of the map would take it.

    Args:
        model: The inner classifier, or anything `as_classifier` takes.

    >>> class Mirrored(WrappedClassifier):
    ...     def _identity(self):
    ...         return ("mirrored",)
    ...     def _seen(self, X):
    ...         return 1 - X
    >>> model = Mirrored(as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])))
    >>> model.predict_proba([[0.25]]).tolist(), model.queries
    ([[0.25, 0.75]], 1)
    """

    gradient_rule: Literal["exact", "straight-through"] = "exact"
    _divisor: float = 1.0

    def __new__(cls, model: Any, *_: Any, **__: Any) -> Self:
        """Of the kind that has what the inner classifier has."""
        inner = as_classifier(model)
        kind: Self = made(
            cls,
            isinstance(inner, GradientClassifier),
            isinstance(inner, ActivationClassifier),
            hasattr(inner, "withheld"),
        )
        return kind

    def __init__(self, model: Any) -> None:
        self.model: Any = as_classifier(model)

    def __reduce__(self) -> tuple[Any, ...]:
        kind: Any = type(self)
        return made, (kind.named, *kind.abilities), self.__dict__

    # What a subclass changes ----------------------------------------------------------------

    @abstractmethod
    def _identity(self) -> tuple[Any, ...]:
        """What the hash covers besides the inner classifier; first, what kind of wrapper it is."""

    def _seen(self, X: AnyArray) -> AnyArray:
        return X

    def _slope(self, slope: AnyArray) -> AnyArray:
        return slope

    def _answer(self, probabilities: Probabilities, X: AnyArray) -> Probabilities:  # noqa: ARG002
        return probabilities

    def _scores(self, logits: FloatArray, X: AnyArray) -> FloatArray:  # noqa: ARG002
        return logits / self._divisor

    def _undone(self, probabilities: Probabilities) -> Probabilities:
        return probabilities

    def _pulled(self, logits: FloatArray, weights: FloatArray) -> FloatArray:  # noqa: ARG002
        return weights / self._divisor

    # What a caller sees ---------------------------------------------------------------------

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
    def output(self) -> str:
        """What the innermost model returns: "probabilities", "logits" or "labels"."""
        return str(getattr(self.model, "output", "probabilities"))

    @property
    def space(self) -> Any:
        """What may change under attack, if the inner classifier says so; None: everything."""
        return getattr(self.model, "space", None)

    @property
    def queries(self) -> int:
        """Rows that callers have asked about so far."""
        return int(self.model.queries)

    @property
    def rows_delivered(self) -> int:
        """Rows that reached the innermost model so far."""
        return int(getattr(self.model, "rows_delivered", self.model.queries))

    @property
    def max_queries(self) -> int | None:
        """The inner classifier's hard budget of rows."""
        budget: int | None = getattr(self.model, "max_queries", None)
        return budget

    @max_queries.setter
    def max_queries(self, budget: int | None) -> None:
        if hasattr(self.model, "max_queries"):
            self.model.max_queries = budget

    @property
    def block_sizes(self) -> BlockSizes:
        """The block sizes that are known to give the inner model's own bytes."""
        return getattr(self.model, "block_sizes", BlockSizes())

    @block_sizes.setter
    def block_sizes(self, decided: BlockSizes) -> None:
        if hasattr(self.model, "block_sizes"):
            self.model.block_sizes = decided

    def decide_block_sizes(self, X: ArrayLike, *, gradients: bool = False) -> BlockSizes:
        """Let the inner classifier decide on its block sizes; see there."""
        if hasattr(self.model, "decide_block_sizes"):
            self.model.decide_block_sizes(self._seen(np.asarray(X)), gradients=gradients)
        return self.block_sizes

    @property
    def sha256(self) -> str:
        """Identifies the inner classifier and what this one does with it."""
        kind, *settings = self._identity()
        return sha256(kind, self.model.sha256, *settings)

    def view(self, X: AnyArray) -> FloatArray:
        """Numbers to measure distances between rows with: the inner classifier's, or the rows."""
        return numeric_view(self.model, self._seen(X)) if has_view(self.model) else flat_rows(X)

    def predict_proba(self, X: ArrayLike) -> Probabilities:
        """Probabilities of shape ``(n, k)``, rows summing to one: float32 stays, else float64."""
        rows: Any = X if hasattr(X, "iloc") else np.asarray(X)
        return self._answer(self.model.predict_proba(self._seen(rows)), rows)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class label of each row (the first one on ties)."""
        return labels_of(self.predict_proba(X), self.classes)

    def __repr__(self) -> str:
        settings = ", ".join(str(part) for part in self._identity()[1:] if np.ndim(part) == 0)
        return f"{type(self).__name__}({', '.join(filter(None, (repr(self.model), settings)))})"


class _Gradients:
    model: Any
    _seen: Any
    _slope: Any
    _scores: Any
    _pulled: Any
    _divisor: float

    @property
    def _linear(self) -> bool:
        return getattr(type(self), "_pulled", None) is WrappedClassifier._pulled

    @property
    def gradient_queries(self) -> int:
        """Rows sent through a backward pass so far."""
        return int(self.model.gradient_queries)

    def logits(self, X: ArrayLike) -> FloatArray:
        """Scores before the softmax, shape ``(n, k)``."""
        rows = np.asarray(X)
        mapped: FloatArray = self._scores(self.model.logits(self._seen(rows)), rows)
        return mapped

    def loss_gradient(self, X: ArrayLike, y: Targets) -> tuple[FloatArray, AnyArray]:
        """Logits and the gradient of the cross-entropy to class *index* ``y``, as X."""
        return self._loss_gradient(X, y, 1.0)

    def _loss_gradient(
        self, X: ArrayLike, y: Targets, temperature: float
    ) -> tuple[FloatArray, AnyArray]:
        rows = np.asarray(X)
        if not self._linear:
            return self._mapped_loss_gradient(rows, y, temperature)
        together = temperature * self._divisor
        logits, slope = _loss_gradient_at(self.model, self._seen(rows), y, together)
        return self._scores(logits, rows), self._slope(slope)

    def _mapped_loss_gradient(
        self, rows: AnyArray, y: Targets, temperature: float
    ) -> tuple[FloatArray, AnyArray]:
        columns = np.asarray(y, dtype=np.int64)

        def loss(scores: FloatArray, some: IntArray) -> FloatArray:
            weights = softmax(scores / temperature)
            weights[np.arange(len(some)), some.reshape(len(some), -1)[:, 0]] -= 1.0
            return weights / temperature

        found: tuple[FloatArray, AnyArray] = self.score_gradient(rows, columns[:, None], loss)
        return found

    def logit_gradients(self, X: ArrayLike, columns: IntArray) -> tuple[FloatArray, AnyArray]:
        """Logits and the gradients of the chosen ones: together a linear model of the inner one."""
        if not self._linear:
            rows = np.asarray(X)
            every = np.tile(np.arange(len(self.model.classes)), (len(rows), 1))
            logits, slopes = self.model.logit_gradients(self._seen(rows), every)
            own = [
                np.einsum("nk,nk...->n...", self._pulled(logits, one), slopes)
                for one in np.eye(every.shape[1])[np.asarray(columns)].swapaxes(0, 1)
            ]
            return self._scores(logits, rows), self._slope(np.stack(own, axis=1))
        logits, slopes = self.model.logit_gradients(self._seen(np.asarray(X)), columns)
        return logits / self._divisor, self._slope(slopes) / self._divisor

    @property
    def backward_passes(self) -> int:
        """Gradient queries of `score_gradient` per row: those of the inner classifier."""
        return backward_passes(self.model)

    def score_gradient(
        self, X: ArrayLike, columns: IntArray, weigh: Weigh
    ) -> tuple[FloatArray, AnyArray]:
        """Logits, and the gradient of their sum with the weights ``weigh(logits, columns)``."""
        rows = np.asarray(X)

        def inner(logits: FloatArray, some: IntArray) -> FloatArray:
            if self._linear:
                return weigh(logits / self._divisor, some)
            pulled: FloatArray = self._pulled(logits, weigh(self._scores(logits, rows), some))
            return pulled

        logits, slope = score_gradient(self.model, self._seen(rows), columns, inner)
        if self._linear:
            slope = slope / self._divisor
        return self._scores(logits, rows), self._slope(slope)


class _Layers:
    model: Any
    _seen: Any

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the layers that can be read."""
        return tuple(self.model.layers)

    def activations(self, X: ArrayLike, layers: Sequence[str]) -> dict[str, Float32Array]:
        """The output of each named layer for the rows as the inner classifier gets them."""
        read: dict[str, Float32Array] = self.model.activations(self._seen(np.asarray(X)), layers)
        return read


class _Withholding:
    model: Any
    _undone: Any

    def withheld(self, probabilities: Probabilities) -> BoolArray:
        """Which of these answers the inner classifier withholds."""
        return np.asarray(self.model.withheld(self._undone(probabilities)), dtype=np.bool_)


@functools.cache
def _kind(named: type[Any], abilities: tuple[bool, bool, bool]) -> type[Any]:
    """The subclass with these abilities; it goes by the name of the class it belongs to."""
    both = zip((_Gradients, _Layers, _Withholding), abilities, strict=True)
    mixins = [mixin for mixin, has in both if has]
    own = {name: getattr(named, name) for name in ("__module__", "__qualname__", "__doc__")}
    members = {"named": named, "abilities": abilities, **own}
    return type(named.__name__, (named, *mixins), members)


def made(cls: type[Any], gradients: bool, layers: bool, withholding: bool) -> Any:
    """An instance without content, here and when one comes out of a pickle."""
    named: Any = getattr(cls, "named", cls)
    return object.__new__(_kind(named, (gradients, layers, withholding)))


def _loss_gradient_at(
    model: Any, X: AnyArray, y: Targets, temperature: float
) -> tuple[FloatArray, AnyArray]:
    """Logits of ``model``, and the gradient of the loss of its logits over ``temperature``."""
    plain = temperature == 1.0
    if plain or hasattr(model, "_loss_gradient"):
        found: tuple[FloatArray, AnyArray] = (
            model.loss_gradient(X, y) if plain else model._loss_gradient(X, y, temperature)
        )
        return found
    # A gradient classifier that is not ours: its loss is made of the gradients of all logits.
    columns = np.tile(np.arange(len(model.classes)), (len(X), 1))
    logits, slopes = model.logit_gradients(X, columns)
    weights = softmax(logits / temperature)
    weights[np.arange(len(X)), np.asarray(y)] -= 1.0
    return logits, np.einsum("nk,nk...->n...", weights / temperature, slopes)
