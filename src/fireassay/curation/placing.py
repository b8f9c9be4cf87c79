"""Where a row belongs, known without holding the other rows."""

import numpy as np
from numpy.typing import NDArray

from fireassay.curation.ordering import score_levels
from fireassay.curation.patterns import TABLE_KEYS, VotePatterns, row_keys
from fireassay.curation.pipeline import PatternLabels, Settings
from fireassay.curation.shuffle import shuffled_ranks
from fireassay.curation.votes import VoteArray


class PatternLookup:
    """The pattern number of each row of a block."""

    def __init__(self, keys: NDArray[np.int64], n_classes: int, m: int) -> None:
        self._keys, self._n_classes = keys, n_classes
        space = (n_classes + 1) ** m
        self._table = None
        if space <= TABLE_KEYS:
            self._table = np.zeros(space, dtype=np.int32)
            self._table[keys] = np.arange(len(keys), dtype=np.int32)

    def find(self, block: VoteArray) -> NDArray[np.int32]:
        """Pattern numbers of a dense block of votes."""
        if self._table is not None:
            found: NDArray[np.int32] = self._table[row_keys(block, self._n_classes, np.int32)]
            return found
        keys = row_keys(block, self._n_classes, np.int64)
        return np.searchsorted(self._keys, keys).astype(np.int32)


class DatasetPlaces:
    """The dataset of each row, block after block, as the whole order would have it."""

    def __init__(
        self,
        patterns: VotePatterns,
        table: PatternLabels,
        settings: Settings,
        sizes: NDArray[np.int64],
    ) -> None:
        _, level = score_levels(table.score(settings.order_by))
        n_levels = int(level.max()) + 1
        self._level = level.astype(np.uint16 if n_levels <= 1 << 16 else np.uint32)
        self._size = np.bincount(level, weights=patterns.counts).astype(np.int64)
        self._start = np.concatenate([[0], np.cumsum(self._size)[:-1]])
        self._seen = np.zeros(n_levels, dtype=np.int64)
        self._ends, self._seed = sizes, settings.seed
        first = np.searchsorted(sizes, self._start, side="right")
        last = np.searchsorted(sizes, self._start + self._size - 1, side="right")
        self._whole, self._first = first == last, first + 1

    def next_block(self, pattern: NDArray[np.int32]) -> NDArray[np.int64]:
        """Dataset numbers (1, 2, …) of the next rows, given their patterns."""
        level = self._level[pattern]
        numbers: NDArray[np.int64] = self._first[level]
        cut = np.flatnonzero(~self._whole[level])
        if len(cut):
            mine = level[cut]
            by_level = np.argsort(mine, kind="stable")
            ordered = mine[by_level].astype(np.int64)
            here = np.bincount(mine, minlength=len(self._seen))
            begin = np.cumsum(here) - here
            rank = np.arange(len(cut)) - begin[ordered] + self._seen[ordered]
            shuffled = shuffled_ranks(rank, self._size[ordered], ordered, self._seed)
            position = self._start[ordered] + shuffled
            numbers[cut[by_level]] = np.searchsorted(self._ends, position, side="right") + 1
            self._seen += here
        return numbers
