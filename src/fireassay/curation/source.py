"""Votes on disk: the same blocks of rows from an .npy file, a memory map or Parquet."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from fireassay.core.errors import DataError
from fireassay.core.extras import require
from fireassay.core.npy_header import map_npy
from fireassay.curation.votes import BLOCK_ROWS, VoteArray, check_votes, dense_blocks


class VoteSource(Protocol):
    """Something that gives blocks of votes again and again."""

    @property
    def n_rows(self) -> int:
        """The number of samples."""
        ...

    @property
    def n_lfs(self) -> int:
        """The number of labelling functions."""
        ...

    def blocks(self, n_classes: int, start: int, stop: int) -> Iterator[tuple[int, VoteArray]]:
        """Checked dense blocks ``(first row, votes)`` of the rows start … stop."""
        ...


@dataclass(frozen=True, eq=False)
class ArraySource:
    """Votes in an array, or in an .npy file that is read block by block."""

    path: str | None
    array: Any
    n_rows: int
    n_lfs: int

    def blocks(self, n_classes: int, start: int, stop: int) -> Iterator[tuple[int, VoteArray]]:
        """Checked dense blocks of some rows."""
        if self.path is None:
            yield from dense_blocks(self.array[start:stop], n_classes, first_row=start)
            return
        # Read, not mapped: mapped pages would count as this process's memory.
        with open(self.path, "rb") as file:
            dtype = _npy_dtype(file)
            file.seek(start * self.n_lfs * dtype.itemsize, 1)
            for first in range(start, stop, BLOCK_ROWS):
                rows = min(BLOCK_ROWS, stop - first)
                block = np.fromfile(file, dtype, rows * self.n_lfs).reshape(rows, self.n_lfs)
                yield from dense_blocks(block, n_classes, first_row=first)


@dataclass(frozen=True, eq=False)
class ParquetSource:
    """Votes in Parquet files, one column per labelling function."""

    paths: tuple[str, ...]
    rows_of: tuple[int, ...]
    n_lfs: int

    @property
    def n_rows(self) -> int:
        """The number of samples in all files."""
        return sum(self.rows_of)

    def blocks(self, n_classes: int, start: int, stop: int) -> Iterator[tuple[int, VoteArray]]:
        """Checked dense blocks of some rows; other row groups are not read."""
        parquet = require("pyarrow.parquet", "tables", "Reading Parquet files")
        offset = 0
        for path, rows in zip(self.paths, self.rows_of, strict=True):
            if offset < stop and offset + rows > start:
                yield from _file_blocks(parquet, path, offset, n_classes, start, stop)
            offset += rows


def open_votes(source: Any) -> VoteSource:
    """A source of votes from a path or an array."""
    if isinstance(source, str | Path):
        path = Path(source)
        if path.is_dir():
            return _open_parquet(sorted(path.glob("*.parquet")), path)
        if not path.is_file():
            raise DataError("Expected a file of votes.", got=f"no file at {path}")
        if path.suffix == ".parquet":
            return _open_parquet([path], path)
        try:
            array = map_npy(path)
        except (ValueError, EOFError, OSError) as damaged:
            raise DataError(
                f"Expected {path.name} to be an .npy file of votes.", got=str(damaged)
            ) from damaged
        checked = check_votes(array)
        if checked is not array or not array.flags.c_contiguous:
            return ArraySource(None, checked, *checked.shape)
        return ArraySource(str(path.resolve()), None, *array.shape)
    checked = check_votes(source)
    return ArraySource(None, checked, *checked.shape)


def _npy_dtype(file: Any) -> np.dtype[Any]:
    """The dtype in the header of an .npy file; the file then stands at the first value."""
    version = np.lib.format.read_magic(file)
    reader: Any = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if reader is None:
        raise DataError("Expected an .npy file of version 1 or 2.", got=str(version))
    dtype: np.dtype[Any] = reader(file)[2]
    return dtype


def _open_parquet(paths: list[Path], asked: Path) -> ParquetSource:
    parquet = require("pyarrow.parquet", "tables", "Reading Parquet files")
    if not paths:
        raise DataError("Expected a folder of .parquet files.", got=f"none in {asked}")
    rows, columns = [], []
    for path in paths:
        try:
            metadata = parquet.read_metadata(path)
        except (OSError, ValueError) as damaged:
            raise DataError(
                f"Expected {path.name} to be a Parquet file.", got=str(damaged)
            ) from damaged
        rows.append(metadata.num_rows)
        columns.append(metadata.num_columns)
    if len(set(columns)) > 1:
        raise DataError(
            "All Parquet files must have the same labelling functions.",
            got=f"{min(columns)} to {max(columns)} columns",
        )
    if sum(rows) == 0 or columns[0] == 0:
        raise DataError("votes must have at least one row and one labelling function.")
    return ParquetSource(tuple(str(p.resolve()) for p in paths), tuple(rows), columns[0])


def _file_blocks(
    parquet: Any, path: str, offset: int, n_classes: int, start: int, stop: int
) -> Iterator[tuple[int, VoteArray]]:
    with parquet.ParquetFile(path) as file:
        group_start = offset
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            if group_start < stop and group_start + rows > start:
                at = group_start
                for batch in file.iter_batches(batch_size=BLOCK_ROWS, row_groups=[group]):
                    low, high = max(start, at), min(stop, at + len(batch))
                    if low < high:
                        yield low, _checked(batch.slice(low - at, high - low), n_classes, low)
                    at += len(batch)
            group_start += rows


def _checked(batch: Any, n_classes: int, first: int) -> VoteArray:
    columns = []
    for number, column in enumerate(batch.columns):
        if column.null_count:
            raise DataError(
                "votes must not be missing.",
                got=f"nulls in labelling function {number}, near row {first}",
                do="Write an abstention as -1.",
            )
        columns.append(column.to_numpy(zero_copy_only=False))
    votes = check_votes(np.column_stack(columns))
    return next(dense_blocks(votes, n_classes, rows=len(votes), first_row=first))[1]
