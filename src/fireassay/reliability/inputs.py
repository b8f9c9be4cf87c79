"""Rows with the model's answers, in memory or on disk."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.classifiers import Classifier, RecordedAnswers, numeric_view
from fireassay.core import DataError, generator, sha256
from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray, Probabilities, largest
from fireassay.core.files import map_npy
from fireassay.core.lazy import require
from fireassay.core.validation import check_features

_NUMBERS_AT_ONCE = 1 << 20
_PARQUET = (".parquet", ".pq")
_BINS = {1: 65_536, 2: 1024, 3: 128}
_SAMPLE = 20_000


@dataclass(frozen=True)
class DiskRows:
    """Rows on disk: an array that is mapped, or Parquet files whose columns are the features."""

    source: "NDArray[Any] | tuple[str, ...]"
    n: int
    shape: tuple[int, ...]

    def __len__(self) -> int:
        return self.n

    def blocks(self) -> Iterator[NDArray[Any]]:
        """All rows in order, about eight megabytes at a time, checked to be finite numbers."""
        width = int(np.prod(self.shape))
        size = int(np.clip(_NUMBERS_AT_ONCE // width, 256, 65_536))
        if isinstance(self.source, np.ndarray):
            for start in range(0, self.n, size):
                block = np.array(self.source[start : start + size])
                yield check_features(block, name="operational")
            return
        parquet = require("pyarrow.parquet", "tables", "Reading Parquet")
        for path in self.source:
            with parquet.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=size):
                    columns = [c.to_numpy(zero_copy_only=False) for c in batch.columns]
                    yield check_features(np.column_stack(columns), name="operational")

    def sample(self, most: int, seed: int) -> NDArray[Any]:
        """Up to ``most`` rows, each as likely as any other, in their order."""
        chosen = np.arange(self.n)
        if self.n > most:
            rng = generator(seed, "disk-rows")
            chosen = np.sort(rng.choice(self.n, most, replace=False, shuffle=False))
        found, start = [], 0
        for block in self.blocks():
            inside = chosen[(chosen >= start) & (chosen < start + len(block))] - start
            found.append(block[inside])
            start += len(block)
        return np.concatenate(found)


@dataclass(frozen=True)
class BinnedRows:
    """What a kernel density needs of rows; without ``weights`` each counts alike."""

    points: FloatArray
    weights: FloatArray | None
    sample: FloatArray
    low: FloatArray
    high: FloatArray


def binned_rows(rows: DiskRows, seed: int) -> BinnedRows:
    """Read the rows three times: for a sample, for their range, and to bin them."""
    sample = rows.sample(_SAMPLE, seed).astype(np.float64)
    low, high = np.full(rows.shape[0], np.inf), np.full(rows.shape[0], -np.inf)
    for block in rows.blocks():
        low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
    dims = rows.shape[0]
    if dims not in _BINS:
        return BinnedRows(sample, np.full(len(sample), 1 / len(sample)), sample, low, high)
    bins = _BINS[dims]
    width = np.maximum((high - low) / (bins - 1), np.finfo(np.float64).tiny)
    mass = np.zeros(bins**dims)
    for block in rows.blocks():
        position = (block.astype(np.float64) - low) / width
        index = np.clip(position.astype(np.int64), 0, bins - 2)
        upper = position - index
        for corner in np.ndindex(*(2,) * dims):
            share = np.prod(np.where(corner, upper, 1 - upper), axis=1)
            node = np.ravel_multi_index(tuple((index + corner).T), (bins,) * dims)
            mass += np.bincount(node, weights=share, minlength=len(mass))
    kept = np.flatnonzero(mass > 0)
    places = np.stack(np.unravel_index(kept, (bins,) * dims), axis=1)
    return BinnedRows(low + places * width, mass[kept] / mass.sum(), sample, low, high)


def rows_on_disk(source: Any) -> DiskRows | None:
    """Rows that stay on disk: a `numpy.memmap`, or the path of .npy or Parquet; else None."""
    if isinstance(source, DiskRows):
        return source
    if isinstance(source, np.memmap):
        return _mapped(source)
    if not isinstance(source, str | Path):
        return None
    path = Path(source)
    if not path.exists():
        raise DataError("The file of operational rows must exist.", got=str(path))
    if path.suffix.lower() == ".npy":
        try:
            return _mapped(map_npy(path))
        except ValueError as error:
            raise DataError(f"{path} must be an .npy file of numbers.", got=str(error)) from error
    if path.is_dir() or path.suffix.lower() in _PARQUET:
        files = [path] if path.is_file() else sorted(p for p in path.iterdir() if _is_parquet(p))
        return _parquet(files) if files else None
    return None


def _mapped(array: NDArray[Any]) -> DiskRows:
    if array.ndim < 2 or array.dtype.kind not in "fiub" or not array.size:
        raise DataError(
            "Operational rows on disk must be an array of numbers, shape (n, features …).",
            got=f"shape {array.shape}, {array.dtype}",
        )
    return DiskRows(array, len(array), array.shape[1:])


def _parquet(files: list[Path]) -> DiskRows:
    parquet = require("pyarrow.parquet", "tables", "Reading Parquet")
    from pyarrow import ArrowException

    try:
        described = [parquet.read_metadata(path) for path in files]
    except (ArrowException, OSError) as error:
        raise DataError("Expected whole Parquet files.", got=str(error)) from error
    columns = {metadata.num_columns for metadata in described}
    rows = sum(metadata.num_rows for metadata in described)
    if len(columns) > 1 or not rows:
        raise DataError(
            "Parquet files of one sample must have rows, and the same columns.",
            got=f"{sorted(columns)} columns, {rows} rows",
        )
    return DiskRows(tuple(str(path.resolve()) for path in files), rows, (columns.pop(),))


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in _PARQUET


_ROWS_AT_ONCE = 65_536


@dataclass(frozen=True)
class Inputs:
    """Rows in memory: features (flat), probabilities, and answers that were recorded."""

    X: FloatArray
    probabilities: Probabilities
    answers: IntArray | None = None  # -1: none was given

    @classmethod
    def ask(cls, model: Classifier, rows: AnyArray) -> "Inputs":
        """Rows of any shape with the model's answers."""
        if isinstance(model, RecordedAnswers):
            stated, answers = model.known(rows)
            return cls(numeric_view(model, rows), np.nan_to_num(stated), answers)
        return cls(numeric_view(model, rows), model.predict_proba(rows))

    @property
    def predicted(self) -> IntArray:
        """The class index the model gives; what was recorded need not be the likeliest class."""
        if self.answers is not None:
            return self.answers
        return np.asarray(self.probabilities.argmax(axis=1), dtype=np.int64)

    @property
    def doubt(self) -> FloatArray:
        """Log odds of the model's own uncertainty, kept finite."""
        uncertain = np.clip(1 - largest(self.probabilities), 1e-6, 1 - 1e-6)
        return np.asarray(np.log(uncertain) - np.log1p(-uncertain))

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: Any) -> "Inputs":
        """Some of the rows."""
        answers = None if self.answers is None else self.answers[rows]
        return Inputs(self.X[rows], self.probabilities[rows], answers)

    @property
    def n_rows(self) -> int:
        """Rows of all blocks."""
        return len(self.X)

    def blocks(self) -> Iterator["Block"]:
        """All rows, some at a time, as rows on disk come."""
        for start in range(0, len(self), _ROWS_AT_ONCE):
            inputs = self.take(slice(start, start + _ROWS_AT_ONCE))
            yield Block(len(inputs), np.arange(len(inputs)), inputs)


@dataclass(frozen=True)
class Block:
    """Consecutive rows; ``inputs`` are those at the positions ``rows``, the rest is left out."""

    size: int
    rows: IntArray
    inputs: Inputs

    def part(self, start: int, stop: int) -> "Block":
        """Rows from ``start`` to ``stop`` of this block."""
        if start == 0 and stop == self.size:
            return self
        first, last = np.searchsorted(self.rows, [start, stop])
        return Block(
            stop - start, self.rows[first:last] - start, self.inputs.take(slice(first, last))
        )


@dataclass(frozen=True)
class DiskInputs:
    """What `Inputs` is for rows in memory, a block at a time; ``fresh`` rows are not labelled."""

    rows: DiskRows
    model: Classifier
    labelled: "Known"
    fresh: int

    def __len__(self) -> int:
        return self.fresh

    @property
    def n_rows(self) -> int:
        """Rows of all blocks, those that are left out included."""
        return len(self.rows)

    def blocks(self) -> Iterator[Block]:
        """Blocks of all rows; the inputs are the fresh ones among them."""
        for block in self.rows.blocks():
            flat = block.reshape(len(block), -1).astype(np.float64)
            fresh = np.flatnonzero(~self.labelled.among(flat))
            inputs = Inputs(flat[fresh], self.model.predict_proba(block[fresh]))
            yield Block(len(block), fresh, inputs)


class Known:
    """The labelled rows, to tell fresh rows; none where labelled rows repeat themselves."""

    def __init__(self, labelled: FloatArray) -> None:
        rows = {row.tobytes() for row in labelled}
        self._rows = rows if len(rows) >= 0.99 * len(labelled) else set()
        self._first = np.unique(labelled[:, 0])

    def among(self, rows: FloatArray) -> BoolArray:
        """Which rows are labelled ones."""
        found = np.zeros(len(rows), dtype=bool)
        if self._rows:
            maybe = np.flatnonzero(np.isin(rows[:, 0], self._first))
            found[maybe] = [row.tobytes() in self._rows for row in rows[maybe]]
        return found


def scan(rows: DiskRows, known: Known) -> tuple[int, str]:
    """How many rows are fresh, and a hash of the content."""
    fresh = 0
    hashes: list[Any] = []
    for block in rows.blocks():
        flat = block.reshape(len(block), -1).astype(np.float64)
        fresh += int((~known.among(flat)).sum())
        hashes.append(sha256(flat))
    return fresh, sha256(hashes)
