"""Dawid and Skene's model: expectation-maximisation over confusion matrices."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fireassay.core.validation import check_integer, check_real
from fireassay.curation.labelers.majority import vote_counts
from fireassay.curation.labelers.protocol import class_prior, normalised
from fireassay.curation.patterns import VotePatterns, one_hot
from fireassay.curation.votes import VoteArray


@dataclass(frozen=True)
class DawidSkene:
    """Each labelling function errs in its own way, given the true class.

    Parameters
    ----------
    one_coin
        One accuracy per labelling function, errors spread evenly over the other classes; needs far
        fewer votes than the full confusion matrices.
    smoothing
        Pseudo-votes added to every cell (maximum a posteriori); in favour of the right class by
        ``trust``.
    trust
        The accuracy the pseudo-votes stand for. It keeps a labelling function that hardly votes
        near a plausible value, and the classes from changing names.
    class_balance
        A fixed prior; None learns it with the rest.
    max_steps, tolerance
        The iteration stops when no posterior moves by more than the tolerance.
    """

    one_coin: bool = False
    smoothing: float = 1.0
    trust: float = 0.7
    class_balance: tuple[float, ...] | None = None
    max_steps: int = 200
    tolerance: float = 1e-8
    name: ClassVar[str] = "dawid-skene"

    def __post_init__(self) -> None:
        check_real(self.smoothing, "smoothing", low=0.0, inclusive="low")
        check_real(self.trust, "trust", low=0.0, high=1.0)
        check_integer(self.max_steps, "max_steps", low=1)
        check_real(self.tolerance, "tolerance", low=0.0, inclusive="low")

    def fit(self, patterns: VotePatterns, seed: int = 0) -> "FittedDawidSkene":  # noqa: ARG002
        """Start from the majority vote, then alternate posteriors and error rates."""
        k, m = patterns.n_classes, patterns.votes.shape[1]
        hot = one_hot(patterns.votes, k)
        counts = patterns.counts.astype(np.float64)[:, None]
        fixed = None if self.class_balance is None else class_prior(self.class_balance, k)
        tally = vote_counts(patterns.votes, k) + 1 / k
        posterior = tally / tally.sum(axis=1, keepdims=True)
        converged = False
        steps = 0
        while not converged and steps < self.max_steps:
            steps += 1
            joint = np.asarray(hot.T @ (posterior * counts)).reshape(m, k, k)
            confusion = self._confusion(joint, k)
            prior = fixed if fixed is not None else _learnt_prior(posterior, counts, k)
            model = FittedDawidSkene(confusion, prior, steps, converged)
            updated = model.posterior(patterns.votes, hot)
            converged = bool(np.abs(updated - posterior).max() <= self.tolerance)
            posterior = updated
        return FittedDawidSkene(confusion, prior, steps, converged)

    def _confusion(self, joint: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        """P(vote v | class y, it votes) as [LF, v, y] from expected counts [LF, v, y]."""
        same = np.eye(k)
        pseudo = np.where(same == 1, self.trust, (1 - self.trust) / (k - 1)) * self.smoothing
        if self.one_coin:
            right = np.einsum("jyy->j", joint) + self.trust * self.smoothing
            total = joint.sum(axis=(1, 2)) + self.smoothing
            accuracy = np.divide(right, total, out=np.full(len(total), 1 / k), where=total > 0)
            spread = (1 - accuracy[:, None, None]) / (k - 1)
            confusion = np.where(same == 1, accuracy[:, None, None], spread)
        else:
            smoothed = joint + pseudo
            total = smoothed.sum(axis=1, keepdims=True)
            confusion = np.divide(
                smoothed, total, out=np.full_like(smoothed, 1 / k), where=total > 0
            )
        bounded: NDArray[np.float64] = np.clip(confusion, 1e-9, 1.0)
        return bounded


@dataclass(frozen=True)
class FittedDawidSkene:
    """Learnt error rates ``confusion[LF, vote, class]`` and class prior."""

    confusion: NDArray[np.float64]
    prior: NDArray[np.float64]
    steps: int
    converged: bool

    def posterior(self, votes: VoteArray, hot: object = None) -> NDArray[np.float64]:
        """Naive Bayes over the labelling functions that vote."""
        k = len(self.prior)
        indicator = one_hot(votes, k) if hot is None else hot
        logs = np.log(self.confusion).reshape(-1, k)
        return normalised(np.asarray(indicator @ logs) + np.log(self.prior))


def _learnt_prior(
    posterior: NDArray[np.float64], counts: NDArray[np.float64], k: int
) -> NDArray[np.float64]:
    weight = (posterior * counts).sum(axis=0) + 1
    prior: NDArray[np.float64] = weight / (counts.sum() + k)
    return prior
