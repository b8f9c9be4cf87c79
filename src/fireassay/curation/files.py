"""Votes and columns from files, and the datasets of a curation as files."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core import strict_json
from fireassay.core.arrays import AnyArray
from fireassay.core.errors import DataError
from fireassay.core.extras import is_installed, require
from fireassay.core.files import write_text
from fireassay.core.lazy_modules import pd, sparse
from fireassay.core.limits import MAX_BYTES, check_declared_size
from fireassay.core.npy_header import map_npy
from fireassay.core.validation import check_labels
from fireassay.data.csv_file import read_csv, write_csv

if TYPE_CHECKING:
    from fireassay.curation.curate import Curation


def read_votes(path: Path) -> Any:
    """Votes from .npy, .npz (its array "votes", its only one, or sparse), .csv or .parquet.

    Tables give the names of the labelling functions; arrays do not.
    """
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
    try:
        if path.suffix == ".parquet":
            require("pyarrow", "tables", "Reading Parquet files")
            return pd.read_parquet(path)
        return read_csv(path)
    except DataError:
        raise
    except (ValueError, OSError) as damaged:
        raise DataError(f"Expected {path.name} to be a table.", got=str(damaged)) from damaged


def _read_array(path: Path, name: str) -> Any:
    _check_there(path)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as members:
            check_declared_size(sum(i.file_size for i in members.infolist()), MAX_BYTES, path)
    if path.suffix == ".npy" or not zipfile.is_zipfile(path):
        return map_npy(path)
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as damaged:
        raise DataError(
            f"Expected {path.name} to be an .npy or .npz file without objects.", got=str(damaged)
        ) from damaged
    if isinstance(found, np.ndarray):
        return found
    with found as archive:
        if {"indices", "indptr", "shape", "data"} <= set(archive.files):
            return _read_sparse(path)
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


def _read_sparse(path: Path) -> Any:
    """A matrix that sparse.save_npz wrote."""
    try:
        return sparse.load_npz(path)
    except (ValueError, OSError) as damaged:
        raise DataError(
            f"Expected {path.name} to be a sparse matrix.", got=str(damaged)
        ) from damaged


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
    """Write the datasets (one sample number per line), ``samples.csv`` and ``curation.json``.

    The files are ``D_01.txt`` … only if something shows that later sets are harder; otherwise they
    are ``unvalidated_01.txt`` …, because nobody knows how a model should behave on them.

    With pyarrow installed the table is also written as ``samples.parquet``. Text identifiers that a
    spreadsheet would run as a formula are quoted with an apostrophe in the CSV file.

    Parameters
    ----------
    result
        A curation.
    folder
        Where to write; made if needed.
    ids
        The user's own identifier of each sample.
    order
        The verdict of `CurationFindings`: "decreasing", "increasing", "none" or "not shown".
    """
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
    csv = target / "samples.csv"
    written.append(write_csv(table, csv))
    if is_installed("pyarrow"):
        parquet = target / "samples.parquet"
        table.to_parquet(parquet, index=False)
        written.append(parquet)
    summary = strict_json.dumps(_summary(result) | {"order": order}, indent=2)
    return [*written, write_text(target / "curation.json", summary)]


def _summary(result: Curation) -> dict[str, Any]:
    settings = result.settings
    return {
        "settings": {name: getattr(settings, name) for name in settings.__dataclass_fields__},
        "samples": result.n,
        "sizes": result.sizes.tolist(),
        "kept_lfs": [result.lf_names[i] for i in result.kept_lfs],
        "warnings": list(result.warnings),
    }
