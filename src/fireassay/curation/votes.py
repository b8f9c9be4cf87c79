"""Votes of labelling functions: checks, blocks, distinct patterns and their keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import AnyArray, Float32Array, FloatArray, IntArray, is_frame
from fireassay.core.errors import DataError
from fireassay.core.lazy import sparse
from fireassay.core.validation import check_integer

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
    """How many digits of a base stay within a limit, at least one: 15 of base 3 below 2**24."""
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


ABSTAIN = -1
"""The vote of a labelling function that has no opinion."""

BLOCK_ROWS = 1 << 18
"""Rows looked at together: fixed, so that nothing depends on how the work was cut."""

VoteArray = AnyArray
MOST_CLASSES = 32_000


def check_n_classes(n_classes: Any) -> int:
    """The number of classes as an int of at least two."""
    return check_integer(n_classes, "n_classes", low=2, high=MOST_CLASSES)


def check_votes(votes: Any, *, name: str = "votes") -> Any:
    """Votes as a 2-D integer array, memory map or CSR matrix; values are checked block by block."""
    # Dense votes are -1 (abstain) or 0..k-1; of sparse ones nothing stored abstains, a value is the
    # class plus one.
    if sparse.issparse(votes):
        matrix: Any = votes.tocsr()  # type: ignore[attr-defined]
        _check_shape(matrix.shape, name)
        if matrix.dtype.kind not in "iufb":
            raise DataError(f"{name} must be whole numbers.", got=f"dtype {matrix.dtype}")
        if not np.array_equal(matrix.data, np.round(matrix.data)):
            raise DataError(f"{name} must be whole numbers.", got="fractions")
        return matrix
    if is_frame(votes):
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
    votes: Any, n_classes: int, *, name: str = "votes", rows: int = BLOCK_ROWS, first_row: int = 0
) -> Iterator[tuple[int, VoteArray]]:
    """Checked dense blocks ``(first row, votes)`` of anything that `check_votes` accepts."""
    dtype = np.int8 if n_classes <= 127 else np.int16
    is_sparse = sparse.issparse(votes)
    for start in range(0, votes.shape[0], rows):
        block = votes[start : start + rows]
        block = block.toarray() if is_sparse else np.asarray(block)
        low, high = int(block.min()), int(block.max())
        if is_sparse:
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
        if is_frame(votes):
            return tuple(str(column) for column in votes.columns)
        return tuple(f"lf{i}" for i in range(m))
    chosen = tuple(str(name) for name in names)
    if len(chosen) != m:
        raise DataError(f"Expected {m} names, one per labelling function.", got=str(len(chosen)))
    return chosen


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


def _refuse(block: AnyArray, n_classes: int, start: int, name: str) -> None:
    row, column = np.argwhere((block < ABSTAIN) | (block >= n_classes))[0]
    raise DataError(
        f"{name} must be -1 (abstain) or a class 0..{n_classes - 1}.",
        got=f"{block[row, column]} in row {start + row}, labelling function {column}",
        do="Pass n_classes= if there are more classes, or correct that labelling function.",
    )


def _refuse_sparse(block: AnyArray, n_classes: int, start: int, name: str) -> None:
    row, column = np.argwhere((block < 0) | (block > n_classes))[0]
    raise DataError(
        f"Sparse {name} hold the class plus one, 1..{n_classes}; nothing stored means abstain.",
        got=f"{block[row, column]:g} in row {start + row}, labelling function {column}",
        do="From a dense array: sparse.csr_matrix(votes + 1).",
    )


_TABLE_ROWS = 6_600  # eight functions of two classes: their table stays in a core's cache


@dataclass(frozen=True)
class VotePatterns:
    """The distinct rows of a vote matrix, in lexicographic order."""

    votes: VoteArray
    counts: IntArray
    of_row: NDArray[np.int32]
    n_classes: int

    @property
    def n_rows(self) -> int:
        """The number of samples."""
        return int(self.counts.sum())

    def only(self, columns: IntArray) -> VotePatterns:
        """The same samples seen by some labelling functions only (patterns may repeat)."""
        chosen = np.ascontiguousarray(self.votes[:, columns])
        return VotePatterns(chosen, self.counts, self.of_row, self.n_classes)


def unique_patterns(votes: Any, n_classes: int, *, name: str = "votes") -> VotePatterns:
    """Collapse checked votes to their distinct rows, read as numbers in base ``k + 1``."""
    # Numbers that fit a small table are counted directly, others sorted in several exact words.
    n, m = votes.shape
    if (n_classes + 1) ** m <= TABLE_KEYS:
        return _by_table(votes, n_classes, n, m, name)
    return _by_sorting(votes, n_classes, n, m, name)


def every_row(votes: Any, n_classes: int) -> VotePatterns:
    """Each sample as its own pattern: given probabilities may differ where votes do not."""
    blocks = [block for _, block in dense_blocks(votes, n_classes)]
    rows = np.concatenate(blocks)
    n = len(rows)
    return VotePatterns(rows, np.ones(n, np.int64), np.arange(n, dtype=np.int32), n_classes)


def one_hot(votes: VoteArray, n_classes: int) -> Any:
    """Patterns as a sparse indicator matrix: column ``j * k + y`` says that LF j votes y."""
    rows, columns = np.nonzero(votes != ABSTAIN)
    indices = columns * n_classes + votes[rows, columns]
    shape = (len(votes), votes.shape[1] * n_classes)
    pointers = np.searchsorted(rows, np.arange(len(votes) + 1))
    return sparse.csr_matrix((np.ones(len(rows)), indices, pointers), shape=shape)


def summed_evidence(votes: VoteArray, logs: FloatArray) -> FloatArray:
    """Per row the sum over its votes of ``logs[j * k + vote]``; abstentions add nothing."""
    k, m = logs.shape[1], votes.shape[1]
    single = np.zeros((m, k + 1, k))
    single[:, 1:] = logs.reshape(-1, k, k)
    width = digits_below(_TABLE_ROWS, k + 1)
    tables = [_summed_table(single[first : first + width]) for first in range(0, m, width)]
    result = np.empty((len(votes), k))
    for start in range(0, len(votes), CACHED_ROWS):
        words = key_words(votes[start : start + CACHED_ROWS], k, width).T.astype(np.intp)
        total = np.zeros((k, words.shape[1]))
        for word, table in zip(words, tables, strict=True):
            for y in range(k):
                total[y] += table[y][word]
        result[start : start + CACHED_ROWS] = total.T
    return result


def _summed_table(single: FloatArray) -> FloatArray:
    """The sums for every pattern of some labelling functions, in the order of `row_keys`."""
    table = np.zeros((1, single.shape[2]))
    for by_vote in single:
        table = (table[:, None] + by_vote).reshape(-1, single.shape[2])
    return np.ascontiguousarray(table.T)


def _by_table(votes: Any, n_classes: int, n: int, m: int, name: str) -> VotePatterns:
    keys = np.empty(n, dtype=np.int32)
    counts = np.zeros((n_classes + 1) ** m, dtype=np.int64)
    for start, block in dense_blocks(votes, n_classes, name=name):
        found = row_keys(block, n_classes, np.int32)
        keys[start : start + len(block)] = found
        counts += np.bincount(found, minlength=len(counts))
    present = np.flatnonzero(counts)
    position = np.zeros(len(counts), dtype=np.int32)
    position[present] = np.arange(len(present), dtype=np.int32)
    # mode="clip" writes in place; the default would hold a second copy.
    np.take(position, keys, out=keys, mode="clip")
    return VotePatterns(key_votes(present, n_classes, m), counts[present], keys, n_classes)


def _by_sorting(votes: Any, n_classes: int, n: int, m: int, name: str) -> VotePatterns:
    width = digits_below(LARGEST_KEY, n_classes + 1)
    words = [slice(i, min(i + width, m)) for i in range(0, m, width)]
    keys = np.empty((len(words), n), dtype=np.int64)
    for start, block in dense_blocks(votes, n_classes, name=name):
        for word, columns in enumerate(words):
            found = row_keys(block[:, columns], n_classes, np.int64)
            keys[word, start : start + len(block)] = found
    _, of_row = np.unique(keys[0], return_inverse=True)
    for word in keys[1:]:
        if of_row.max() == n - 1:  # every row is a pattern of its own already
            break
        values, finer = np.unique(word, return_inverse=True)
        # Both factors are at most n < 2**31, so the pair is an exact 64-bit number.
        _, of_row = np.unique(of_row * len(values) + finer, return_inverse=True)
    counts = np.bincount(of_row)
    first = np.empty(len(counts), dtype=np.int64)
    first[of_row[::-1]] = np.arange(n - 1, -1, -1)
    if isinstance(votes, np.ndarray):
        table = np.take(votes, first, axis=0).astype(np.int8 if n_classes <= 127 else np.int16)
    else:
        cut = ((word, columns.stop - columns.start) for word, columns in enumerate(words))
        parts = [key_votes(keys[word, first], n_classes, width) for word, width in cut]
        table = np.concatenate(parts, axis=1)
    return VotePatterns(table, counts, of_row.astype(np.int32), n_classes)
