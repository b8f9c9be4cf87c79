"""The registry of supervisors, and fitted supervisors as files."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fireassay.core import codec
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.registry import Registry
from fireassay.supervision import feature_scores, gaussian_scores, softmax_scores
from fireassay.supervision.autoencoder import Autoencoder
from fireassay.supervision.dissector import Dissector
from fireassay.supervision.distance_scores import Dsa
from fireassay.supervision.lsa import Lsa
from fireassay.supervision.supervisor import AlarmRule, Supervisor

# A row is a class: its name, summary, needs, fit_needs, and its ONNX graph or why there is none.
SUPERVISORS: Registry[type[Supervisor]] = Registry(
    "supervisor",
    (
        softmax_scores.MaxSoftmax,
        softmax_scores.Pcs,
        softmax_scores.SoftmaxEntropy,
        softmax_scores.DeepGini,
        softmax_scores.McDropoutVariationRatio,
        softmax_scores.McDropoutMeanSoftmax,
        softmax_scores.McDropoutMutualInformation,
        softmax_scores.McDropoutPredictiveEntropy,
        softmax_scores.EnsembleMeanSoftmax,
        softmax_scores.EnsembleMutualInformation,
        softmax_scores.EnsemblePredictiveEntropy,
        Dissector,
        Dsa,
        Lsa,
        gaussian_scores.Mdsa,
        Autoencoder,
        softmax_scores.Energy,
        softmax_scores.MaxLogit,
        softmax_scores.Gen,
        feature_scores.Knn,
        gaussian_scores.Mahalanobis,
        gaussian_scores.RelativeMahalanobis,
        feature_scores.Vim,
        feature_scores.React,
        feature_scores.Ash,
        feature_scores.Scale,
        feature_scores.GradNorm,
        gaussian_scores.GmmDensity,
    ),
)


def names() -> tuple[str, ...]:
    """Names that `make` understands, those that were registered by a user among them.

    >>> names()[:4]
    ('max-softmax', 'pcs', 'softmax-entropy', 'deep-gini')
    """
    return tuple(SUPERVISORS)


def without_inputs() -> tuple[str, ...]:
    """Supervisors that read no raw inputs, so that they can watch tables and texts."""
    every = SUPERVISORS.items()
    return tuple(n for n, row in every if "inputs" not in (*row.needs, *row.fit_needs))


def make(name: str, **parameters: Any) -> Supervisor:
    """A supervisor by name, not fitted yet.

    Args:
        name: One of `names`.
        parameters: Of this supervisor; every one has ``layer`` and ``seed``.

    Raises:
        ParameterError: For a name that is not in the table, or a parameter that this supervisor
            does not have.

    >>> make("dsa", subsample=0.3, seed=0).needs
    ('features', 'probabilities')
    """
    row = SUPERVISORS[name]
    known = row().get_params()
    unknown = [key for key in parameters if key not in known]
    if unknown:
        raise ParameterError(
            f"The parameters of {name} are {', '.join(known)}.", got=", ".join(map(repr, unknown))
        )
    return row(**parameters)


def markdown() -> str:
    """The table of supervisors for the docs: what each is, what it needs, whether ONNX takes it."""
    lines = ["| supervisor | what it is | needs | ONNX |", "|---|---|---|---|"]
    for row in SUPERVISORS.values():
        needs = ", ".join(dict.fromkeys((*row.needs, *row.fit_needs)))
        graph = "yes" if row.has_graph() else f"no: {row.no_graph}"
        lines.append(f"| `{row.name}` | {row.summary} | {needs} | {graph} |")
    return "\n".join(lines)


@dataclass(frozen=True)
class SavedSupervisor:
    """What is in the file; models (and ensemble members) are not."""

    name: str
    parameters: dict[str, Any]
    state: dict[str, Any]
    rule: AlarmRule | None
    feature_names: tuple[str, ...] | None = None
    layers: tuple[str, ...] = ()


def save(supervisor: Supervisor, path: str | Path) -> Path:
    """Write a fitted supervisor, with its alarm threshold if it has one."""
    return codec.save(saved(supervisor), path)


def saved(supervisor: Supervisor) -> SavedSupervisor:
    """What is saved of a fitted supervisor."""
    if not hasattr(supervisor, "state_"):
        raise ParameterError("Only a fitted supervisor can be saved.", got="one before fit")
    reader = getattr(supervisor, "reader_", None)
    return SavedSupervisor(
        name=supervisor.name,
        parameters=_plain_parameters(supervisor),
        state=supervisor.state_,
        rule=getattr(supervisor, "rule_", None),
        feature_names=supervisor.feature_names_,
        layers=() if reader is None else reader.layers(supervisor.needs),
    )


def _plain_parameters(supervisor: Supervisor) -> dict[str, Any]:
    given = supervisor.get_params().items()
    return {name: value for name, value in given if name not in ("members", "train")}


def load(path: str | Path, model: Any = None) -> Supervisor:
    """Read a supervisor; with ``model`` it is attached to it, ready to score.

    Raises:
        DataError: For a file that is not a saved supervisor.

    Args:
        path: What ``supervisor.save`` wrote.
        model: The classifier to watch.

    >>> import tempfile
    >>> model = lambda X: [[1 - x, x] for x, in X]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = make("max-softmax").fit(model, [[0.1]]).save(Path(folder) / "watch.json")
    ...     again = load(path, model)
    >>> again.score([[0.25]]).tolist()  # the largest probability is 0.75
    [0.25]
    """
    found = codec.load(path)
    if not isinstance(found, SavedSupervisor):
        raise DataError(f"Expected a saved supervisor at {path}.", got=type(found).__name__)
    return restored(found, model)


def restored(found: SavedSupervisor, model: Any = None) -> Supervisor:
    """The supervisor as it was when it was saved, attached to a model if there is one."""
    supervisor = make(found.name, **found.parameters)
    supervisor.state_ = found.state
    supervisor.rule_ = found.rule
    supervisor.feature_names_ = found.feature_names
    return supervisor if model is None else supervisor.attach(model)


def described(supervisor: Supervisor) -> dict[str, Any]:
    """Name, parameters, needs and alarm rule, as plain types."""
    rule = getattr(supervisor, "rule_", None)
    return {
        "supervisor": supervisor.name,
        "needs": list(supervisor.needs),
        "parameters": _plain_parameters(supervisor),
        "rule": None if rule is None else dataclasses.asdict(rule),
    }
