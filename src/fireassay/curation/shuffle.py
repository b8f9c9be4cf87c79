"""A keyed permutation of 0..size-1 that can be asked for one element at a time."""

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_ROUND_KEYS = tuple(np.uint64(i * 0x9E3779B97F4A7C15 % 2**64) for i in range(4))


def shuffled_ranks(
    ranks: NDArray[np.int64], sizes: NDArray[np.int64], keys: NDArray[np.int64], seed: int
) -> NDArray[np.int64]:
    """Where each rank goes in a random permutation of its group.

    Groups are told apart by ``keys``. A balanced Feistel network permutes the next even power of
    two; a value that falls outside the group walks on along its cycle until it is inside, which
    makes the map a permutation of exactly ``0..size-1``. Streaming needs this: the position of a
    row is known without holding the other rows.

    >>> sizes = np.full(5, 5)
    >>> sorted(shuffled_ranks(np.arange(5), sizes, np.zeros(5, dtype=int), seed=1).tolist())
    [0, 1, 2, 3, 4]
    """
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
