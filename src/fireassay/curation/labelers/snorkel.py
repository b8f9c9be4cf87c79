"""The label model of Snorkel, as its users run it: 100 steps of gradient descent on moments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import Float32Array, FloatArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import optimize, sparse
from fireassay.core.validation import check_integer, check_real
from fireassay.curation.labelers.labeler import class_prior, normalised
from fireassay.curation.votes import VoteArray, VotePatterns, one_hot, summed_evidence

_MOST_DENSE_COLUMNS = 256
_BLOCK_ROWS = 1 << 13
_EXACT = 1 << 24  # whole numbers up to here are exact in single precision


@dataclass(frozen=True)
class Snorkel:
    """A conditionally independent label model fitted to pairwise moments.

    With the defaults the posteriors are those of ``snorkel.labeling.model.LabelModel`` 0.10.0 with
    the same seed, to float32 rounding. The schedule is short and the start is scaled by one random
    number, so the result depends on the seed; `fireassay.curation` shows how much.

    Args:
        n_steps: Gradient steps.
        learning_rate, momentum: Of the descent.
        precision: The share of right votes the start assumes.
        class_balance: Prior of the classes; uniform by default.

    >>> from fireassay.curation import curate, simulate_votes
    >>> votes, y = simulate_votes([0.8] * 3, coverage=1.0, n=2000, seed=0)
    >>> labels = curate(votes, labeler=Snorkel(n_steps=200), prune=None).labels
    >>> round(float((labels == y).mean()), 1)  # two of three right: 0.8³ + 3 · 0.8² · 0.2 = 0.896
    0.9
    """

    n_steps: int = 100
    learning_rate: float = 0.01
    momentum: float = 0.9
    precision: float = 0.7
    class_balance: tuple[float, ...] | None = None

    name: ClassVar[str] = "snorkel"
    summary: ClassVar[str] = "learns what snorkel 0.10.0 does with its defaults and the same seed"
    draws: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_integer(self.n_steps, "n_steps", low=1)
        check_real(self.learning_rate, "learning_rate", low=0.0)
        check_real(self.momentum, "momentum", low=0.0, high=1.0, inclusive="low")
        check_real(self.precision, "precision", low=0.0, high=1.0)

    def fit(self, patterns: VotePatterns, seed: int = 0) -> FittedSnorkel:
        """Learn P(vote | class) from the overlaps of the labelling functions."""
        # With the moments O = LᵀL / n of the one-hot votes, the loss is
        # ‖(O − μPμᵀ) off the blocks‖² + ‖μP1 − diag O‖² (Ratner et al. 2019).
        k, m = patterns.n_classes, patterns.votes.shape[1]
        prior = class_prior(self.class_balance, k)
        moments = vote_moments(patterns)
        start = _initial(moments, prior, self.precision, k)
        # NumPy's legacy generator: that is what the seed of the reference implementation feeds.
        scale = np.random.RandomState(seed % 2**32).random_sample()
        with np.errstate(over="ignore", invalid="ignore"):
            learnt = self._descend(moments, start * np.float32(scale), prior.astype(np.float32), k)
        epsilon = min(0.01, 10.0 ** -math.ceil(math.log10(patterns.n_rows)))
        clamped = np.clip(learnt, np.float32(epsilon), np.float32(1 - epsilon))
        return FittedSnorkel(_best_columns(clamped, prior, m, k), prior)

    def _descend(
        self, moments: Float32Array, start: Float32Array, prior: Float32Array, k: int
    ) -> Float32Array:
        marginals = np.diag(moments).copy()
        block = np.arange(len(moments)) // k
        off_block = (block[:, None] != block[None, :]).astype(np.float32)
        probabilities, velocity = start, np.zeros_like(start)
        rate, momentum = np.float32(self.learning_rate), np.float32(self.momentum)
        for _ in range(self.n_steps):
            weighted = probabilities * prior
            rest = (moments - weighted @ probabilities.T) * off_block
            missing = weighted.sum(axis=1) - marginals
            gradient = np.float32(-4) * (rest @ weighted) + np.float32(2) * np.outer(missing, prior)
            velocity = momentum * velocity + gradient
            probabilities = probabilities - rate * velocity
        if not np.isfinite(probabilities).all():
            raise DataError(
                "The label model must converge to finite probabilities.",
                got="a descent that diverged",
                do="Prune dependent labelling functions, or lower the learning_rate.",
            )
        return probabilities


@dataclass(frozen=True)
class FittedSnorkel:
    """Learnt P(vote | class): row ``j * k + v``, column y is P(LF j votes v | Y = y)."""

    probabilities: Float32Array
    prior: FloatArray

    def posterior(self, votes: VoteArray) -> FloatArray:
        """Naive Bayes over the labelling functions that vote; abstentions say nothing."""
        logs = np.log(self.probabilities).astype(np.float64)
        return normalised(summed_evidence(votes, logs) + np.log(self.prior))


def vote_moments(patterns: VotePatterns) -> Float32Array:
    """Second moments of the one-hot votes: sums of whole numbers, exact in single precision."""
    k, m = patterns.n_classes, patterns.votes.shape[1]
    if k * m > _MOST_DENSE_COLUMNS:
        hot = one_hot(patterns.votes, k)
        weights = sparse.diags_array(patterns.counts.astype(np.float64))
        sums = (hot.T @ weights @ hot).toarray()
        return np.asarray(sums / patterns.n_rows, dtype=np.float32)
    most = int(patterns.counts.max())
    step = max(64, min(_BLOCK_ROWS, _EXACT // most))
    single = most * step <= _EXACT
    sums = np.zeros((k * m, k * m))
    for start in range(0, len(patterns.votes), step):
        votes = patterns.votes[start : start + step]
        # Class by class, so that each line of numbers is written as it is read.
        hot = np.empty((len(votes), k, m), dtype=np.float32 if single else np.float64)
        for y in range(k):
            np.equal(votes, y, out=hot[:, y])
        rows = hot.reshape(len(votes), -1)
        weighted = rows if most == 1 else rows * patterns.counts[start : start + step, None]
        sums += weighted.astype(rows.dtype, copy=False).T @ rows
    by_function = sums.reshape(k, m, k, m).transpose(1, 0, 3, 2).reshape(k * m, k * m)
    return np.asarray(by_function / patterns.n_rows, dtype=np.float32)


def _initial(moments: Float32Array, prior: FloatArray, precision: float, k: int) -> Float32Array:
    start = np.zeros((len(moments), k), dtype=np.float32)
    rows = np.arange(len(moments))
    label = rows % k
    propensity = np.diag(moments) * np.float32(precision) / prior[label].astype(np.float32)
    start[rows, label] = np.clip(propensity, 0, 1)
    return start


def _best_columns(probabilities: Float32Array, prior: FloatArray, m: int, k: int) -> Float32Array:
    """Among classes of equal prior, the naming under which the labelling functions look best."""
    trust = probabilities.reshape(m, k, k).sum(axis=0) @ np.diag(prior.astype(np.float32))
    columns = np.arange(k)
    rounded = np.round(prior, 3)
    for value in np.unique(rounded):
        group = np.flatnonzero(rounded == value)
        old, new = optimize.linear_sum_assignment(-trust[np.ix_(group, group)].T)
        columns[group[new]] = group[old]
    return np.ascontiguousarray(probabilities[:, columns])
