"""Labelers: from votes to a probability for each class. A new one is one file and one row here."""

from typing import Any

import numpy as np

from fireassay.core.errors import ParameterError
from fireassay.core.registry import Registry
from fireassay.curation.labelers.dawid_skene import DawidSkene as DawidSkene
from fireassay.curation.labelers.labeler import FittedLabeler as FittedLabeler
from fireassay.curation.labelers.labeler import GivenProbabilities as GivenProbabilities
from fireassay.curation.labelers.labeler import Labeler as Labeler
from fireassay.curation.labelers.labeler import MajorityVote as MajorityVote
from fireassay.curation.labelers.labeler import NamedLabeler
from fireassay.curation.labelers.snorkel import Snorkel as Snorkel
from fireassay.curation.labelers.triplet import Triplet as Triplet

LABELERS: Registry[NamedLabeler] = Registry(
    "labeler", [MajorityVote(), Snorkel(), DawidSkene(), DawidSkene(one_coin=True), Triplet()]
)


def as_labeler(labeler: Any) -> Labeler | GivenProbabilities:
    """A labeler from its name, an array of probabilities, or an object with ``name`` and ``fit``.

    >>> as_labeler("triplet")
    Triplet(min_overlap=10, class_balance=None)
    """
    if isinstance(labeler, str):
        return LABELERS[labeler]
    if isinstance(labeler, np.ndarray):
        return GivenProbabilities(labeler)
    if isinstance(labeler, GivenProbabilities | Labeler):
        return labeler
    raise ParameterError(
        "The 'labeler' must be a name, probabilities of shape (n, k), or have name and fit.",
        got=type(labeler).__name__,
    )


def label_model(labeler: Any, purpose: str) -> Labeler:
    """A labeler that learns from votes; given probabilities cannot be fitted again."""
    chosen = as_labeler(labeler)
    if isinstance(chosen, GivenProbabilities):
        raise ParameterError(f"{purpose} needs a label model.", got="given probabilities")
    return chosen
