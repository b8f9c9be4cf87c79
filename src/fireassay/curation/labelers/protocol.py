"""What a labeler is: it learns from vote patterns, then gives a posterior for each pattern."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fireassay.core.errors import ParameterError
from fireassay.curation.patterns import VotePatterns
from fireassay.curation.votes import VoteArray


class FittedLabeler(Protocol):
    """A labeler that has seen the votes."""

    def posterior(self, votes: VoteArray) -> NDArray[np.float64]:
        """P(class | votes), one row per row of votes, shape (rows, n_classes)."""
        ...


@runtime_checkable
class Labeler(Protocol):
    """Settings of a label model; `fit` learns from patterns weighted by how often they occur."""

    @property
    def name(self) -> str:
        """How results call it."""
        ...

    def fit(self, patterns: VotePatterns, seed: int = 0) -> FittedLabeler:
        """Learn from the patterns; the seed is used only by labelers that draw numbers."""
        ...


def class_prior(class_balance: tuple[float, ...] | None, n_classes: int) -> NDArray[np.float64]:
    """The given class balance as probabilities, or the uniform one."""
    if class_balance is None:
        return np.full(n_classes, 1 / n_classes)
    prior = np.asarray(class_balance, dtype=np.float64)
    if prior.shape != (n_classes,) or not (prior > 0).all() or abs(prior.sum() - 1) > 1e-6:
        raise ParameterError(
            f"The 'class_balance' must be {n_classes} positive numbers that sum to 1.",
            got=str(class_balance),
        )
    balance: NDArray[np.float64] = prior / prior.sum()
    return balance


def normalised(log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Softmax of each row, safe for large numbers."""
    # Column by column: numpy reduces along short rows ten times more slowly.
    largest = log_weights[:, 0].copy()
    for column in log_weights.T[1:]:
        np.maximum(largest, column, out=largest)
    weights: NDArray[np.float64] = np.exp(log_weights - largest[:, None])
    weights /= np.einsum("ij->i", weights)[:, None]
    return weights
