"""Dawid and Skene's model: expectation-maximisation over confusion matrices."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.core.validation import check_integer, check_real
from fireassay.curation.labelers.labeler import class_prior, normalised, vote_counts
from fireassay.curation.votes import VoteArray, VotePatterns, one_hot

_SMALLEST = 1e-6


@dataclass(frozen=True)
class DawidSkene:
    """Each labelling function errs in its own way, given the true class.

    A labelling function that votes for some classes only ("SpO2 below 80: act", else nothing) says
    something by voting at all, so for those the model covers abstentions too. For one that votes
    for every class, abstentions say nothing, as in the classical model.

    Args:
        one_coin: One number per labelling function, how often its votes are right, with errors
            spread evenly over the other classes; needs far fewer votes.
        smoothing: Strength of the prior in pseudo-samples per class (maximum a posteriori); towards
            0 this is the classical maximum-likelihood model.
        trust: The share of right votes the prior stands for. It keeps a labelling function that
            hardly votes near a plausible value, and the classes from changing names.
        class_balance: A fixed prior of the classes; None learns it with the rest.
        max_steps, tolerance: The iteration stops when no posterior moves by more than that.

    >>> from fireassay.curation import curate
    >>> votes = [[0, 0, 1]] * 6 + [[1, 1, 0]] * 6  # the third is always wrong
    >>> curate(votes, labeler=DawidSkene(one_coin=True), prune=None).labels.tolist()
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    """

    one_coin: bool = False
    smoothing: float = 2.0
    trust: float = 0.7
    class_balance: tuple[float, ...] | None = None
    max_steps: int = 300
    tolerance: float = 1e-7

    draws: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_real(self.smoothing, "smoothing", low=0.0)
        check_real(self.trust, "trust", low=0.0, high=1.0)
        check_integer(self.max_steps, "max_steps", low=1)
        check_real(self.tolerance, "tolerance", low=0.0, inclusive="low")

    @property
    def name(self) -> str:
        """ "one-coin" where it is one, else "dawid-skene"."""
        return "one-coin" if self.one_coin else "dawid-skene"

    @property
    def summary(self) -> str:
        """What is learnt about each labelling function."""
        learnt = "one accuracy" if self.one_coin else "a confusion matrix"
        return f"learns {learnt} per labelling function, by expectation-maximisation"

    def fit(self, patterns: VotePatterns, seed: int = 0) -> "FittedDawidSkene":  # noqa: ARG002
        """Start from the majority vote, then alternate posteriors and error rates."""
        k = patterns.n_classes
        hot = one_hot(patterns.votes, k)
        counts = patterns.counts.astype(np.float64)[:, None]
        votes = np.asarray(hot.T @ counts).reshape(-1, k)
        one_sided = (votes == 0).any(axis=1)
        fixed = None if self.class_balance is None else class_prior(self.class_balance, k)
        tally = vote_counts(patterns.votes, k) + 1 / k
        posterior = tally / tally.sum(axis=1, keepdims=True)
        steps, converged = 0, False
        while not converged and steps < self.max_steps:
            steps += 1
            weighted = posterior * counts
            totals = weighted.sum(axis=0)
            learnt = totals + self.smoothing
            prior = learnt / learnt.sum() if fixed is None else fixed
            joint = np.asarray(hot.T @ weighted).reshape(-1, k, k)
            confusion = self._confusion(joint, totals, votes, prior, one_sided)
            updated = _posterior(hot, confusion, prior, one_sided)
            converged = bool(np.abs(updated - posterior).max() <= self.tolerance)
            posterior = updated
        return FittedDawidSkene(confusion, prior, one_sided, steps, converged)

    def _confusion(
        self,
        joint: FloatArray,
        totals: FloatArray,
        votes: FloatArray,
        prior: FloatArray,
        one_sided: BoolArray,
    ) -> FloatArray:
        """P(vote v | class y) as [LF, v, y]; given that it votes, unless it is one-sided."""
        k = len(prior)
        same = np.eye(k) == 1
        rate = (votes / totals.sum())[:, :, None]
        if self.one_coin:
            right = np.einsum("jyy->j", joint) + self.trust * self.smoothing
            accuracy = (right / (joint.sum(axis=(1, 2)) + self.smoothing))[:, None, None]
            conditional = np.where(same, accuracy, (1 - accuracy) / (k - 1))
            unconditional = np.minimum(rate * conditional / prior, 1.0)
        else:
            expected = np.where(same, self.trust, (1 - self.trust) / (k - 1))
            pseudo = np.minimum(rate * expected / prior, 1.0) * self.smoothing
            unconditional = (joint + pseudo) / (totals + self.smoothing)
            smoothed = joint + expected * self.smoothing
            conditional = smoothed / smoothed.sum(axis=1, keepdims=True)
        confusion = np.where(one_sided[:, None, None], unconditional, conditional)
        return np.asarray(np.clip(confusion, _SMALLEST, 1.0))


@dataclass(frozen=True)
class FittedDawidSkene:
    """Learnt ``confusion[LF, vote, class]``, class prior, and which ones are one-sided."""

    confusion: FloatArray
    prior: FloatArray
    one_sided: BoolArray
    steps: int
    converged: bool

    def posterior(self, votes: VoteArray) -> FloatArray:
        """Naive Bayes over the votes, and over the abstentions of one-sided functions."""
        hot = one_hot(votes, len(self.prior))
        return _posterior(hot, self.confusion, self.prior, self.one_sided)


def _posterior(
    hot: Any, confusion: FloatArray, prior: FloatArray, one_sided: BoolArray
) -> FloatArray:
    k = len(prior)
    abstain = np.maximum(1 - confusion.sum(axis=1), _SMALLEST)
    silent = np.where(one_sided[:, None], np.log(abstain), 0.0)
    # All abstentions counted first; a vote then replaces its abstention.
    evidence = np.log(confusion) - silent[:, None, :]
    voted = np.asarray(hot @ evidence.reshape(-1, k))
    return normalised(voted + silent.sum(axis=0) + np.log(prior))
