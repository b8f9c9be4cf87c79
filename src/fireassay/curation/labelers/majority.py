"""Majority vote: every labelling function counts the same."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.core.probabilities import softmax
from fireassay.curation.votes import VoteArray, VotePatterns


@dataclass(frozen=True)
class MajorityVote:
    """Softmax of the number of votes for each class; there is nothing to learn.

    >>> from fireassay.curation import curate
    >>> result = curate([[0, 0, 1], [1, 1, 1]], labeler=MajorityVote(), prune=None, n_sets=2)
    >>> result.confidence.round(3).tolist()  # 1 / (1 + exp(-1)) and 1 / (1 + exp(-3))
    [0.731, 0.953]
    """

    name: ClassVar[str] = "majority"
    summary: ClassVar[str] = "learns nothing: every vote counts the same"
    draws: ClassVar[bool] = False

    def fit(self, patterns: VotePatterns, seed: int = 0) -> "FittedMajority":  # noqa: ARG002
        """Remember the number of classes."""
        return FittedMajority(patterns.n_classes)


@dataclass(frozen=True)
class FittedMajority:
    """A majority vote over ``n_classes``."""

    n_classes: int

    def posterior(self, votes: VoteArray) -> FloatArray:
        """Softmax of the vote counts; uniform where nobody votes."""
        return softmax(vote_counts(votes, self.n_classes))


def vote_counts(votes: VoteArray, n_classes: int) -> FloatArray:
    """How many labelling functions vote for each class, shape (rows, n_classes)."""
    return np.stack([(votes == label).sum(axis=1) for label in range(n_classes)], axis=1).astype(
        np.float64
    )
