"""Does the accuracy of the weak labels fall along the datasets? Definition 3, and a valid test."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from fireassay.core.seeds import generator
from fireassay.core.validation import check_lengths
from fireassay.curation.ordering import score_levels
from fireassay.statistics import mann_whitney_auc, spearman
from fireassay.statistics.clustered_auc import clustered_auc
from fireassay.statistics.mann_whitney import auc_score_interval

ACCURACY_DECIMALS = 12
_PAPER_Z = 1.64


@dataclass(frozen=True)
class OrderTest:
    """The calibrated test: do right labels score above wrong ones? Each sample counts once."""

    auc: float
    low: float
    high: float
    p_value: float
    method: str

    def verdict(self, gamma: float) -> str:
        """``"decreasing"``, ``"increasing"`` or ``"none"`` at level gamma."""
        return direction(-(self.auc - 0.5), self.p_value, gamma)


def direction(sign: float, p_value: float, gamma: float) -> str:
    """Where a trend with this sign and p-value goes."""
    if not p_value <= gamma or sign == 0:
        return "none"
    return "decreasing" if sign < 0 else "increasing"


def order_test(
    scores: NDArray[np.float64],
    correct: NDArray[np.bool_],
    groups: NDArray[np.int64] | None = None,
    confidence: float = 0.95,
) -> OrderTest:
    """Mann-Whitney AUC of the score against correctness; clustered when groups are given.

    When all labels are right or all are wrong there is nothing to rank: AUC 0.5, p 1.
    """
    if correct.all() or not correct.any():
        return OrderTest(0.5, 0.0, 1.0, 1.0, "undefined: labels all right or all wrong")
    if groups is not None:
        if len(np.unique(groups)) < 3:
            return OrderTest(0.5, 0.0, 1.0, 1.0, "undefined: fewer than three groups")
        found = clustered_auc(scores, correct, groups, confidence)
        return OrderTest(found.auc, found.low, found.high, found.p_value, "clustered Mann-Whitney")
    plain = mann_whitney_auc(scores, correct, confidence)
    return OrderTest(plain.auc, plain.low, plain.high, plain.p_value, "Mann-Whitney")


@dataclass(frozen=True)
class ScoreTable:
    """Samples collapsed to their score levels, from high to low."""

    counts: NDArray[np.int64]
    correct: NDArray[np.int64]

    @classmethod
    def of(cls, scores: NDArray[np.float64], correct: NDArray[np.bool_]) -> "ScoreTable":
        """The table of equal scores (to 9 decimals)."""
        levels, where = score_levels(scores)
        counts = np.bincount(where, minlength=len(levels))
        hits = np.bincount(where, weights=correct, minlength=len(levels))
        return cls(counts, np.round(hits).astype(np.int64))

    def accuracies(self, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Accuracy of each cumulative dataset, in expectation over random tie-breaks.

        A dataset that ends inside a tied group takes each of its samples with the same chance, so
        its expected number of right labels is linear inside the group.
        """
        accuracy: NDArray[np.float64] = prefix_accuracies(
            self.counts, self.correct[None, :], sizes
        )[0]
        return accuracy


def grouped_order_test(table: ScoreTable, confidence: float = 0.95) -> OrderTest:
    """`order_test` from the score table alone, for any number of samples."""
    right, wrong = table.correct.astype(np.float64), (table.counts - table.correct).astype(float)
    n_right, n_wrong = float(right.sum()), float(wrong.sum())
    if n_right == 0 or n_wrong == 0:
        return OrderTest(0.5, 0.0, 1.0, 1.0, "undefined: labels all right or all wrong")
    wrong_below = n_wrong - np.cumsum(wrong)
    pairs = n_right * n_wrong
    auc = float(right @ (wrong_below + wrong / 2)) / pairs
    n = n_right + n_wrong
    ties = float((table.counts.astype(np.float64) ** 3 - table.counts).sum())
    variance = (n + 1 - ties / (n * (n - 1))) / (12 * pairs)
    low, high = auc_score_interval(auc, int(n_right), int(n_wrong), confidence)
    if variance <= 0:
        return OrderTest(auc, low, high, 1.0, "Mann-Whitney")
    distance = max(0.0, abs(auc - 0.5) - 0.5 / pairs)
    p_value = float(2 * ndtr(-distance / np.sqrt(variance)))
    return OrderTest(auc, low, high, min(1.0, p_value), "Mann-Whitney")


def prefix_accuracies(
    counts: NDArray[np.int64], correct: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Expected accuracies for many columns of right answers at once, shape (draws, datasets)."""
    edges = np.concatenate([[0], np.cumsum(counts)])
    sums = np.concatenate([np.zeros((len(correct), 1)), np.cumsum(correct, axis=1)], axis=1)
    group = np.clip(np.searchsorted(edges, sizes, side="left") - 1, 0, len(counts) - 1)
    inside = (sizes - edges[group]) / counts[group]
    right = sums[:, group] + (sums[:, group + 1] - sums[:, group]) * inside
    with np.errstate(invalid="ignore"):
        accuracy: NDArray[np.float64] = np.round(right / sizes, ACCURACY_DECIMALS)
    return accuracy


def definition_2(accuracy: NDArray[np.float64]) -> tuple[float, float]:
    """Spearman's correlation of dataset number and accuracy (Definition 2), and its p-value.

    Empty datasets are left out; with fewer than three datasets there is no trend: (0, 1).
    """
    filled = ~np.isnan(accuracy)
    if filled.sum() < 3:
        return 0.0, 1.0
    return spearman(np.flatnonzero(filled), accuracy[filled])


def permutation_p_value(
    table: ScoreTable, sizes: NDArray[np.int64], rho: float, n_permutations: int, seed: int
) -> float:
    """P-value of the nested correlation when right answers fall on the samples at random.

    Shuffling right answers over tied samples changes nothing, so only the number of right answers
    in each group is drawn, from the multivariate hypergeometric distribution.
    """
    sizes = sizes[sizes > 0]
    if len(sizes) < 3:
        return 1.0
    counts = _merged(table.counts, sizes)
    rng = generator(seed, "permutation")
    draws = rng.multivariate_hypergeometric(
        counts, int(table.correct.sum()), size=n_permutations, method="marginals"
    )
    accuracy = prefix_accuracies(counts, draws, sizes)
    return _two_sided(nested_correlations(accuracy), rho)


def clustered_permutation_p_value(
    scores: NDArray[np.float64],
    correct: NDArray[np.bool_],
    groups: NDArray[np.int64],
    sizes: NDArray[np.int64],
    rho: float,
    n_permutations: int,
    seed: int,
) -> float:
    """The same with whole groups moved: right answers of one group stay next to each other."""
    used = sizes[sizes > 0]
    if len(used) < 3:
        return 1.0
    levels, where = score_levels(scores)
    counts = np.bincount(where, minlength=len(levels))
    rows = np.argsort(groups, kind="stable")
    level, blocks = where[rows], np.split(correct[rows], np.cumsum(np.bincount(groups))[:-1])
    rng = generator(seed, "permutation", "groups")
    hits = np.array(
        [
            np.bincount(
                level,
                weights=np.concatenate([blocks[g] for g in rng.permutation(len(blocks))]),
                minlength=len(levels),
            )
            for _ in range(n_permutations)
        ]
    )
    return _two_sided(nested_correlations(prefix_accuracies(counts, hits, used)), rho)


def paper_interval(accuracy: NDArray[np.float64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """The paper's 90 % interval of each accuracy: 1.64 standard errors, shape (datasets, 2)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        half = _PAPER_Z * np.sqrt(accuracy * (1 - accuracy) / sizes)
    ends: NDArray[np.float64] = np.column_stack([accuracy - half, accuracy + half])
    clipped: NDArray[np.float64] = ends.clip(0.0, 1.0)
    return clipped


def check_groups(groups: object, n: int) -> NDArray[np.int64] | None:
    """Group labels of any type as numbers 0, 1, …"""
    if groups is None:
        return None
    _, numbers = np.unique(np.asarray(groups), return_inverse=True)
    check_lengths(samples=n, groups=len(numbers.ravel()))
    return np.asarray(numbers.ravel(), dtype=np.int64)


def _merged(counts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Join neighbouring levels wherever no dataset ends inside or between them."""
    edges = np.concatenate([[0], np.cumsum(counts)])
    group = np.clip(np.searchsorted(edges, sizes, side="left") - 1, 0, len(counts) - 1)
    needed = np.unique(np.concatenate([[0], edges[group], edges[group + 1], edges[-1:]]))
    return np.diff(needed)


def _two_sided(null: NDArray[np.float64], rho: float) -> float:
    above = 1 + int((null >= rho - 1e-12).sum())
    below = 1 + int((null <= rho + 1e-12).sum())
    return min(1.0, 2 * min(above, below) / (len(null) + 1))


def nested_correlations(accuracy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spearman's correlation with the dataset number for each row of accuracies."""
    n_sets = accuracy.shape[1]
    below = (accuracy[:, None, :] < accuracy[:, :, None]).sum(axis=2, dtype=np.float64)
    equal = (accuracy[:, None, :] == accuracy[:, :, None]).sum(axis=2, dtype=np.float64)
    ranks = below + equal / 2
    ranks -= ranks.mean(axis=1, keepdims=True)
    place = np.arange(n_sets) - (n_sets - 1) / 2
    scale = np.sqrt((ranks**2).sum(axis=1) * (place @ place))
    rho: NDArray[np.float64] = np.divide(
        ranks @ place, scale, out=np.zeros(len(ranks)), where=scale > 0
    )
    return rho
