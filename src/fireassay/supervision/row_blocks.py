"""Rows in blocks of a fixed size: arrays on disk need not fit into memory."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.validation import check_features

BLOCK_BYTES = 32 * 2**20  # of float64 numbers held at once
BLOCK_ROWS = 2048  # inputs sent through a model at once; a multiple of the classifiers' own blocks


def row_blocks(array: NDArray[Any], rows: IntArray | None = None) -> Iterator[FloatArray]:
    """The rows of an array (all, or the chosen ones) as float64 (b, d), block by block."""
    n = len(array) if rows is None else len(rows)
    step = rows_per_block(array)
    for start in range(0, n, step):
        part = array[start : start + step] if rows is None else array[rows[start : start + step]]
        yield np.asarray(part, dtype=np.float64).reshape(len(part), -1)


def rows_per_block(array: NDArray[Any]) -> int:
    """How many rows a block has; depends on their width alone."""
    width = int(np.prod(array.shape[1:], dtype=np.int64))
    return max(1, BLOCK_BYTES // (8 * max(1, width)))


def moments(array: NDArray[Any], rows: IntArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Mean and sum of products of the centred rows, in two passes over the blocks."""
    n = len(array) if rows is None else len(rows)
    mean = np.sum([block.sum(axis=0) for block in row_blocks(array, rows)], axis=0) / n
    products = np.zeros((len(mean), len(mean)))
    for block in row_blocks(array, rows):
        centred = block - mean
        products += centred.T @ centred
    return mean, products


def checked_inputs(X: ArrayLike, name: str = "X") -> NDArray[Any]:
    """As `check_features`, block by block: an array on disk is not read into memory whole."""
    array = X if isinstance(X, np.ndarray) else np.asarray(X)
    step = rows_per_block(array) if array.ndim > 1 else 0
    if len(array) <= step or array.dtype.kind != "f" or not step:
        return check_features(X, name=name)
    try:
        for start in range(0, len(array), step):
            check_features(array[start : start + step], name=name)
    except DataError:
        check_features(array, name=name)  # the same, with the row's number in the whole array
    return array
