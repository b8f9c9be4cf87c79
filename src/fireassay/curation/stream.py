"""Curation of more samples than fit into memory: two passes over a file, a small table between."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import AnyArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.files import written_whole
from fireassay.core.lazy import pd, require
from fireassay.core.result import Result
from fireassay.core.seeds import check_seed
from fireassay.core.validation import check_lengths
from fireassay.curation import order as ordering
from fireassay.curation.files import VoteSource, open_votes
from fireassay.curation.labelers import label_model
from fireassay.curation.labelling import PatternLabels, Settings, careful, label_patterns
from fireassay.curation.trend import Trend, trend_of
from fireassay.curation.votes import (
    BLOCK_ROWS,
    LARGEST_KEY,
    TABLE_KEYS,
    VoteArray,
    VotePatterns,
    key_votes,
    row_keys,
)
from fireassay.engine import Executor, Failure, track

_MOST_PATTERNS = 5_000_000
_TASK_ROWS = 16 * BLOCK_ROWS


@dataclass(frozen=True, eq=False)
class StreamedCuration(Result):
    """A curation whose samples are on disk.

    Attributes:
        folder: Holds ``pattern.npy``, ``label.npy`` and ``dataset.npy``, one value per sample.
        patterns, table: The distinct vote patterns, how often each occurs, and what each of them
            gets.
        sizes: Sizes of the cumulative datasets.
    """

    folder: str
    patterns: VotePatterns
    table: PatternLabels
    settings: Settings
    sizes: IntArray
    warnings: tuple[str, ...]

    @property
    def n(self) -> int:
        """The number of samples."""
        return self.patterns.n_rows

    @property
    def kept_lfs(self) -> IntArray:
        """Indices of the labelling functions that survived pruning."""
        return self.table.pruning.kept

    def frame(self) -> pd.DataFrame:
        """One row per vote pattern."""
        table = self.table.frame()
        table.insert(0, "count", self.patterns.counts)
        return table

    def summary(self) -> str:
        """How many samples, where, and what to be careful about."""
        line = f"{self.n} samples in {len(self.sizes)} datasets, in {self.folder}"
        return "\n".join([line, *self.warnings])

    def rows(self, start: int, stop: int) -> pd.DataFrame:
        """Label, confidence, interval and dataset number of some samples."""
        pattern = self._column("pattern")[start:stop]
        table = self.table.frame().iloc[pattern].reset_index(drop=True)
        table["dataset"] = np.asarray(self._column("dataset")[start:stop], dtype=np.int64)
        table.index = pd.RangeIndex(start, start + len(table))
        return table

    def blocks(self) -> Iterator[pd.DataFrame]:
        """All samples as frames like `rows`, block by block."""
        for start in range(0, self.n, BLOCK_ROWS):
            yield self.rows(start, min(start + BLOCK_ROWS, self.n))

    def to_parquet(self, path: str | Path) -> Path:
        """Write label, confidence, interval, votes and dataset of every sample to one file."""
        arrow = require("pyarrow", "tables", "Writing Parquet files")
        parquet = require("pyarrow.parquet", "tables", "Writing Parquet files")
        with contextlib.ExitStack() as stack:
            partial = stack.enter_context(written_whole(path))
            writer = None
            for frame in self.blocks():
                table = arrow.Table.from_pandas(frame, preserve_index=False)
                if writer is None:
                    writer = stack.enter_context(parquet.ParquetWriter(partial, table.schema))
                writer.write_table(table)
        return Path(path)

    def validate(self, y: Any, gamma: float = 0.05, n_permutations: int = 2000) -> Trend:
        """Check the order against true labels (an array, a memory map or an .npy file)."""
        truth = np.load(y, mmap_mode="r") if isinstance(y, str | Path) else np.asarray(y)
        check_lengths(samples=self.n, y=len(truth))
        pattern = self._column("pattern")
        hits = np.zeros(len(self.patterns.counts), dtype=np.int64)
        for start in range(0, self.n, BLOCK_ROWS):
            of_row = np.asarray(pattern[start : start + BLOCK_ROWS])
            right = np.asarray(truth[start : start + BLOCK_ROWS]) == self.table.labels[of_row]
            hits += np.bincount(of_row[right], minlength=len(hits))
        _, level = ordering.score_levels(self.table.score(self.settings.order_by))
        counts = np.bincount(level, weights=self.patterns.counts).astype(np.int64)
        levels = ordering.ScoreTable(counts, np.bincount(level, weights=hits).astype(np.int64))
        return trend_of(
            levels, self.sizes, ordering.grouped_order_test(levels), gamma=gamma,
            n_permutations=n_permutations, seed=self.settings.seed,
        )  # fmt: skip

    def _column(self, name: str) -> AnyArray:
        return np.asarray(np.load(Path(self.folder) / f"{name}.npy", mmap_mode="r"))


def curate_stream(
    source: Any,
    output: str | Path,
    n_classes: int = 2,
    labeler: Any = "majority",
    prune: float | None = 0.5,
    order_by: str = "lower_bound",
    interval: str = "posterior",
    confidence: float = 0.95,
    n_sets: int = 10,
    default_class: int = 0,
    drop_silent: bool = True,
    seed: int = 0,
    *,
    workers: int = 1,
    cluster: Any = None,
) -> StreamedCuration:
    """Curate votes from an .npy file, a memory map or Parquet in bounded memory.

    Labels, datasets and order are those that `curate` would give. The first pass counts vote
    patterns (in parallel with ``workers`` or on a Dask ``cluster`` that sees the same files), the
    second writes one row per sample.

    Args:
        source: Path of an .npy or .parquet file, or of a folder of Parquet files; or an array.
        output: Folder for the results.
        workers, cluster: Where the first pass runs.
        n_classes, labeler, prune, order_by, interval, confidence, n_sets: As in `curate`.
        default_class, drop_silent, seed: As in `curate`.

    Returns:
        The small tables; the samples are in the folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = curate_stream([[0, 0, 0], [1, 1, 1], [0, 1, -1]], folder, prune=None, n_sets=3)
    ...     result.rows(0, 3)["dataset"].tolist()
    [1, 2, 3]
    """
    chosen = label_model(labeler, "Streaming")
    settings = Settings(
        n_classes, chosen.name, prune, order_by, interval, confidence, n_sets, default_class,
        drop_silent, seed=check_seed(seed),
    )  # fmt: skip
    votes = open_votes(source)
    keys, counts = _count(votes, n_classes, workers, cluster)
    distinct = key_votes(keys, n_classes, votes.n_lfs)
    patterns = VotePatterns(distinct, counts, np.zeros(0, np.int32), n_classes)
    table = label_patterns(patterns, patterns, chosen, settings)
    Path(output).mkdir(parents=True, exist_ok=True)
    sizes = ordering.dataset_sizes(votes.n_rows, n_sets)
    warnings = careful(patterns, table, settings)
    result = StreamedCuration(str(Path(output)), patterns, table, settings, sizes, warnings)
    _write(votes, keys, result)
    return result


def _count(
    votes: VoteSource, n_classes: int, workers: int, cluster: Any
) -> tuple[IntArray, IntArray]:
    """Distinct row keys, ascending, and how often each occurs."""
    if (n_classes + 1) ** votes.n_lfs > LARGEST_KEY:
        raise DataError(
            "Streaming needs vote patterns that fit a 64-bit number (39 labelling functions for "
            "two classes).",
            got=f"{votes.n_lfs} labelling functions and {n_classes} classes",
            do="Drop some labelling functions, or use curate in memory.",
        )
    n = votes.n_rows
    spans = [(start, min(start + _TASK_ROWS, n)) for start in range(0, n, _TASK_ROWS)]
    executor = Executor(workers=workers, cluster=cluster)
    shared = {"votes": votes, "n_classes": n_classes}
    keys, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    # In groups, so that the driver never holds the counts of all spans.
    for first in range(0, len(spans), 64):
        for found in executor.map(
            count_span, spans[first : first + 64], shared, name="counting", on_error="return"
        ):
            if isinstance(found, Failure):
                raise DataError(found.message)
            keys, counts = _merge([keys, found[0]], [counts, found[1]])
    return keys, counts


def count_span(
    span: tuple[int, int], votes: VoteSource, n_classes: int
) -> tuple[IntArray, IntArray]:
    """Distinct keys of a span of rows and their counts."""
    space = (n_classes + 1) ** votes.n_lfs
    if space <= TABLE_KEYS:
        table = np.zeros(space, dtype=np.int64)
        for _, block in votes.blocks(n_classes, *span):
            table += np.bincount(row_keys(block, n_classes, np.int32), minlength=space)
        present = np.flatnonzero(table)
        return present, table[present]
    keys, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for _, block in votes.blocks(n_classes, *span):
        found = np.unique(row_keys(block, n_classes, np.int64), return_counts=True)
        keys, counts = _merge([keys, found[0]], [counts, found[1]])
    return keys, counts


def _merge(keys: list[IntArray], counts: list[IntArray]) -> tuple[IntArray, IntArray]:
    merged, where = np.unique(np.concatenate(keys), return_inverse=True)
    if len(merged) > _MOST_PATTERNS:
        raise DataError(
            f"Streaming holds at most {_MOST_PATTERNS} distinct vote patterns.",
            got="more",
            do="Drop labelling functions that vote at random, or curate a sample of the rows.",
        )
    total = np.zeros(len(merged), dtype=np.int64)
    np.add.at(total, where.ravel(), np.concatenate(counts))
    return merged, total


def _write(votes: VoteSource, keys: IntArray, result: StreamedCuration) -> None:
    n, k = votes.n_rows, result.settings.n_classes
    place, lookup = DatasetPlaces(result), PatternLookup(keys, k, votes.n_lfs)
    columns = {
        "pattern": np.int32,
        "label": np.int8 if k <= 127 else np.int16,
        "dataset": np.int16 if len(result.sizes) < 2**15 else np.int32,
    }
    with contextlib.ExitStack() as stack:
        files = {
            name: stack.enter_context(_npy_file(Path(result.folder) / f"{name}.npy", dtype, n))
            for name, dtype in columns.items()
        }
        for _, block in track(votes.blocks(k, 0, n), "labelling", total=-(-n // BLOCK_ROWS)):
            pattern = lookup.find(block)
            own = result.table.labels[pattern]
            found: tuple[AnyArray, ...] = (pattern, own, place.next_block(pattern))
            for (name, dtype), values in zip(columns.items(), found, strict=True):
                files[name].write(values.astype(dtype).tobytes())


@contextlib.contextmanager
def _npy_file(path: Path, dtype: Any, n: int) -> Iterator[Any]:
    """An .npy file to be written value after value; it gets its name when it is whole."""
    description = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (n,)}
    with written_whole(path) as partial, open(partial, "wb") as file:
        np.lib.format.write_array_header_1_0(file, description)
        yield file


class PatternLookup:
    """The pattern number of each row of a block."""

    def __init__(self, keys: IntArray, n_classes: int, m: int) -> None:
        self._keys, self._n_classes = keys, n_classes
        space = (n_classes + 1) ** m
        self._table = None
        if space <= TABLE_KEYS:
            self._table = np.zeros(space, dtype=np.int32)
            self._table[keys] = np.arange(len(keys), dtype=np.int32)

    def find(self, block: VoteArray) -> NDArray[np.int32]:
        """Pattern numbers of a dense block of votes."""
        if self._table is not None:
            return np.asarray(self._table[row_keys(block, self._n_classes, np.int32)])
        keys = row_keys(block, self._n_classes, np.int64)
        return np.searchsorted(self._keys, keys).astype(np.int32)


class DatasetPlaces:
    """The dataset of each row, block after block, as the whole order would have it."""

    def __init__(self, result: StreamedCuration) -> None:
        sizes, settings = result.sizes, result.settings
        _, level = ordering.score_levels(result.table.score(settings.order_by))
        n_levels = int(level.max()) + 1
        self._level = level.astype(np.uint16 if n_levels <= 1 << 16 else np.uint32)
        self._size = np.bincount(level, weights=result.patterns.counts).astype(np.int64)
        self._start = np.concatenate([[0], np.cumsum(self._size)[:-1]])
        self._seen = np.zeros(n_levels, dtype=np.int64)
        self._ends, self._seed = sizes, settings.seed
        first = np.searchsorted(sizes, self._start, side="right")
        last = np.searchsorted(sizes, self._start + self._size - 1, side="right")
        self._whole, self._first = first == last, first + 1

    def next_block(self, pattern: NDArray[np.int32]) -> IntArray:
        """Dataset numbers (1, 2, …) of the next rows, given their patterns."""
        level = self._level[pattern]
        numbers: IntArray = self._first[level]
        cut = np.flatnonzero(~self._whole[level])
        if len(cut):
            mine = level[cut]
            by_level = np.argsort(mine, kind="stable")
            ordered = mine[by_level].astype(np.int64)
            here = np.bincount(mine, minlength=len(self._seen))
            begin = np.cumsum(here) - here
            rank = np.arange(len(cut)) - begin[ordered] + self._seen[ordered]
            shuffled = ordering.shuffled_ranks(rank, self._size[ordered], ordered, self._seed)
            position = self._start[ordered] + shuffled
            numbers[cut[by_level]] = np.searchsorted(self._ends, position, side="right") + 1
            self._seen += here
        return numbers
