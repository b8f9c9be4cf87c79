"""The adversarial order: score descending, ties shuffled by a seeded permutation."""

import numpy as np
from numpy.typing import NDArray

from fireassay.curation.shuffle import shuffled_ranks

_BLOCK_ROWS = 1 << 14
DECIMALS = 9
"""Scores that are equal after rounding to this many decimals are tied."""


def score_levels(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Distinct rounded scores from high to low, and the level of each score."""
    levels, where = np.unique(-np.round(scores, DECIMALS), return_inverse=True)
    return -levels, where.ravel()


def adversarial_order(
    level_of_row: NDArray[np.integer], n_levels: int, seed: int
) -> NDArray[np.int64]:
    """Row numbers from the safest level (0) to the most adversarial one.

    Inside a level the rows are shuffled by a permutation that depends on the seed, the level and
    the row's rank within the level alone, so that a stream of rows gives the same order.
    """
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


def dataset_sizes(n: int, n_sets: int) -> NDArray[np.int64]:
    """Sizes of the cumulative datasets: ``i / N * n`` rounded half to even, the last one all."""
    sizes = np.array([round(i * n / n_sets) for i in range(1, n_sets + 1)], dtype=np.int64)
    sizes[-1] = n
    return sizes
