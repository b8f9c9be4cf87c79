"""What supervisors look at: the inputs, and what a model shows while it answers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import FloatArray, IntArray, Probabilities
from fireassay.core.errors import DataError, ModelError, ProbabilityError
from fireassay.core.probabilities import entropy_bits
from fireassay.core.validation import check_lengths, check_probabilities

T = TypeVar("T")
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


class NotAvailableError(ModelError):
    """A model, or a reading, does not supply what a supervisor needs."""


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
        """Summarise answers one by one: an array (samples, n, k), or any iterable of (n, k).

        >>> summary = SampleSummary.of([[[0.5, 0.5]], [[1.0, 0.0]]])
        >>> summary.mean.tolist(), summary.mean_entropy.tolist()  # 1 bit and 0 bits
        ([[0.75, 0.25]], [0.5])
        """
        return cls.of_answers(
            check_probabilities(sample, name=f"sample {i}") for i, sample in enumerate(samples)
        )

    @classmethod
    def of_answers(cls, samples: Iterable[Probabilities]) -> "SampleSummary":
        """The same of what classifiers answered, which was checked when it came."""
        total: FloatArray | None = None
        for count, p in enumerate(samples, start=1):
            if total is None:
                total, entropies = np.zeros(p.shape), np.zeros(len(p))
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


class _Given(Generic[T]):
    """A field of a reading: what was given, or an error that says what to pass."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, reading: "Reading | None", owner: type) -> T:
        if reading is None:
            return self  # type: ignore[return-value]  # asked of the class, as help() does
        if not reading.has(self.name):
            raise NotAvailableError(
                f"This needs {FIELDS[self.name]}.",
                got=f"a reading of {', '.join(reading.given) or 'nothing'}",
                do=f"Pass {self.name}= to Reading, or name it in the supervisor's needs.",
            )
        value: T = reading.given[self.name]
        return value


class Reading:
    """Arrays for the same n rows; a supervisor declares which of them it needs.

    Users who have the arrays but no model that fireassay can read pass a reading to
    ``fit_reading`` and ``score_reading``. To ask for a field that was not given is an error that
    names it.

    Parameters
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

    >>> Reading(probabilities=np.array([[0.2, 0.8]])).predictions
    array([1])
    """

    probabilities = _Given[Probabilities]()
    logits = _Given[FloatArray]()
    features = _Given[FloatArray]()
    layers = _Given[Mapping[str, FloatArray]]()
    dropout = _Given[SampleSummary]()
    ensemble = _Given[SampleSummary]()
    inputs = _Given[NDArray[Any]]()
    head = _Given[tuple[FloatArray, FloatArray]]()

    def __init__(
        self,
        *,
        probabilities: Probabilities | None = None,
        logits: FloatArray | None = None,
        features: FloatArray | None = None,
        layers: Mapping[str, FloatArray] | None = None,
        dropout: SampleSummary | None = None,
        ensemble: SampleSummary | None = None,
        inputs: NDArray[Any] | None = None,
        head: tuple[FloatArray, FloatArray] | None = None,
    ) -> None:
        given = {
            "probabilities": probabilities, "logits": logits, "features": features,
            "inputs": inputs, "dropout": dropout, "ensemble": ensemble, "layers": layers or None,
            "head": head,
        }  # fmt: skip
        self.given: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        check_lengths(**self._lengths())

    def has(self, name: str) -> bool:
        """Whether a field of `FIELDS` is there."""
        return name in self.given

    @property
    def predictions(self) -> IntArray:
        """The most probable class of each row, as a column index."""
        only_logits = self.has("logits") and not self.has("probabilities")
        scores = self.logits if only_logits else self.probabilities
        columns: IntArray = np.asarray(scores).argmax(axis=1).astype(np.int64)
        return columns

    def rows(self, chosen: slice) -> "Reading":
        """The reading of some of the rows, with activations as float64 in memory."""
        return Reading(**{name: _cut(name, v, chosen) for name, v in self.given.items()})

    def __len__(self) -> int:
        """Number of rows."""
        return next(iter(self._lengths().values()), 0)

    def _lengths(self) -> dict[str, int]:
        lengths: dict[str, int] = {}
        for name, value in self.given.items():
            if name == "layers":
                lengths |= {f"layer {layer}": len(array) for layer, array in value.items()}
            elif name != "head":
                lengths[name] = len(value.mean if isinstance(value, SampleSummary) else value)
        return lengths


def _cut(name: str, value: Any, chosen: slice) -> Any:
    if name == "head":
        return value
    if name == "inputs":
        return value[chosen]
    if name == "layers":
        return {layer: np.asarray(v[chosen], dtype=np.float64) for layer, v in value.items()}
    if isinstance(value, SampleSummary):
        return value.rows(chosen)
    return np.asarray(value[chosen], dtype=np.float64)
