"""Inputs, outputs and activations that supervisors read from a model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from fireassay.classifiers import Classifier, GradientClassifier, as_classifier
from fireassay.core.arrays import AnyArray, FloatArray, IntArray, Probabilities, entropy_bits
from fireassay.core.errors import DataError, ModelError, ParameterError, ProbabilityError
from fireassay.core.lazy import is_installed
from fireassay.core.validation import check_integer, check_lengths, check_probabilities
from fireassay.supervision.row_blocks import as_rows

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

    Attributes:
        mean: Mean probabilities, (n, k).
        mean_entropy: Mean over the answers of their entropy in bits, (n,).
        votes: How many answers chose each class, (n, k).
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

    Args:
        probabilities: (n, k).
        logits: Scores before the softmax, (n, k).
        features: Activations of one hidden layer, (n, d).
        layers: Activations of several layers from the first to the last, each (n, d_l).
        dropout, ensemble: Summaries of many probability samples, see `SampleSummary.of`.
        inputs: The rows themselves, (n, …).
        head: Weights (k, d) and bias (k,) of a last linear layer that takes ``features``.

    >>> Reading(probabilities=np.array([[0.2, 0.8]])).predictions
    array([1])
    """

    probabilities = _Given[Probabilities]()
    logits = _Given[FloatArray]()
    features = _Given[FloatArray]()
    layers = _Given[Mapping[str, FloatArray]]()
    dropout = _Given[SampleSummary]()
    ensemble = _Given[SampleSummary]()
    inputs = _Given[AnyArray]()
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
        inputs: AnyArray | None = None,
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
        return np.asarray(np.asarray(scores).argmax(axis=1).astype(np.int64))

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


INPUTS = "inputs"


class Hidden:
    """What can be read of a model's inside: nothing, unless a subclass knows the model."""

    def __init__(self, why: str) -> None:
        self.why = why

    def missing(self, need: str) -> str | None:
        """Why this field of `Reading` cannot be read; None if it can."""
        if need == "dropout":
            return f"{self.why}; dropout can be sampled in torch modules"
        if need == "logits":
            return f"{self.why}; energies cannot be recovered from probabilities"
        return f"{self.why}; layer='inputs' (--layer inputs) takes the inputs themselves"

    def read(self, X: AnyArray, needs: frozenset[str]) -> dict[str, Any]:
        """Probabilities and the asked fields; only for fields that are not missing."""
        raise ModelError(self.why, got=f"a request for {', '.join(needs)} of {len(X)} rows")

    def dropout_samples(self, X: AnyArray, n_samples: int, seed: int) -> Iterable[AnyArray]:
        """Probabilities under ``n_samples`` fixed dropout masks, where dropout is not missing."""
        asked = f"{n_samples} samples of {len(X)} rows asked, seed {seed}"
        raise ModelError(f"{self.missing('dropout')}.", got=asked)

    def last_layer(self) -> tuple[FloatArray, FloatArray] | None:
        """Weights (k, d) and bias (k,) of the last linear layer, if there is one."""
        return None

    def layer_names(self) -> tuple[Sequence[str], str | None]:
        """The layers that are probed, and the one whose activations are the features."""
        return (), None


class ModelReader:
    """One model (and, for ensembles, its fellows), read field by field."""

    def __init__(
        self,
        model: Any,
        *,
        layer: str | None = None,
        members: Sequence[Any] | None = None,
        n_samples: int = 100,
        seed: int = 0,
    ) -> None:
        self.model: Classifier = as_classifier(model)
        self.layer = layer
        self.members = None if members is None else [as_classifier(m) for m in members]
        if self.members is not None and len(self.members) < 2:
            raise ParameterError(
                "An ensemble needs at least two members.", got=f"{len(self.members)}"
            )
        self.n_samples = check_integer(n_samples, "n_samples", low=2)
        self.seed = seed
        self.hidden = _hidden(self.model, None if layer == INPUTS else layer)

    def classes(self, X: AnyArray) -> tuple[Any, ...]:
        """The model's classes; asks it about one row where they are not known yet."""
        try:
            return self.model.classes
        except ModelError:
            self.model.predict_proba(X[:1])
            return self.model.classes

    def missing(self, need: str) -> str | None:
        """Why a field of `Reading` is not available, or None."""
        if need not in FIELDS:
            raise ParameterError(f"A need must be one of {', '.join(FIELDS)}.", got=repr(need))
        if need in ("inputs", "probabilities"):
            return None
        if need == "features" and self.layer == INPUTS:
            return None
        if need == "ensemble":
            if self.members is not None:
                return None
            return "one model is not an ensemble; pass members=[…] (--member …) or train=recipe"
        if need == "head" and self.layer is not None:
            return "with layer= another layer is read than the one the last linear layer takes"
        if need == "logits" and isinstance(self.model, GradientClassifier):
            return None
        return self.hidden.missing(need)

    def read(self, X: AnyArray, needs: Iterable[str]) -> Reading:
        """A reading with the asked fields; the model is asked as seldom as possible."""
        wanted = frozenset(needs)
        found: dict[str, Any] = {"inputs": X} if "inputs" in wanted else {}
        inside = wanted & {"logits", "features", "layers", "head"}
        if self.layer == INPUTS and "features" in inside:
            found["features"] = as_rows(X, "X")
            inside -= {"features"}
        if inside and all(self.hidden.missing(need) is None for need in inside):
            found |= self.hidden.read(X, inside)
        elif inside == {"logits"} and isinstance(self.model, GradientClassifier):
            found["logits"] = self.model.logits(X)
        if "probabilities" in wanted and "probabilities" not in found:
            found["probabilities"] = self.model.predict_proba(X)
        if "dropout" in wanted and self.hidden.missing("dropout") is None:
            found["dropout"] = SampleSummary.of_answers(
                self.hidden.dropout_samples(X, self.n_samples, self.seed)
            )
        if "ensemble" in wanted and self.members is not None:
            found["ensemble"] = SampleSummary.of_answers(
                member.predict_proba(X) for member in self.members
            )
        return Reading(**found)

    def head(self) -> tuple[FloatArray, FloatArray] | None:
        """Weights and bias of the last linear layer, where the activations it takes are read."""
        return self.hidden.last_layer() if self.layer is None else None

    def layers(self, needs: Iterable[str]) -> tuple[str, ...]:
        """Names of the layers that these fields are read from."""
        probed, last = self.hidden.layer_names()
        if self.layer == INPUTS:
            last = INPUTS
        inside = bool({"features", "head", "logits"} & set(needs))
        several = tuple(probed) if "layers" in needs else ()
        return (*several, last) if inside and last is not None else several

    @property
    def queries(self) -> int:
        """Rows sent to the model and to the members of the ensemble."""
        return self.model.queries + sum(m.queries for m in self.members or ())


def _hidden(model: Classifier, layer: str | None) -> Hidden:
    inner: Any = model
    while not hasattr(inner, "module") and hasattr(inner, "model"):
        inner = inner.model
    if is_installed("torch") and hasattr(inner, "module"):
        from fireassay.supervision.torch_hidden import TorchHidden, is_hookable

        if is_hookable(inner.module):
            return TorchHidden(model, inner, layer)
        return Hidden("the layers of an exported program cannot be read")
    if hasattr(inner, "_with_outputs"):
        from fireassay.supervision.hidden import OnnxHidden

        if is_installed("onnx"):
            return OnnxHidden(model, inner, layer)
        return Hidden("reading an ONNX graph needs the package 'onnx'")
    from fireassay.supervision.hidden import SklearnHidden, is_network

    if is_network(getattr(inner, "estimator", None)):
        return SklearnHidden(model, inner.estimator, layer)
    return Hidden("the model shows its probabilities only")
