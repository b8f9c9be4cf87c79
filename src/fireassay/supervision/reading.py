"""What supervisors look at: the inputs, and what a model shows while it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError, ProbabilityError
from fireassay.core.probabilities import entropy_bits
from fireassay.core.validation import check_lengths, check_probabilities
from fireassay.supervision.row_blocks import row_blocks

FIELDS: dict[str, str] = {
    "probabilities": "class probabilities",
    "dropout": "probabilities of many dropout samples",
    "ensemble": "probabilities of several models",
    "logits": "logits",
    "features": "activations of a hidden layer",
    "head": "the last linear layer and the activations it takes",
    "layers": "activations of several hidden layers",
    "inputs": "inputs",
}


@dataclass(frozen=True)
class SampleSummary:
    """What is kept of several probability answers for the same rows.

    Attributes
    ----------
    mean
        Mean probabilities, (n, k).
    mean_entropy
        Mean over the answers of their entropy in bits, (n,).
    votes
        How many answers chose each class, (n, k).
    """

    mean: FloatArray
    mean_entropy: FloatArray
    votes: IntArray

    @classmethod
    def of(cls, samples: Any) -> "SampleSummary":
        """Summarise answers one by one: an array (samples, n, k), or any iterable of (n, k)."""
        total: FloatArray | None = None
        for count, sample in enumerate(samples, start=1):
            p = check_probabilities(sample, name=f"sample {count - 1}")
            if total is None:
                total, entropies = np.zeros_like(p), np.zeros(len(p))
                votes = np.zeros(p.shape, dtype=np.int64)
            if p.shape != total.shape:
                raise ProbabilityError(
                    f"Every sample must have the shape {total.shape} of the first.",
                    got=f"{p.shape} in sample {count - 1}",
                )
            total += p
            entropies += entropy_bits(p)
            votes[np.arange(len(p)), p.argmax(axis=1)] += 1
        if total is None:
            raise DataError("A summary needs at least one probability sample.", got="none")
        return cls(total / count, entropies / count, votes)

    def rows(self, chosen: slice) -> "SampleSummary":
        """The summary of some of the rows."""
        return SampleSummary(self.mean[chosen], self.mean_entropy[chosen], self.votes[chosen])


@dataclass(frozen=True)
class Reading:
    """Arrays for the same n rows; a supervisor declares which of them it needs.

    Users who have the arrays but no model that fireassay can read pass a reading to
    ``fit_reading`` and ``score_reading``.

    Attributes
    ----------
    probabilities
        (n, k).
    logits
        Scores before the softmax, (n, k).
    features
        Activations of one hidden layer, (n, d).
    layers
        Activations of several layers from the first to the last, each (n, d_l).
    dropout, ensemble
        Summaries of many probability samples, see `SampleSummary.of`.
    inputs
        The rows themselves, (n, …).
    head
        Weights (k, d) and bias (k,) of a last linear layer that takes ``features``.
    """

    probabilities: FloatArray | None = None
    logits: FloatArray | None = None
    features: FloatArray | None = None
    layers: Mapping[str, FloatArray] = field(default_factory=dict)
    dropout: SampleSummary | None = None
    ensemble: SampleSummary | None = None
    inputs: NDArray[Any] | None = None
    head: tuple[FloatArray, FloatArray] | None = None

    def __post_init__(self) -> None:
        lengths = {
            name: len(array)
            for name in ("probabilities", "logits", "features", "inputs")
            if (array := getattr(self, name)) is not None
        }
        lengths |= {f"layer {name}": len(array) for name, array in self.layers.items()}
        for name in ("dropout", "ensemble"):
            summary = getattr(self, name)
            if summary is not None:
                lengths[name] = len(summary.mean)
        check_lengths(**lengths)

    def has(self, name: str) -> bool:
        """Whether a field of `FIELDS` is there."""
        return bool(self.layers) if name == "layers" else getattr(self, name) is not None

    def rows(self, chosen: slice) -> "Reading":
        """The reading of some of the rows, with activations as float64 in memory."""
        cut: dict[str, Any] = {"head": self.head}
        for name in ("probabilities", "logits", "features"):
            array = getattr(self, name)
            cut[name] = None if array is None else np.asarray(array[chosen], dtype=np.float64)
        cut["inputs"] = None if self.inputs is None else self.inputs[chosen]
        cut["layers"] = {
            name: np.asarray(array[chosen], dtype=np.float64) for name, array in self.layers.items()
        }
        for name in ("dropout", "ensemble"):
            summary = getattr(self, name)
            cut[name] = None if summary is None else summary.rows(chosen)
        return Reading(**cut)

    def __len__(self) -> int:
        """Number of rows."""
        arrays = [self.probabilities, self.logits, self.features, self.inputs]
        arrays += [s.mean for s in (self.dropout, self.ensemble) if s is not None]
        arrays += list(self.layers.values())
        return next((len(array) for array in arrays if array is not None), 0)

    @property
    def predictions(self) -> IntArray:
        """The most probable class of each row, as a column index."""
        scores = self.probabilities if self.probabilities is not None else self.logits
        if scores is None:
            raise DataError("Predictions need probabilities or logits.", got="neither")
        columns: IntArray = np.asarray(scores).argmax(axis=1).astype(np.int64)
        return columns


def as_rows(activations: ArrayLike, name: str = "activations") -> FloatArray:
    """Activations as finite rows (n, d); whatever comes after the first axis is flattened.

    Floats stay as they are, also on disk (`numpy.memmap`); blocks of them become float64 where
    they are used.
    """
    array = np.asanyarray(activations)
    if array.ndim < 2 or array.dtype.kind not in "fiub" or 0 in array.shape[1:]:
        raise DataError(
            f"{name} must be numbers of shape (n, d).", got=f"{array.dtype} of shape {array.shape}"
        )
    rows = array.reshape(len(array), -1)
    if rows.dtype.kind != "f":
        rows = rows.astype(np.float64)
    before = 0
    for block in row_blocks(rows):
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            raise DataError(
                f"{name} must be finite.",
                got=f"NaN or infinity in row {before + int((~finite).argmax())}",
            )
        before += len(block)
    return rows


def as_activations(
    train_activations: ArrayLike,
    train_predictions: ArrayLike,
    activations: ArrayLike,
    predictions: ArrayLike,
) -> tuple[FloatArray, IntArray, FloatArray, IntArray]:
    """What the functions on arrays alone take, checked."""
    train, known = as_rows(train_activations, "train_activations"), as_classes(train_predictions)
    check_lengths(train_activations=len(train), train_predictions=len(known))
    new, predicted = as_rows(activations), as_classes(predictions)
    check_lengths(activations=len(new), predictions=len(predicted))
    check_width(new, train.shape[1])
    return train, known, new, predicted


def check_width(activations: FloatArray, width: int) -> None:
    """Refuse activations of another width than in training."""
    if activations.shape[1] != width:
        raise DataError(
            f"Activations must have {width} columns, as in training.",
            got=f"{activations.shape[1]}",
        )


def as_classes(predictions: ArrayLike) -> IntArray:
    """Predicted classes as column indices, one per row."""
    array = np.asarray(predictions)
    if array.ndim != 1 or array.dtype.kind not in "iubf" or (array != np.round(array)).any():
        raise DataError(
            "Predictions must be one class index per row.",
            got=f"{array.dtype} of shape {array.shape}",
        )
    return array.astype(np.int64)
