"""The table of a file of predictions: CSV, Parquet, JSON lines, npz, a frame or standard input."""

from __future__ import annotations

import mmap
import re
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core.arrays import AnyArray, is_frame
from fireassay.core.errors import AssumptionWarning, DataError
from fireassay.core.files import MAX_BYTES, check_declared_size, check_regular
from fireassay.core.lazy import pd
from fireassay.data import csv_file
from fireassay.data.files import unpacked
from fireassay.data.npz_file import read_member, whole_numpy
from fireassay.data.table_file import read_json

# What stands for a missing cell. "None" and "none" are names that a class may have.
_MISSING = ("", "NA", "\\N", "<NA>", "N/A", "#N/A", "NaN", "nan", "NULL", "null")
_WINDOWS = "cp1252"  # what spreadsheets write where they do not write UTF-8
_COMMA = re.compile(r"-?[0-9]*,?[0-9]+([eE][-+]?[0-9]+)?")
_SMALL = re.compile(r"[01](,[0-9]+([eE][-+]?[0-9]+)?)?")  # 1,234 may be a thousand and more
_LISTED = re.compile(r"[\[(][-+.,;\seE\d]*[\])]")  # a list as Spark, pandas and numpy write it
_KNOWN = "csv, tsv, txt, parquet, jsonl, json lines, npz, a frame, or - for standard input"


def prediction_table(
    source: Any, *, max_bytes: int = MAX_BYTES
) -> tuple[pd.DataFrame, dict[str, AnyArray], str]:
    """One row per prediction, tables of several columns under one name, and the source's name."""
    if is_frame(source):
        frame = source.reset_index(drop=True).set_axis([str(c) for c in source.columns], axis=1)
        return *_unpacked(frame), "frame"
    if str(source) == "-":
        return _standard_input(max_bytes)
    path = Path(source)
    if not path.exists():
        raise DataError("The file of predictions must exist.", got=str(path))
    check_regular(path)
    path = unpacked(path, max_bytes)
    kind = path.suffix.lower()
    if kind in (".csv", ".tsv", ".txt", ".tab"):
        return *_unpacked(_csv(path, max_bytes)), path.stem
    if kind in (".parquet", ".pq"):
        from fireassay.data.parquet_file import read_parquet

        return *_unpacked(read_parquet(path, max_bytes=max_bytes)), path.stem
    if kind in (".jsonl", ".ndjson", ".json"):
        return *_unpacked(read_json(path, max_bytes=max_bytes)), path.stem
    if kind == ".npz":
        return *_npz(path, max_bytes), path.stem
    raise DataError(f"A file of predictions must be {_KNOWN}.", got=str(path))


def _standard_input(max_bytes: int) -> tuple[pd.DataFrame, dict[str, AnyArray], str]:
    content = sys.stdin.buffer.read(max_bytes + 1)
    check_declared_size(len(content), max_bytes, "standard input")
    first = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:4]
    kinds = {b"PAR1": ".parquet", b"PK\x03\x04": ".npz"}
    kind = kinds.get(first, ".jsonl" if first[:1] == b"{" else ".csv")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"stdin{kind}"
        path.write_bytes(content)
        frame, tables, name = prediction_table(path, max_bytes=max_bytes)
        return frame, {key: np.array(table) for key, table in tables.items()}, name


def _csv(path: Path, max_bytes: int) -> pd.DataFrame:
    own: dict[str, Any] = {"keep_default_na": False, "na_values": list(_MISSING)}
    reading = csv_file.Reading()
    try:
        frame = csv_file.read_csv(path, max_bytes=max_bytes, **own)
    except DataError as error:
        if not isinstance(error.__cause__, UnicodeError):
            raise
        warnings.warn(f"{path.name} is not UTF-8; read as {_WINDOWS}.", AssumptionWarning, 2)
        reading = csv_file.Reading(_WINDOWS)
        frame = csv_file.read_csv(path, max_bytes=max_bytes, reading=reading, **own)
    separator = csv_file.separator_of(path, reading)
    whole = [i for i, kind in enumerate(frame.dtypes) if pd.api.types.is_integer_dtype(kind)]
    if whole and _leading_zeros(path):  # 01 and 1 are one number, but may be two labels
        texts = csv_file.read_csv(
            path, max_bytes=max_bytes, reading=reading, usecols=whole, dtype=str
        )
        for i, name in zip(whole, texts.columns, strict=True):
            if texts[name].str.fullmatch(r"\s*0\d+\s*").any():
                frame.isetitem(i, texts[name].str.strip().to_numpy())
    frame = frame.set_axis([str(name).strip() for name in frame.columns], axis=1)
    for i, name in enumerate(frame.columns):
        if not pd.api.types.is_numeric_dtype(frame.iloc[:, i].dtype):
            frame[name] = _numbers(frame.iloc[:, i], _COMMA if separator != "," else _SMALL)
    return frame


def _numbers(column: pd.Series[Any], comma: re.Pattern[str]) -> pd.Series[Any]:
    """Texts with decimal commas or per cent signs as numbers, where all are; else as they are."""
    cells = column.dropna()
    if not len(cells) or not isinstance(first := cells.iloc[0], str):
        return column
    percent = first.strip().endswith("%")
    if not (percent or comma.fullmatch(first)):
        return column
    cells = cells.astype(str).str.strip()
    if percent and cells.str.endswith("%").all():
        cells = cells.str.removesuffix("%").str.strip()
    if not cells.str.fullmatch(
        comma.pattern + r"|-?[0-9]*\.[0-9]+" if percent else comma.pattern
    ).all():
        return column
    read = pd.to_numeric(cells.str.replace(",", ".")).astype(np.float64)
    return (read / 100.0 if percent else read).reindex(column.index)


def _leading_zeros(path: Path) -> bool:
    """Whether some cell of a file starts with 0 and another digit."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return re.search(rb"[,;\t\n\"]0\d", content) is not None


def _unpacked(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, AnyArray]]:
    """Columns of objects {class: p} become columns, columns of lists become tables."""
    tables: dict[str, AnyArray] = {}
    waiting = [c for c in frame.columns if not pd.api.types.is_numeric_dtype(frame[c].dtype)]
    while waiting:
        name = waiting.pop()
        known = frame[name].dropna()
        if (
            len(known)
            and isinstance(first := known.iloc[0], str)
            and _LISTED.fullmatch(first.strip())
        ):
            known = known.map(_list_of_text)
        first = known.iloc[0] if len(known) else None
        if not isinstance(first, dict | list | tuple | np.ndarray):
            continue
        known = known.map(_by_class)
        if isinstance(first := known.iloc[0], dict):
            parts = pd.DataFrame(known.tolist(), index=known.index).reindex(frame.index)
            parts = parts.add_prefix(f"{name}_")
            frame = pd.concat([frame.drop(columns=name), parts], axis=1)
            waiting += [str(c) for c in parts if not pd.api.types.is_numeric_dtype(parts[c].dtype)]
        elif {len(v) if hasattr(v, "__len__") else -1 for v in known} == {1}:
            frame[name] = known.map(lambda v: v[0]).reindex(frame.index)
            waiting.append(name)
        else:
            tables[name] = _table_of(name, known, frame.index)
            frame = frame.drop(columns=name)
    return frame, tables


def _table_of(name: str, known: pd.Series[Any], index: Any) -> AnyArray:
    """Lists of numbers as an array (n, k); missing ones as NaN."""
    if len({len(v) if hasattr(v, "__len__") else -1 for v in known}) > 1:
        raise DataError(f"The lists of {name!r} must have one length.", got="several")
    try:
        rows = np.array(known.tolist(), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"The lists of {name!r} must hold numbers.", got="others") from error
    table = np.full((len(index), *rows.shape[1:]), np.nan)
    table[index.isin(known.index)] = rows
    return table


def _list_of_text(text: str) -> list[float]:
    try:
        return [float(part) for part in re.split(r"[\s,;]+", text.strip(" []()")) if part]
    except ValueError as error:
        raise DataError("A list must hold numbers.", got=repr(text[:40])) from error


def _by_class(value: Any) -> Any:
    """{class: p} of a list of pairs or of two lists, and the numbers of a vector of Spark."""
    if isinstance(value, dict) and isinstance(value.get("values"), list):
        return value["values"]
    if isinstance(value, list | np.ndarray) and len(value) and isinstance(value[0], dict):
        pairs = [(_of(pair, str), _of(pair, int | float)) for pair in value]
    elif isinstance(value, dict) and all(isinstance(v, list) for v in value.values()):
        names, *more = (
            [v for v in value.values() if v and isinstance(v[0], kind)] for kind in (str, float)
        )
        pairs = (
            [*zip(names[0], more[0][0], strict=False)] if len(names) == len(more[0]) == 1 else []
        )
    else:
        return value
    return {name: p for name, p in pairs if name is not None} or value


def _of(pair: Any, kind: Any) -> Any:
    return next((v for v in pair.values() if isinstance(v, kind)), None)


def _npz(path: Path, max_bytes: int) -> tuple[pd.DataFrame, dict[str, AnyArray]]:
    with whole_numpy(path), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        declared = sum(member.file_size for member in members)
        check_declared_size(declared, max_bytes, path, packed=path.stat().st_size)
        arrays = {m.filename.removesuffix(".npy"): read_member(archive, m, path) for m in members}
    arrays = {k: a[:, 0] if a.ndim == 2 and a.shape[1] == 1 else a for k, a in arrays.items()}
    names = [key for key in ("classes", "class_names") if key in arrays]
    tables = {key: a for key, a in arrays.items() if a.ndim != 1 or key in names}
    columns = {key: a for key, a in arrays.items() if key not in tables}
    if len({len(a) for a in columns.values()}) != 1:
        listed = ", ".join(f"{key} has {len(a)}" for key, a in columns.items())
        raise DataError("The arrays must have one value per row.", got=listed or "no 1-D array")
    return pd.DataFrame(columns), tables
