"""Labelers: from votes to a probability for each class. A new one is one file and one row here."""

from typing import Any

import numpy as np

from fireassay.core.errors import ParameterError
from fireassay.curation.labelers.dawid_skene import DawidSkene
from fireassay.curation.labelers.given import GivenProbabilities
from fireassay.curation.labelers.majority import MajorityVote
from fireassay.curation.labelers.protocol import FittedLabeler, Labeler
from fireassay.curation.labelers.snorkel import Snorkel
from fireassay.curation.labelers.triplet import Triplet

LABELERS: dict[str, Labeler] = {
    "majority": MajorityVote(),
    "snorkel": Snorkel(),
    "dawid-skene": DawidSkene(),
    "one-coin": DawidSkene(one_coin=True),
    "triplet": Triplet(),
}


def as_labeler(labeler: Any) -> Labeler | GivenProbabilities:
    """A labeler from its name, an array of probabilities, or an object with ``fit``."""
    if isinstance(labeler, str):
        if labeler not in LABELERS:
            raise ParameterError(
                f"The 'labeler' must be one of {', '.join(map(repr, LABELERS))}, "
                "probabilities of shape (n, k), or a Labeler.",
                got=repr(labeler),
            )
        return LABELERS[labeler]
    if isinstance(labeler, GivenProbabilities | Labeler):
        return labeler
    if isinstance(labeler, np.ndarray):
        return GivenProbabilities(labeler)
    raise ParameterError(
        "The 'labeler' must be a name, probabilities of shape (n, k), or have name and fit.",
        got=type(labeler).__name__,
    )


__all__ = [
    "LABELERS",
    "DawidSkene",
    "FittedLabeler",
    "GivenProbabilities",
    "Labeler",
    "MajorityVote",
    "Snorkel",
    "Triplet",
    "as_labeler",
]
