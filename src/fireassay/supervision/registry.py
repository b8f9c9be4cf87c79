"""The table of supervisors: adding one is one file and one row."""

from typing import Any

from fireassay.core.errors import ParameterError
from fireassay.core.registry import Registry
from fireassay.supervision.activation_shaping_scores import Ash, GradNorm, React, Scale
from fireassay.supervision.autoencoder import Autoencoder
from fireassay.supervision.dissector import Dissector
from fireassay.supervision.dsa import Dsa
from fireassay.supervision.gaussian_scores import (
    GmmDensity,
    Mahalanobis,
    Mdsa,
    RelativeMahalanobis,
)
from fireassay.supervision.knn import Knn
from fireassay.supervision.lsa import Lsa
from fireassay.supervision.sampled_scores import (
    EnsembleMeanSoftmax,
    EnsembleMutualInformation,
    EnsemblePredictiveEntropy,
    McDropoutMeanSoftmax,
    McDropoutMutualInformation,
    McDropoutPredictiveEntropy,
    McDropoutVariationRatio,
)
from fireassay.supervision.softmax_scores import (
    DeepGini,
    Energy,
    Gen,
    MaxLogit,
    MaxSoftmax,
    Pcs,
    SoftmaxEntropy,
)
from fireassay.supervision.supervisor import Supervisor
from fireassay.supervision.vim import Vim

# A row is a class: its name, summary, needs, fit_needs, and its ONNX graph or why there is none.
SUPERVISORS: Registry[type[Supervisor]] = Registry(
    "supervisor",
    (
        MaxSoftmax,
        Pcs,
        SoftmaxEntropy,
        DeepGini,
        McDropoutVariationRatio,
        McDropoutMeanSoftmax,
        McDropoutMutualInformation,
        McDropoutPredictiveEntropy,
        EnsembleMeanSoftmax,
        EnsembleMutualInformation,
        EnsemblePredictiveEntropy,
        Dissector,
        Dsa,
        Lsa,
        Mdsa,
        Autoencoder,
        Energy,
        MaxLogit,
        Gen,
        Knn,
        Mahalanobis,
        RelativeMahalanobis,
        Vim,
        React,
        Ash,
        Scale,
        GradNorm,
        GmmDensity,
    ),
)


def names() -> tuple[str, ...]:
    """Names that `make` understands, those that were registered by a user among them.

    >>> names()[:4]
    ('max-softmax', 'pcs', 'softmax-entropy', 'deep-gini')
    """
    return tuple(SUPERVISORS)


def without_inputs() -> tuple[str, ...]:
    """Supervisors that do not take inputs for measurements: these can watch tables and texts.

    >>> "max-softmax" in without_inputs(), "autoencoder" in without_inputs()
    (True, False)
    """
    return tuple(
        name for name, row in SUPERVISORS.items() if "inputs" not in (*row.needs, *row.fit_needs)
    )


def make(name: str, **parameters: Any) -> Supervisor:
    """A supervisor by name, not fitted yet.

    Parameters
    ----------
    name
        One of `names`.
    parameters
        Of this supervisor; every one has ``layer`` and ``seed``.

    Raises
    ------
    ParameterError
        For a name that is not in the table, or a parameter that this supervisor does not have.

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
