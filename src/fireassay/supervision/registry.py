"""The table of supervisors: adding one is one file and one row."""

from typing import Any

from fireassay.core.errors import ParameterError
from fireassay.supervision.ash import Ash
from fireassay.supervision.autoencoder import Autoencoder
from fireassay.supervision.deep_gini import DeepGini
from fireassay.supervision.dissector import Dissector
from fireassay.supervision.dsa import Dsa
from fireassay.supervision.energy import Energy
from fireassay.supervision.ensemble_mean_softmax import EnsembleMeanSoftmax
from fireassay.supervision.ensemble_mutual_information import EnsembleMutualInformation
from fireassay.supervision.ensemble_predictive_entropy import EnsemblePredictiveEntropy
from fireassay.supervision.gen import Gen
from fireassay.supervision.gmm_density import GmmDensity
from fireassay.supervision.gradnorm import GradNorm
from fireassay.supervision.knn import Knn
from fireassay.supervision.lsa import Lsa
from fireassay.supervision.mahalanobis import Mahalanobis
from fireassay.supervision.max_logit import MaxLogit
from fireassay.supervision.max_softmax import MaxSoftmax
from fireassay.supervision.mc_dropout_mean_softmax import McDropoutMeanSoftmax
from fireassay.supervision.mc_dropout_mutual_information import McDropoutMutualInformation
from fireassay.supervision.mc_dropout_predictive_entropy import McDropoutPredictiveEntropy
from fireassay.supervision.mc_dropout_variation_ratio import McDropoutVariationRatio
from fireassay.supervision.mdsa import Mdsa
from fireassay.supervision.pcs import Pcs
from fireassay.supervision.react import React
from fireassay.supervision.relative_mahalanobis import RelativeMahalanobis
from fireassay.supervision.scale import Scale
from fireassay.supervision.softmax_entropy import SoftmaxEntropy
from fireassay.supervision.supervisor import Supervisor
from fireassay.supervision.vim import Vim

_ROWS: tuple[type[Supervisor], ...] = (
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
)
TABLE: dict[str, type[Supervisor]] = {row.name: row for row in _ROWS}


def names() -> tuple[str, ...]:
    """Names that `make` understands.

    >>> names()[:4]
    ('max-softmax', 'pcs', 'softmax-entropy', 'deep-gini')
    """
    return tuple(TABLE)


def make(name: str, **parameters: Any) -> Supervisor:
    """A supervisor by name, not fitted yet: ``make("dsa", subsample=0.3, seed=0)``.

    Raises
    ------
    ParameterError
        For a name that is not in the table, or a parameter that this supervisor does not have.
    """
    if name not in TABLE:
        raise ParameterError(f"The supervisor must be one of {', '.join(TABLE)}.", got=repr(name))
    row = TABLE[name]
    known = row().get_params()
    unknown = [key for key in parameters if key not in known]
    if unknown:
        raise ParameterError(
            f"The parameters of {name} are {', '.join(known)}.", got=", ".join(map(repr, unknown))
        )
    return row(**parameters)
