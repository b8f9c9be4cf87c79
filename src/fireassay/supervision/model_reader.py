"""Reads from a model what supervisors need, and says why where it cannot."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from fireassay.classifiers import Classifier, GradientClassifier, as_classifier
from fireassay.core.arrays import FloatArray
from fireassay.core.errors import ModelError, ParameterError
from fireassay.core.extras import is_installed
from fireassay.core.validation import check_integer
from fireassay.supervision.reading import FIELDS, Reading, SampleSummary
from fireassay.supervision.row_blocks import as_rows

INPUTS = "inputs"


class Hidden(Protocol):
    """What of a model's inside can be read; ``missing`` says why not."""

    def missing(self, need: str) -> str | None:
        """None if this field of `Reading` can be read."""
        ...

    def read(self, X: NDArray[Any], needs: frozenset[str]) -> dict[str, Any]:
        """Probabilities and the asked fields."""
        ...

    def dropout_samples(self, X: NDArray[Any], n_samples: int, seed: int) -> Iterable[NDArray[Any]]:
        """Probabilities under ``n_samples`` fixed dropout masks."""
        ...

    def last_layer(self) -> tuple[FloatArray, FloatArray] | None:
        """Weights (k, d) and bias (k,) of the last linear layer, if there is one."""
        ...


class ModelReader:
    """One model (and, for ensembles, its fellows), read field by field.

    Parameters
    ----------
    model
        A `Classifier`, or anything `as_classifier` takes.
    layer
        The layer whose output is ``features``; None: what the last linear layer takes;
        ``"inputs"``: the flattened inputs.
    members
        Models of an ensemble.
    n_samples
        Dropout samples.
    """

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

    def classes(self, X: NDArray[Any]) -> tuple[Any, ...]:
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

    def read(self, X: NDArray[Any], needs: Iterable[str]) -> Reading:
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

    @property
    def queries(self) -> int:
        """Rows sent to the model and to the members of the ensemble."""
        return self.model.queries + sum(m.queries for m in self.members or ())


class NothingInside:
    """A black box: probabilities only."""

    def __init__(self, why: str) -> None:
        self.why = why

    def missing(self, need: str) -> str | None:
        """Always the same reason."""
        if need == "dropout":
            return f"{self.why}; dropout can be sampled in torch modules"
        if need == "logits":
            return f"{self.why}; energies cannot be recovered from probabilities"
        return f"{self.why}; layer='inputs' (--layer inputs) takes the inputs themselves"

    def read(self, X: NDArray[Any], needs: frozenset[str]) -> dict[str, Any]:
        """Never called: everything is missing."""
        raise ModelError(self.why, got=f"a request for {', '.join(needs)} of {len(X)} rows")

    def dropout_samples(self, X: NDArray[Any], n_samples: int, seed: int) -> Iterable[NDArray[Any]]:
        """Never called: everything is missing."""
        raise ModelError(self.why, got=f"{n_samples} samples of {len(X)} rows asked, seed {seed}")

    def last_layer(self) -> tuple[FloatArray, FloatArray] | None:
        """Not seen."""
        return None


def _hidden(model: Classifier, layer: str | None) -> Hidden:
    inner: Any = model
    while not hasattr(inner, "module") and hasattr(inner, "model"):
        inner = inner.model
    if is_installed("torch") and hasattr(inner, "module"):
        from fireassay.supervision.torch_hidden import TorchHidden, is_hookable

        if is_hookable(inner.module):
            return TorchHidden(model, inner, layer)
        return NothingInside("the layers of an exported program cannot be read")
    if hasattr(inner, "_with_outputs"):
        from fireassay.supervision.onnx_hidden import OnnxHidden

        if is_installed("onnx"):
            return OnnxHidden(model, inner, layer)
        return NothingInside("reading an ONNX graph needs the package 'onnx'")
    from fireassay.supervision.sklearn_hidden import SklearnHidden, is_network

    if is_network(getattr(inner, "estimator", None)):
        return SklearnHidden(model, inner.estimator, layer)
    return NothingInside("the model shows its probabilities only")
