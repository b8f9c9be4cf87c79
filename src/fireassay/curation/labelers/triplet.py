"""Accuracies in closed form from triplets of labelling functions."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fireassay.core.validation import check_integer
from fireassay.curation.labelers.protocol import class_prior, normalised
from fireassay.curation.patterns import VotePatterns, one_hot
from fireassay.curation.votes import ABSTAIN, VoteArray


@dataclass(frozen=True)
class Triplet:
    """One accuracy per labelling function, from how often pairs agree; no iteration, no seed.

    Parameters
    ----------
    min_overlap
        Pairs that vote together on fewer samples are not used.
    class_balance
        Prior of the classes; uniform by default.

    Notes
    -----
    With accuracies a and errors spread evenly over the other classes, let
    ``b = (k a − 1) / (k − 1)``. Independent labelling functions i and j agree with probability
    ``(1 + (k − 1) b_i b_j) / k``, whatever the class balance, so every third one gives
    ``b_i² = M_ij M_il / M_jl`` with ``M = (k · agreement − 1) / (k − 1)``. The median over all
    triplets is used, and the signs for which most labelling functions are better than chance.
    """

    min_overlap: int = 10
    class_balance: tuple[float, ...] | None = None
    name: ClassVar[str] = "triplet"

    def __post_init__(self) -> None:
        check_integer(self.min_overlap, "min_overlap", low=1)

    def fit(self, patterns: VotePatterns, seed: int = 0) -> "FittedTriplet":  # noqa: ARG002
        """Solve for the accuracies; a labelling function in no usable triplet gets 0.7."""
        k = patterns.n_classes
        agreement, overlap = pairwise_agreement(patterns)
        products = (k * agreement - 1) / (k - 1)
        usable = overlap >= self.min_overlap
        size = _median_over_triplets(products, usable)
        skill = size * _signs(np.where(usable, products, 0.0), size)
        unknown = np.isnan(skill)
        skill[unknown] = (k * 0.7 - 1) / (k - 1)
        accuracy = np.clip((1 + (k - 1) * skill) / k, 0.01, 0.99)
        return FittedTriplet(accuracy, class_prior(self.class_balance, k))


@dataclass(frozen=True)
class FittedTriplet:
    """Learnt accuracies, one per labelling function, and the class prior."""

    accuracy: NDArray[np.float64]
    prior: NDArray[np.float64]

    def posterior(self, votes: VoteArray) -> NDArray[np.float64]:
        """Naive Bayes over the labelling functions that vote."""
        k = len(self.prior)
        wrong = np.log((1 - self.accuracy) / (k - 1))
        logs = np.where(np.eye(k) == 1, np.log(self.accuracy)[:, None, None], wrong[:, None, None])
        evidence = np.asarray(one_hot(votes, k) @ logs.reshape(-1, k))
        return normalised(evidence + np.log(self.prior))


def pairwise_agreement(
    patterns: VotePatterns,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How often each pair agrees where both vote, and on how many samples both vote."""
    counts = patterns.counts.astype(np.float64)[:, None]
    voted = (patterns.votes != ABSTAIN).astype(np.float64)
    overlap = voted.T @ (voted * counts)
    agree = np.zeros_like(overlap)
    for label in range(patterns.n_classes):
        chose = (patterns.votes == label).astype(np.float64)
        agree += chose.T @ (chose * counts)
    share = np.divide(agree, overlap, out=np.zeros_like(agree), where=overlap > 0)
    return share, overlap


def _median_over_triplets(
    products: NDArray[np.float64], usable: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """|b| of each labelling function: median of sqrt|M_ij M_il / M_jl| over its triplets."""
    m = len(products)
    sizes = np.full(m, np.nan)
    for i in range(m):
        others = np.flatnonzero(usable[i] & (np.arange(m) != i))
        if len(others) < 2:
            continue
        j, l = np.triu_indices(len(others), k=1)  # noqa: E741
        first, second = others[j], others[l]
        bottom = products[first, second]
        good = usable[first, second] & (np.abs(bottom) > 1e-3)
        if good.any():
            top = products[i, first[good]] * products[i, second[good]]
            squares = np.abs(top / bottom[good])
            sizes[i] = min(1.0, float(np.sqrt(np.median(squares))))
    return sizes


def _signs(products: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """+1 or -1: the leading eigenvector's signs, most of them (by size) positive."""
    off_diagonal = products - np.diag(np.diag(products))
    _, vectors = np.linalg.eigh(off_diagonal)
    leading = vectors[:, -1]
    signs = np.where(leading >= 0, 1.0, -1.0)
    total = float(np.nansum(signs * sizes))
    return signs if total >= 0 else -signs
