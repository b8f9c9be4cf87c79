"""Rows in blocks of a fixed size, checked: arrays on disk need not fit into memory."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.validation import check_features, check_lengths

BLOCK_BYTES = 32 * 2**20  # of float64 numbers held at once
BLOCK_ROWS = 2048  # inputs sent through a model at once; a multiple of the classifiers' own blocks


def row_blocks(array: AnyArray, rows: IntArray | None = None) -> Iterator[FloatArray]:
    """The rows of an array (all, or the chosen ones) as float64 (b, d), block by block."""
    n = len(array) if rows is None else len(rows)
    step = rows_per_block(array)
    for start in range(0, n, step):
        part = array[start : start + step] if rows is None else array[rows[start : start + step]]
        yield np.asarray(part, dtype=np.float64).reshape(len(part), -1)


def rows_per_block(array: AnyArray) -> int:
    """How many rows a block has; depends on their width alone."""
    width = int(np.prod(array.shape[1:], dtype=np.int64))
    return max(1, BLOCK_BYTES // (8 * max(1, width)))


def moments(array: AnyArray, rows: IntArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Mean and sum of products of the centred rows, in two passes over the blocks."""
    n = len(array) if rows is None else len(rows)
    mean = np.sum([block.sum(axis=0) for block in row_blocks(array, rows)], axis=0) / n
    products = np.zeros((len(mean), len(mean)))
    for block in row_blocks(array, rows):
        centred = block - mean
        products += centred.T @ centred
    return mean, products


def checked_inputs(X: ArrayLike, name: str = "X") -> AnyArray:
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


def as_rows(activations: ArrayLike, name: str = "activations") -> FloatArray:
    """Activations as finite rows (n, d), flattened after axis 0; floats on disk stay there."""
    array = np.asanyarray(activations)
    if array.ndim < 2 or array.dtype.kind not in "fiub" or 0 in array.shape[1:]:
        raise DataError(
            f"{name} must be numbers of shape (n, d).", got=f"{array.dtype} of shape {array.shape}"
        )
    rows = array.reshape(len(array), -1)
    if rows.dtype.kind != "f":
        rows = rows.astype(np.float64)
    step = rows_per_block(rows)
    for start in range(0, len(rows), step):
        finite = np.isfinite(rows[start : start + step])
        if not finite.all():
            raise DataError(
                f"{name} must be finite.",
                got=f"NaN or infinity in row {start + int((~finite.all(axis=1)).argmax())}",
            )
    return rows


def as_activations(
    train_activations: ArrayLike,
    train_predictions: ArrayLike,
    activations: ArrayLike,
    predictions: ArrayLike,
) -> tuple[FloatArray, IntArray, FloatArray, IntArray]:
    """What the functions on arrays alone take, checked."""
    train, known = as_rows(train_activations, "train_activations"), as_classes(train_predictions)
    check_lengths(train_activations=len(train), train_predictions=len(known))
    new, predicted = as_rows(activations), as_classes(predictions)
    check_lengths(activations=len(new), predictions=len(predicted))
    check_width(new, train.shape[1])
    return train, known, new, predicted


def check_width(activations: FloatArray, width: int) -> None:
    """Refuse activations of another width than in training."""
    if activations.shape[1] != width:
        expected = f"Activations must have {width} columns, as in training."
        raise DataError(expected, got=f"{activations.shape[1]}")


def as_classes(predictions: ArrayLike) -> IntArray:
    """Predicted classes as column indices, one per row."""
    array = np.asarray(predictions)
    if array.ndim != 1 or array.dtype.kind not in "iubf" or (array != np.round(array)).any():
        raise DataError(
            "Predictions must be one class index per row.",
            got=f"{array.dtype} of shape {array.shape}",
        )
    return array.astype(np.int64)
