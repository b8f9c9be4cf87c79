"""Unique vote patterns: every later step costs one pass over the votes plus a small table."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from fireassay.curation.votes import ABSTAIN, VoteArray, dense_blocks

TABLE_KEYS = 1 << 22
"""Up to this many possible patterns are counted in a table instead of being sorted."""

LARGEST_KEY = 1 << 62
"""Row keys stay below this, so that they are exact 64-bit numbers."""


@dataclass(frozen=True)
class VotePatterns:
    """The distinct rows of a vote matrix, in lexicographic order.

    Attributes
    ----------
    votes
        One row per distinct pattern, one column per labelling function.
    counts
        How many samples show the pattern.
    of_row
        The pattern of each sample; empty when only the counts were asked for.
    n_classes
        The number of classes.
    """

    votes: VoteArray
    counts: NDArray[np.int64]
    of_row: NDArray[np.int32]
    n_classes: int

    @property
    def n_rows(self) -> int:
        """The number of samples."""
        return int(self.counts.sum())

    def only(self, columns: NDArray[np.int64]) -> "VotePatterns":
        """The same samples seen by some labelling functions only (patterns may repeat)."""
        chosen = np.ascontiguousarray(self.votes[:, columns])
        return VotePatterns(chosen, self.counts, self.of_row, self.n_classes)


def unique_patterns(votes: Any, n_classes: int, *, name: str = "votes") -> VotePatterns:
    """Collapse checked votes (`check_votes`) to their distinct rows.

    A row is read as a number in base ``k + 1``. When all such numbers fit a small table they are
    counted directly; otherwise they are sorted, in several exact words when there are many
    labelling functions.
    """
    n, m = votes.shape
    if (n_classes + 1) ** m <= TABLE_KEYS:
        return _by_table(votes, n_classes, n, m, name)
    return _by_sorting(votes, n_classes, n, m, name)


def row_keys(block: VoteArray, n_classes: int, dtype: Any) -> NDArray[Any]:
    """Each row as a number in base ``k + 1``, first column most significant."""
    keys = np.zeros(len(block), dtype=dtype)
    for column in range(block.shape[1]):
        keys *= n_classes + 1
        keys += block[:, column]
        keys += 1
    return keys


def key_votes(keys: NDArray[Any], n_classes: int, m: int) -> VoteArray:
    """The inverse of `row_keys`."""
    votes = np.empty((len(keys), m), dtype=np.int8 if n_classes <= 127 else np.int16)
    rest = keys.astype(np.int64)
    for column in range(m - 1, -1, -1):
        rest, digit = np.divmod(rest, n_classes + 1)
        votes[:, column] = digit - 1
    return votes


def one_hot(votes: VoteArray, n_classes: int) -> Any:
    """Patterns as a sparse indicator matrix: column ``j * k + y`` says that LF j votes y."""
    rows, columns = np.nonzero(votes != ABSTAIN)
    indices = columns * n_classes + votes[rows, columns]
    shape = (len(votes), votes.shape[1] * n_classes)
    pointers = np.searchsorted(rows, np.arange(len(votes) + 1))
    return scipy.sparse.csr_matrix((np.ones(len(rows)), indices, pointers), shape=shape)


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
    width = 1
    while (n_classes + 1) ** (width + 1) <= LARGEST_KEY:
        width += 1
    words = [slice(i, min(i + width, m)) for i in range(0, m, width)]
    keys = np.empty((len(words), n), dtype=np.int64)
    for start, block in dense_blocks(votes, n_classes, name=name):
        for word, columns in enumerate(words):
            found = row_keys(block[:, columns], n_classes, np.int64)
            keys[word, start : start + len(block)] = found
    _, of_row = np.unique(keys[0], return_inverse=True)
    for word in keys[1:]:
        values, finer = np.unique(word, return_inverse=True)
        # Both factors are at most n < 2**31, so the pair is an exact 64-bit number.
        _, of_row = np.unique(of_row * len(values) + finer, return_inverse=True)
    counts = np.bincount(of_row)
    first = np.empty(len(counts), dtype=np.int64)
    first[of_row[::-1]] = np.arange(n - 1, -1, -1)
    table = np.concatenate(
        [
            key_votes(keys[word, first], n_classes, columns.stop - columns.start)
            for word, columns in enumerate(words)
        ],
        axis=1,
    )
    return VotePatterns(table, counts, of_row.astype(np.int32), n_classes)
