"""Majority vote: every labelling function counts the same."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fireassay.curation.labelers.protocol import normalised
from fireassay.curation.patterns import VotePatterns
from fireassay.curation.votes import VoteArray


@dataclass(frozen=True)
class MajorityVote:
    """Softmax of the number of votes for each class; there is nothing to learn."""

    name: ClassVar[str] = "majority"

    def fit(self, patterns: VotePatterns, seed: int = 0) -> "FittedMajority":  # noqa: ARG002
        """Remember the number of classes."""
        return FittedMajority(patterns.n_classes)


@dataclass(frozen=True)
class FittedMajority:
    """A majority vote over ``n_classes``."""

    n_classes: int

    def posterior(self, votes: VoteArray) -> NDArray[np.float64]:
        """Softmax of the vote counts; uniform where nobody votes."""
        return normalised(vote_counts(votes, self.n_classes))


def vote_counts(votes: VoteArray, n_classes: int) -> NDArray[np.float64]:
    """How many labelling functions vote for each class, shape (rows, n_classes)."""
    return np.stack([(votes == label).sum(axis=1) for label in range(n_classes)], axis=1).astype(
        np.float64
    )
