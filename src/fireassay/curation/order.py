"""The order from safe to adversarial, its ties, also as published, and the test of an order."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import BoolArray, FloatArray, IntArray
from fireassay.core.lazy import special
from fireassay.core.validation import check_lengths
from fireassay.statistics import mann_whitney_auc
from fireassay.statistics.auc import auc_score_interval
from fireassay.statistics.clustered_auc import clustered_auc

_BLOCK_ROWS = 1 << 14
DECIMALS = 9
"""Scores that are equal after rounding to this many decimals are tied."""


def score_levels(scores: FloatArray) -> tuple[FloatArray, IntArray]:
    """Distinct rounded scores from high to low, and the level of each score."""
    levels, where = np.unique(-np.round(scores, DECIMALS), return_inverse=True)
    return -levels, where.ravel()


def adversarial_order(level_of_row: NDArray[np.integer], n_levels: int, seed: int) -> IntArray:
    """Row numbers from the safest level (0) to the most adversarial, shuffled inside a level."""
    # The shuffle depends on seed, level and rank alone: a stream of rows gets the same order.
    small = level_of_row.astype(np.uint16 if n_levels <= 1 << 16 else np.uint32)
    sizes = np.bincount(small, minlength=n_levels).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    by_level = np.argsort(small, kind="stable")
    order = np.empty_like(by_level)
    # Small blocks: their temporary arrays stay far below a byte per sample.
    for begin in range(0, len(order), _BLOCK_ROWS):
        rows = by_level[begin : begin + _BLOCK_ROWS]
        level = small[rows].astype(np.int64)
        rank = np.arange(begin, begin + len(rows)) - starts[level]
        order[starts[level] + shuffled_ranks(rank, sizes[level], level, seed)] = rows
    return order


def dataset_sizes(n: int, n_sets: int) -> IntArray:
    """Sizes of the cumulative datasets: ``i / N * n`` rounded half to even, the last one all."""
    sizes = np.array([round(i * n / n_sets) for i in range(1, n_sets + 1)], dtype=np.int64)
    sizes[-1] = n
    return sizes


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_ROUND_KEYS = tuple(np.uint64(i * 0x9E3779B97F4A7C15 % 2**64) for i in range(4))


def shuffled_ranks(ranks: IntArray, sizes: IntArray, keys: IntArray, seed: int) -> IntArray:
    """Where each rank goes in a random permutation of its group; ``keys`` tell groups apart."""
    # A balanced Feistel network permutes the next even power of two; a value outside the group
    # walks on along its cycle until it is inside. Streaming knows a row's place without the others.
    half_bits = np.maximum(1, (np.ceil(np.log2(np.maximum(sizes, 2))).astype(np.int64) + 1) // 2)
    group_keys = _mixed(keys.astype(np.uint64) + _mixed(np.full(1, seed, dtype=np.uint64)))
    result = ranks.astype(np.uint64)
    walking = np.flatnonzero(sizes > 1)
    limit = sizes.astype(np.uint64)
    bits = half_bits.astype(np.uint64)
    while len(walking):
        moved = _feistel(result[walking], bits[walking], group_keys[walking])
        result[walking] = moved
        walking = walking[moved >= limit[walking]]
    return result.astype(np.int64)


def _feistel(
    values: NDArray[np.uint64], bits: NDArray[np.uint64], keys: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    mask = (np.uint64(1) << bits) - np.uint64(1)
    left, right = values >> bits, values & mask
    for round_key in _ROUND_KEYS:
        scrambled = _mixed(right + keys + round_key) & mask
        left, right = right, left ^ scrambled
    return (left << bits) | right


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014); it wraps modulo 2**64."""
    mixed = values + _GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX_1
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX_2
    return mixed ^ (mixed >> np.uint64(31))


ACCURACY_DECIMALS = 12


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
    scores: FloatArray, correct: BoolArray, groups: IntArray | None = None, confidence: float = 0.95
) -> OrderTest:
    """Mann-Whitney AUC of score against correctness; all right or all wrong: 0.5, p 1."""
    if correct.all() or not correct.any():
        return OrderTest(0.5, 0.0, 1.0, 1.0, "undefined: labels all right or all wrong")
    if groups is not None:
        if len(np.unique(groups)) < 3:
            return OrderTest(0.5, 0.0, 1.0, 1.0, "undefined: fewer than three groups")
        found = clustered_auc(scores, correct, groups, confidence)
        return OrderTest(found.auc, found.low, found.high, found.p_value, "Mann-Whitney by groups")
    plain = mann_whitney_auc(scores, correct, confidence)
    return OrderTest(plain.auc, plain.low, plain.high, plain.p_value, "Mann-Whitney")


@dataclass(frozen=True)
class ScoreTable:
    """Samples collapsed to their score levels, from high to low."""

    counts: IntArray
    correct: IntArray

    @classmethod
    def of(cls, scores: FloatArray, correct: BoolArray) -> "ScoreTable":
        """The table of equal scores (to 9 decimals)."""
        levels, where = score_levels(scores)
        counts = np.bincount(where, minlength=len(levels))
        hits = np.bincount(where, weights=correct, minlength=len(levels))
        return cls(counts, np.round(hits).astype(np.int64))

    def accuracies(self, sizes: IntArray) -> FloatArray:
        """Accuracy of each cumulative dataset, in expectation over random tie-breaks."""
        # A dataset that ends inside a tied group takes each of its samples with the same chance.
        return np.asarray(prefix_accuracies(self.counts, self.correct[None, :], sizes)[0])


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
    p_value = float(2 * special.ndtr(-distance / np.sqrt(variance)))
    return OrderTest(auc, low, high, min(1.0, p_value), "Mann-Whitney")


def prefix_accuracies(counts: IntArray, correct: IntArray, sizes: IntArray) -> FloatArray:
    """Expected accuracies for many columns of right answers at once, shape (draws, datasets)."""
    edges = np.concatenate([[0], np.cumsum(counts)])
    sums = np.concatenate([np.zeros((len(correct), 1)), np.cumsum(correct, axis=1)], axis=1)
    group = np.clip(np.searchsorted(edges, sizes, side="left") - 1, 0, len(counts) - 1)
    inside = (sizes - edges[group]) / counts[group]
    right = sums[:, group] + (sums[:, group + 1] - sums[:, group]) * inside
    with np.errstate(invalid="ignore"):
        accuracy: FloatArray = np.round(right / sizes, ACCURACY_DECIMALS)
    return accuracy


def check_groups(groups: object, n: int) -> IntArray | None:
    """Group labels of any type as numbers 0, 1, …"""
    if groups is None:
        return None
    _, numbers = np.unique(np.asarray(groups), return_inverse=True)
    check_lengths(samples=n, groups=len(numbers.ravel()))
    return np.asarray(numbers.ravel(), dtype=np.int64)


if TYPE_CHECKING:
    from fireassay.curation.curate import Curation

_INSERTION_BELOW = 17


def published_order(result: "Curation") -> IntArray:
    """Samples from the highest score to the lowest, as the authors' environment put them."""
    score = result.lower
    if result.settings.order_by == "confidence":
        score = result.confidence
        if result.settings.labeler == "majority":
            # Their softmax splits some ties that are equal on paper.
            votes, k = result.patterns.votes[:, result.kept_lfs], result.patterns.n_classes
            counts = np.stack([(votes == c).sum(axis=1) for c in range(k)], axis=1).astype(float)
            logs = counts - special.logsumexp(counts, axis=1, keepdims=True)
            score = np.exp(logs).max(axis=1)[result.patterns.of_row]
    return old_numpy_order(-score)


def old_numpy_order(values: ArrayLike) -> IntArray:
    """Indices that sort ``values``; equal values as the introsort before NumPy 1.25 left them."""
    # Median of three as pivot, put into the last place but one; both pointers stop at equal values,
    # which halves tied parts: the fall-back to heapsort does not occur.
    key = np.asarray(values, dtype=np.float64).tolist()
    order = list(range(len(key)))
    parts = [(0, len(key) - 1)]
    while parts:
        first, last = parts.pop()
        while last - first + 1 >= _INSERTION_BELOW:
            split = _partition(key, order, first, last)
            parts.append((split + 1, last))
            last = split - 1
        _insertion_sort(key, order, first, last)
    return np.array(order, dtype=np.int64)


def _partition(key: list[float], order: list[int], first: int, last: int) -> int:
    """Put smaller keys before the pivot and larger ones behind it; where the pivot stands."""
    middle = first + (last - first) // 2
    for low, high in ((first, middle), (middle, last), (first, middle)):
        if key[order[high]] < key[order[low]]:
            order[low], order[high] = order[high], order[low]
    pivot = key[order[middle]]
    order[middle], order[last - 1] = order[last - 1], order[middle]
    up, down = first + 1, last - 2
    while True:
        while key[order[up]] < pivot:
            up += 1
        while pivot < key[order[down]]:
            down -= 1
        if up >= down:
            break
        order[up], order[down] = order[down], order[up]
        up, down = up + 1, down - 1
    order[up], order[last - 1] = order[last - 1], order[up]
    return up


def _insertion_sort(key: list[float], order: list[int], first: int, last: int) -> None:
    for place in range(first + 1, last + 1):
        row = order[place]
        while place > first and key[row] < key[order[place - 1]]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = row
