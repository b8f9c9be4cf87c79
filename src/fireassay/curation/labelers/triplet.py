"""Error rates in closed form from triplets of labelling functions."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.core.validation import check_integer
from fireassay.curation.labelers.labeler import class_prior, normalised
from fireassay.curation.votes import ABSTAIN, VoteArray, VotePatterns, summed_evidence

_UNKNOWN = 0.7


@dataclass(frozen=True)
class Triplet:
    """Error rates from how pairs of labelling functions go together; no iteration, no seed.

    Args:
        min_overlap: With more than two classes, fewest samples on which a usable pair both votes.
        class_balance: Prior of the classes; uniform by default.

    *Two classes.* Let h_i say whether labelling function i votes v, and Δ_i be the difference of
    P(h_i = 1) between the classes. Given the class the votes are independent, so
    ``cov(h_i, h_j) = p(1 − p) Δ_i Δ_j`` and every third function gives
    ``p(1 − p) Δ_i² = cov_ij cov_il / cov_jl``. Nothing is assumed about abstentions or about which
    classes a function votes for.

    *More classes.* With accuracies a, errors spread evenly, and ``b = (k a − 1) / (k − 1)``, two
    functions agree with probability ``(1 + (k − 1) b_i b_j) / k`` whatever the class balance, which
    is solved for b in the same way; functions must vote for all classes.

    The median over all triplets is taken, with the signs that trust the votes most.

    >>> from fireassay.curation import curate, simulate_votes
    >>> votes, y = simulate_votes([0.9, 0.9, 0.6], coverage=1.0, n=2000, seed=0)
    >>> labels = curate(votes, labeler=Triplet(), prune=None).labels
    >>> alike = votes[:, 0] == votes[:, 1]  # two good ones that agree outvote the poor one
    >>> bool((labels == votes[:, 0])[alike].all())
    True
    """

    min_overlap: int = 10
    class_balance: tuple[float, ...] | None = None

    name: ClassVar[str] = "triplet"
    summary: ClassVar[str] = "closed form from triplets of labelling functions, no seed, no steps"
    draws: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_integer(self.min_overlap, "min_overlap", low=1)

    def fit(self, patterns: VotePatterns, seed: int = 0) -> "FittedTriplet":  # noqa: ARG002
        """Solve for P(vote | class); where no triplet is usable, 70 % right votes are assumed."""
        prior = class_prior(self.class_balance, patterns.n_classes)
        if patterns.n_classes == 2:
            return FittedTriplet(_two_classes(patterns, prior), prior)
        accuracy = _accuracies(patterns, self.min_overlap)
        return FittedTriplet.from_accuracy(accuracy, prior)


@dataclass(frozen=True)
class FittedTriplet:
    """Learnt ``likelihood[LF, vote, class]``, up to a factor per vote, and the class prior."""

    likelihood: FloatArray
    prior: FloatArray

    @classmethod
    def from_accuracy(cls, accuracy: FloatArray, prior: FloatArray) -> "FittedTriplet":
        """Errors spread evenly over the other classes."""
        k = len(prior)
        wrong = (1 - accuracy) / (k - 1)
        same = np.eye(k) == 1
        return cls(np.where(same, accuracy[:, None, None], wrong[:, None, None]), prior)

    def posterior(self, votes: VoteArray) -> FloatArray:
        """Naive Bayes over the labelling functions that vote."""
        k = len(self.prior)
        evidence = summed_evidence(votes, np.log(self.likelihood).reshape(-1, k))
        return normalised(evidence + np.log(self.prior))


def _two_classes(patterns: VotePatterns, prior: FloatArray) -> FloatArray:
    """P(LF votes v | class y) from the covariances of the vote indicators."""
    m = patterns.votes.shape[1]
    counts = patterns.counts.astype(np.float64)
    n = counts.sum()
    hot = np.concatenate([patterns.votes == v for v in (0, 1)], axis=1).astype(np.float64)
    mean = counts @ hot / n
    covariance = (hot * counts[:, None]).T @ hot / n - np.outer(mean, mean)
    owner = np.tile(np.arange(m), 2)
    usable = (owner[:, None] != owner[None, :]) & (mean[:, None] > 0) & (mean[None, :] > 0)
    smallest = 1e-3 * np.sqrt(np.outer(*[mean * (1 - mean)] * 2))
    size = _median_over_triplets(covariance, usable, smallest)
    # A vote for class 1 should be likelier in class 1, a vote for class 0 less likely.
    hoped = np.repeat([-1.0, 1.0], m)
    signs = _signs(np.where(usable, covariance, 0.0), size, hoped)
    difference = size * signs / np.sqrt(prior[0] * prior[1])
    assumed = hoped * mean * (2 * _UNKNOWN - 1) / (2 * prior[0] * prior[1])
    difference = np.where(np.isnan(difference), assumed, difference)
    # What is left of a probability after the difference is spread over the two classes.
    given = np.stack([mean - prior[1] * difference, mean + prior[0] * difference], axis=1)
    floor = np.maximum(0.02 * mean, 1e-9)[:, None]
    return np.asarray(np.maximum(given, floor).reshape(2, m, 2).transpose(1, 0, 2))


def _accuracies(patterns: VotePatterns, min_overlap: int) -> FloatArray:
    """Accuracy of each labelling function from pairwise agreement, any number of classes."""
    k = patterns.n_classes
    agreement, overlap = pairwise_agreement(patterns)
    products = (k * agreement - 1) / (k - 1)
    usable = overlap >= min_overlap
    np.fill_diagonal(usable, False)
    size = _median_over_triplets(products, usable, np.full_like(products, 1e-3))
    hoped = np.ones(len(size))
    skill = np.minimum(size, 1.0) * _signs(np.where(usable, products, 0.0), size, hoped)
    skill = np.where(np.isnan(skill), (k * _UNKNOWN - 1) / (k - 1), skill)
    return np.asarray(np.clip((1 + (k - 1) * skill) / k, 0.01, 0.99))


def pairwise_agreement(patterns: VotePatterns) -> tuple[FloatArray, FloatArray]:
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
    products: FloatArray, usable: BoolArray, smallest: FloatArray
) -> FloatArray:
    """sqrt of the median of |M_ij M_il / M_jl| over the triplets of each i; NaN without any."""
    m = len(products)
    sizes = np.full(m, np.nan)
    for i in range(m):
        others = np.flatnonzero(usable[i])
        if len(others) < 2:
            continue
        j, l = np.triu_indices(len(others), k=1)  # noqa: E741
        first, second = others[j], others[l]
        bottom = products[first, second]
        good = usable[first, second] & (np.abs(bottom) > smallest[first, second])
        if good.any():
            top = products[i, first[good]] * products[i, second[good]]
            sizes[i] = float(np.sqrt(np.median(np.abs(top / bottom[good]))))
    return sizes


def _signs(products: FloatArray, sizes: FloatArray, hoped: FloatArray) -> FloatArray:
    """Signs of the leading eigenvector, turned so that most (by size) are the hoped ones."""
    scale = np.where(np.isnan(sizes) | (sizes == 0), 1.0, sizes)
    _, vectors = np.linalg.eigh(products / np.outer(scale, scale))
    signs = np.where(vectors[:, -1] >= 0, 1.0, -1.0)
    total = float(np.nansum(signs * hoped * (sizes > 0)))
    return signs if total >= 0 else -signs
