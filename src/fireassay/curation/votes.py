"""Votes of labelling functions: what is accepted, and dense blocks of rows from any storage."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from numpy.typing import NDArray

from fireassay.core.errors import DataError
from fireassay.core.validation import check_integer

ABSTAIN = -1
"""The vote of a labelling function that has no opinion."""

BLOCK_ROWS = 1 << 18
"""Rows looked at together: fixed, so that nothing depends on how the work was cut."""

VoteArray = NDArray[Any]
_MOST_CLASSES = 32_000


def check_n_classes(n_classes: Any) -> int:
    """The number of classes as an int of at least two."""
    return check_integer(n_classes, "n_classes", low=2, high=_MOST_CLASSES)


def check_votes(votes: Any, *, name: str = "votes") -> Any:
    """Votes as a 2-D integer array, memory map or CSR matrix; values are checked block by block.

    Dense votes are -1 (abstain) or a class 0..k-1. In a scipy sparse matrix nothing stored means
    abstain, and a stored value is the class plus one.

    Raises
    ------
    DataError
        For anything that is not a table of whole numbers with at least one row and one column.
    """
    if scipy.sparse.issparse(votes):
        matrix = _as_csr(votes)
        _check_shape(matrix.shape, name)
        if matrix.dtype.kind not in "iufb":
            raise DataError(f"{name} must be whole numbers.", got=f"dtype {matrix.dtype}")
        if not np.array_equal(matrix.data, np.round(matrix.data)):
            raise DataError(f"{name} must be whole numbers.", got="fractions")
        return matrix
    if isinstance(votes, pd.DataFrame):
        votes = votes.to_numpy()
    if not isinstance(votes, np.ndarray):
        try:
            votes = np.asarray(votes)
        except ValueError as ragged:
            raise DataError(f"{name} must be a rectangular table.", got="ragged rows") from ragged
    _check_shape(votes.shape, name)
    if votes.dtype.kind in "iub":
        return votes
    if votes.dtype.kind == "O":
        try:
            votes = votes.astype(np.float64)
        except (TypeError, ValueError) as failure:
            raise DataError(
                f"{name} must be whole numbers.",
                got=f"objects ({failure})",
                do="Write an abstention as -1, never as None or text.",
            ) from failure
    if votes.dtype.kind != "f":
        raise DataError(f"{name} must be whole numbers.", got=f"dtype {votes.dtype}")
    if not np.isfinite(votes).all():
        row, column = np.argwhere(~np.isfinite(votes))[0]
        raise DataError(
            f"{name} must not be missing.",
            got=f"{votes[row, column]} in row {row}, labelling function {column}",
            do="Write an abstention as -1.",
        )
    if (votes != np.round(votes)).any():
        row, column = np.argwhere(votes != np.round(votes))[0]
        raise DataError(
            f"{name} must be whole numbers: -1 abstains, 0..k-1 are the classes.",
            got=f"{votes[row, column]} in row {row}, labelling function {column}",
        )
    return votes.astype(np.int64)


def dense_blocks(
    votes: Any,
    n_classes: int,
    *,
    name: str = "votes",
    rows: int = BLOCK_ROWS,
    first_row: int = 0,
) -> Iterator[tuple[int, VoteArray]]:
    """Checked dense blocks ``(first row, votes)`` of anything that `check_votes` accepts.

    ``first_row`` is the number of the first row in the whole data, for messages and results.
    """
    dtype = np.int8 if n_classes <= 127 else np.int16
    sparse = scipy.sparse.issparse(votes)
    for start in range(0, votes.shape[0], rows):
        block = votes[start : start + rows]
        block = block.toarray() if sparse else np.asarray(block)
        low, high = int(block.min()), int(block.max())
        if sparse:
            if low < 0 or high > n_classes:
                _refuse_sparse(block, n_classes, first_row + start, name)
            yield first_row + start, (block.astype(np.int16) - 1).astype(dtype)
            continue
        if low < ABSTAIN or high >= n_classes:
            _refuse(block, n_classes, first_row + start, name)
        yield first_row + start, np.ascontiguousarray(block, dtype=dtype)


def lf_names(votes: Any, names: Any = None) -> tuple[str, ...]:
    """Names of the labelling functions: given, or a frame's columns, or ``lf0, lf1, …``."""
    m = votes.shape[1]
    if names is None:
        if isinstance(votes, pd.DataFrame):
            return tuple(str(column) for column in votes.columns)
        return tuple(f"lf{i}" for i in range(m))
    chosen = tuple(str(name) for name in names)
    if len(chosen) != m:
        raise DataError(f"Expected {m} names, one per labelling function.", got=str(len(chosen)))
    return chosen


def _as_csr(votes: Any) -> Any:
    return votes.tocsr()


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2:
        raise DataError(
            f"{name} must have one row per sample and one column per labelling function.",
            got=f"shape {shape}",
            do=f"For one labelling function use {name}.reshape(-1, 1).",
        )
    if 0 in shape:
        raise DataError(
            f"{name} must have at least one row and one labelling function.", got=f"shape {shape}"
        )


def _refuse(block: NDArray[Any], n_classes: int, start: int, name: str) -> None:
    row, column = np.argwhere((block < ABSTAIN) | (block >= n_classes))[0]
    raise DataError(
        f"{name} must be -1 (abstain) or a class 0..{n_classes - 1}.",
        got=f"{block[row, column]} in row {start + row}, labelling function {column}",
        do="Pass n_classes= if there are more classes, or correct that labelling function.",
    )


def _refuse_sparse(block: NDArray[Any], n_classes: int, start: int, name: str) -> None:
    row, column = np.argwhere((block < 0) | (block > n_classes))[0]
    raise DataError(
        f"Sparse {name} hold the class plus one, 1..{n_classes}; nothing stored means abstain.",
        got=f"{block[row, column]:g} in row {start + row}, labelling function {column}",
        do="From a dense array: scipy.sparse.csr_matrix(votes + 1).",
    )
