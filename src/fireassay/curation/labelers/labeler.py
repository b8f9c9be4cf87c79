"""The protocol of a labeler, and majority vote."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from fireassay.core.arrays import FloatArray, softmax
from fireassay.core.errors import ParameterError
from fireassay.core.validation import check_probabilities
from fireassay.curation.votes import VoteArray, VotePatterns


class FittedLabeler(Protocol):
    """A labeler that has seen the votes."""

    def posterior(self, votes: VoteArray) -> FloatArray:
        """P(class | votes), one row per row of votes, shape (rows, n_classes)."""
        ...


@runtime_checkable
class Labeler(Protocol):
    """Settings of a label model; `fit` learns from patterns weighted by how often they occur.

    ``draws = False`` says that the seed changes nothing, so that a stability panel fits it once.
    """

    @property
    def name(self) -> str:
        """How results call it."""
        ...

    def fit(self, patterns: VotePatterns, seed: int = 0) -> FittedLabeler:
        """Learn from the patterns; the seed is used only by labelers that draw numbers."""
        ...


class NamedLabeler(Labeler, Protocol):
    """A labeler that can stand in the registry."""

    @property
    def summary(self) -> str:
        """What it learns, in a few words."""
        ...


@dataclass(frozen=True, eq=False)
class GivenProbabilities:
    """Class probabilities from elsewhere (a crowd model, a pathologist), shape (n, k).

    The votes then give only the number of votes.

    Args:
        probabilities: Shape (n, k); rows sum to one.

    >>> from fireassay.curation import curate
    >>> crowd = GivenProbabilities([[0.9, 0.1], [0.2, 0.8]])
    >>> result = curate([[0, 0], [1, 0]], labeler=crowd, prune=None, n_sets=2)
    >>> result.labels.tolist(), result.confidence.tolist()
    ([0, 1], [0.9, 0.8])
    """

    probabilities: Any
    name: ClassVar[str] = "given"

    def checked(self, n: int, n_classes: int) -> FloatArray:
        """The probabilities, valid and of the right shape."""
        return check_probabilities(self.probabilities, n=n, n_classes=n_classes)


def class_prior(class_balance: tuple[float, ...] | None, n_classes: int) -> FloatArray:
    """The given class balance as probabilities, or the uniform one."""
    if class_balance is None:
        return np.full(n_classes, 1 / n_classes)
    prior = np.asarray(class_balance, dtype=np.float64)
    if prior.shape != (n_classes,) or not (prior > 0).all() or abs(prior.sum() - 1) > 1e-6:
        raise ParameterError(
            f"The 'class_balance' must be {n_classes} positive numbers that sum to 1.",
            got=str(class_balance),
        )
    return np.asarray(prior / prior.sum())


def normalised(log_weights: FloatArray) -> FloatArray:
    """Softmax of each row."""
    # Turned over and back: numpy reduces along short rows much more slowly.
    return np.ascontiguousarray(softmax(np.ascontiguousarray(log_weights.T), axis=0).T)


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
    counts = [(votes == label).sum(axis=1) for label in range(n_classes)]
    return np.stack(counts, axis=1).astype(np.float64)
