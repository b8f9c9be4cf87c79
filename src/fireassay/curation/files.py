"""Votes and columns from files, in memory or block by block."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core import json_files
from fireassay.core.arrays import AnyArray
from fireassay.core.errors import DataError
from fireassay.core.files import MAX_BYTES, check_declared_size, map_npy, write_text
from fireassay.core.lazy import is_installed, pd, require, sparse
from fireassay.core.validation import check_labels
from fireassay.curation.votes import BLOCK_ROWS, VoteArray, check_votes, dense_blocks
from fireassay.data.csv_file import read_csv, write_csv

if TYPE_CHECKING:
    from fireassay.curation.curate import Curation


def read_votes(path: Path) -> Any:
    """Votes from .npy, .npz ("votes", the only array, or sparse), .csv or .parquet (with names)."""
    if path.suffix in (".csv", ".parquet"):
        table = _read_table(path)
        text = [str(name) for name in table.columns if table[name].dtype.kind not in "iufb"]
        if text:
            raise DataError(
                f"{path.name} must have one column of whole numbers per labelling function.",
                got=f"text in {', '.join(text[:5])}",
                do="Leave identifiers and labels out of the file of votes.",
            )
        return table
    return _read_array(path, "votes")


def read_column(path: Path, name: str) -> AnyArray:
    """One value per sample from .npy, .npz, .csv or .parquet (one column, or ``name``)."""
    if path.suffix in (".csv", ".parquet"):
        table = _read_table(path)
        if name in table.columns:
            return table[name].to_numpy()
        if table.shape[1] != 1:
            raise DataError(
                f"{path.name} must have a column '{name}', or only one column.",
                got=", ".join(map(str, table.columns[:8])),
            )
        return table.iloc[:, 0].to_numpy()
    return np.asarray(_read_array(path, name))


def read_audit(path: Path) -> tuple[AnyArray, AnyArray]:
    """Audited rows and their labels from a table with the columns ``row`` and ``label``."""
    table = _read_table(path)
    if not {"row", "label"} <= set(table.columns):
        raise DataError(
            f"{path.name} must have the columns row and label.",
            got=", ".join(map(str, table.columns[:8])),
        )
    labelled = table.dropna(subset=["label"])
    return labelled["row"].to_numpy(), labelled["label"].to_numpy()


def _read_table(path: Path) -> pd.DataFrame:
    _check_there(path)
    with _reading(path, "a table"):
        if path.suffix == ".parquet":
            require("pyarrow", "tables", "Reading Parquet files")
            return pd.read_parquet(path)
        return read_csv(path)


@contextmanager
def _reading(path: Path, what: str) -> Iterator[None]:
    """Turn the errors of a damaged file into one that says what was expected."""
    try:
        yield
    except DataError:
        raise
    except (ValueError, EOFError, OSError) as damaged:
        raise DataError(f"Expected {path.name} to be {what}.", got=str(damaged)) from damaged


def _read_array(path: Path, name: str) -> Any:
    _check_there(path)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as members:
            check_declared_size(sum(i.file_size for i in members.infolist()), MAX_BYTES, path)
    if path.suffix == ".npy" or not zipfile.is_zipfile(path):
        return map_npy(path)
    with _reading(path, "an .npy or .npz file without objects"):
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    if isinstance(found, np.ndarray):
        return found
    with found as archive:
        if {"indices", "indptr", "shape", "data"} <= set(archive.files):
            with _reading(path, "a sparse matrix"):
                return sparse.load_npz(path)
        chosen = name if name in archive.files else (archive.files or [""])[0]
        if name not in archive.files and len(archive.files) != 1:
            raise DataError(
                f"{path.name} must hold an array '{name}', or only one array.",
                got=", ".join(archive.files[:8]) or "none",
            )
        try:
            array: AnyArray = archive[chosen]
        except ValueError as objects:
            raise DataError(
                f"The array '{chosen}' in {path.name} must hold numbers.", got=str(objects)
            ) from objects
    return array


def _check_there(path: Path) -> None:
    if not path.is_file():
        raise DataError("Expected a file.", got=f"no file at {path}")
    if path.suffix not in (".npy", ".npz", ".csv", ".parquet"):
        raise DataError(
            "Expected an .npy, .npz, .csv or .parquet file.", got=path.suffix or path.name
        )


def export(
    result: Curation, folder: str | Path, ids: Any = None, order: str = "not shown"
) -> list[Path]:
    """Write the datasets (one sample number per line), ``samples.csv`` and ``curation.json``."""
    # D_01.txt … only if something shows that later sets are harder, else unvalidated_01.txt …:
    # nobody knows how a model should behave on those. With pyarrow also samples.parquet.
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    table = result.frame()
    table.insert(0, "row", np.arange(result.n))
    if ids is not None:
        table.insert(1, "id", check_labels(ids, name="ids", n=result.n))
    written = []
    width = max(2, len(str(len(result.sizes))))
    stem = "D" if order == "decreasing" else "unvalidated"
    for number, rows in enumerate(result.datasets, start=1):
        path = target / f"{stem}_{number:0{width}d}.txt"
        written.append(write_text(path, "".join(f"{row}\n" for row in rows.tolist())))
    written.append(write_csv(table, target / "samples.csv"))
    if is_installed("pyarrow"):
        written.append(target / "samples.parquet")
        table.to_parquet(written[-1], index=False)
    summary = {
        "settings": asdict(result.settings),
        "samples": result.n,
        "sizes": result.sizes.tolist(),
        "kept_lfs": [result.lf_names[i] for i in result.kept_lfs],
        "warnings": list(result.warnings),
        "order": order,
    }
    return [*written, write_text(target / "curation.json", json_files.dumps(summary, indent=2))]


@dataclass(frozen=True, eq=False)
class ArraySource:
    """Votes in an array, or in an .npy file that is read block by block."""

    path: str | None
    array: Any
    n_rows: int
    n_lfs: int

    def blocks(self, n_classes: int, start: int, stop: int) -> Iterator[tuple[int, VoteArray]]:
        """Checked dense blocks ``(first row, votes)`` of the rows start … stop."""
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


VoteSource = ArraySource | ParquetSource


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
        with _reading(path, "an .npy file of votes"):
            array = map_npy(path)
        checked = check_votes(array)
        if checked is array and array.flags.c_contiguous:
            return ArraySource(str(path.resolve()), None, *array.shape)
    else:
        checked = check_votes(source)
    return ArraySource(None, checked, *checked.shape)


def _npy_dtype(file: Any) -> np.dtype[Any]:
    """The dtype in the header of an .npy file; the file then stands at the first value."""
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)[2]
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)[2]
    raise DataError("Expected an .npy file of version 1 or 2.", got=str(version))


def _open_parquet(paths: list[Path], asked: Path) -> ParquetSource:
    parquet = require("pyarrow.parquet", "tables", "Reading Parquet files")
    if not paths:
        raise DataError("Expected a folder of .parquet files.", got=f"none in {asked}")
    rows, columns = [], []
    for path in paths:
        with _reading(path, "a Parquet file"):
            metadata = parquet.read_metadata(path)
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
