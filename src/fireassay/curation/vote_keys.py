"""Rows of votes as whole numbers: exact, and made by one product."""

from typing import Any

import numpy as np

from fireassay.core.arrays import AnyArray, Float32Array

TABLE_KEYS = 1 << 22
"""Up to this many possible patterns are counted in a table instead of being sorted."""

LARGEST_KEY = 1 << 62
"""Row keys stay below this, so that they are exact 64-bit numbers."""

CACHED_ROWS = 1 << 13
"""Rows worked on together: what is made of them stays in a core's cache."""

_EXACT = 1 << 24  # whole numbers up to here are exact in single precision


def row_keys(block: AnyArray, n_classes: int, dtype: Any) -> AnyArray:
    """Each row as a number in base ``k + 1``, first column most significant."""
    base, m = n_classes + 1, block.shape[1]
    width = digits_below(_EXACT, base)
    keys = np.empty(len(block), dtype=dtype)
    for start in range(0, len(block), CACHED_ROWS):
        words = key_words(block[start : start + CACHED_ROWS], n_classes, width)
        some = words[:, 0].astype(dtype)
        for first, word in zip(range(width, m, width), words.T[1:], strict=True):
            some *= base ** min(width, m - first)
            some += word.astype(dtype)
        keys[start : start + CACHED_ROWS] = some
    return keys


def key_words(block: AnyArray, n_classes: int, width: int) -> Float32Array:
    """One number for every ``width`` columns (the last word may have fewer); exact below 2²⁴."""
    base, m = n_classes + 1, block.shape[1]
    weights = np.zeros((m, -(-m // width)), dtype=np.float32)
    for column in range(m):
        word = column // width
        weights[column, word] = base ** (min((word + 1) * width, m) - 1 - column)
    with np.errstate(invalid="ignore"):  # a product of whole numbers; BLAS has once raised the flag
        return np.asarray(block.astype(np.float32) @ weights + weights.sum(axis=0))


def digits_below(limit: int, base: int) -> int:
    """How many digits of a base stay within a limit, at least one.

    >>> digits_below(1 << 24, 3)
    15
    """
    digits = 1
    while base ** (digits + 1) <= limit:
        digits += 1
    return digits


def key_votes(keys: AnyArray, n_classes: int, m: int) -> AnyArray:
    """The inverse of `row_keys`."""
    votes = np.empty((len(keys), m), dtype=np.int8 if n_classes <= 127 else np.int16)
    rest = keys.astype(np.int64)
    for column in range(m - 1, -1, -1):
        rest, digit = np.divmod(rest, n_classes + 1)
        votes[:, column] = digit - 1
    return votes
