"""Files that hold a table: CSV, Parquet, Feather, JSON lines."""

from __future__ import annotations

import json
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from fireassay.core.files import MAX_BYTES, check_declared_size, expected
from fireassay.core.lazy import pd
from fireassay.data.csv_file import Reading, line_of, read_csv, refuse_merged_roles
from fireassay.data.dataset import DataSet
from fireassay.data.tables import column_roles, from_frame

_CSV: Final = (".csv", ".tsv", ".txt", ".tab")
_PARQUET: Final = (".parquet", ".pq", ".feather", ".arrow")
_JSON: Final = (".jsonl", ".ndjson", ".json")
_LINES_AT_ONCE = 50_000


def is_table(path: Path) -> bool:
    """Whether a file holds a table, by its name."""
    return path.suffix.lower() in (*_CSV, *_PARQUET, *_JSON)


def read_table(
    path: Path,
    *,
    max_bytes: int = MAX_BYTES,
    rows: int | None = None,
    column: str | None = None,
    reading: Reading | None = None,
) -> pd.DataFrame:
    """The table of a file; of CSV files the first rows or one column, where no more is needed."""
    kind = path.suffix.lower()
    if kind in _PARQUET:
        from fireassay.data.parquet_file import read_parquet

        return read_parquet(path, max_bytes=max_bytes)
    if kind in _JSON:
        return read_json(path, max_bytes=max_bytes)
    return read_csv(
        path, max_bytes=max_bytes, rows=rows, column=column, reading=reading or Reading()
    )


def load_table(
    path: Path,
    *,
    label: str | bool | None = None,
    id_column: str | None = None,
    max_bytes: int = MAX_BYTES,
    encoding: str | None = None,
    header: bool | None = None,
    na: Any = (),
    **columns: Any,
) -> DataSet:
    """A data set from a file that holds a table; ``columns``: see `from_frame`."""
    reading = Reading(encoding, header, tuple(na))
    frame = read_table(path, max_bytes=max_bytes, reading=reading)
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    if path.suffix.lower() not in _CSV:
        return from_frame(frame, label=label, id_column=id_column, folder=path.parent, **columns)
    encoder, weight = columns.get("encoder"), columns.get("weight")
    others = [*columns.get("ignore", ()), *([weight] if weight else [])]
    others += [columns["split"][0]] if "split" in columns else []
    roles = column_roles(
        frame.drop(columns=[column for column in others if column in frame]),
        label,
        id_column,
        columns.get("group"),
        columns.get("columns") if encoder is None else encoder.columns,
    )
    refuse_merged_roles(path, frame, roles, reading)
    return from_frame(
        frame,
        label=roles[0] or False,
        id_column=roles[1],
        line_of=partial(line_of, path, reading=reading),
        folder=path.parent,
        **columns,
    )


def read_json(path: Path, *, max_bytes: int = MAX_BYTES) -> pd.DataFrame:
    """One object per line; else one document: objects, columns, or columns and data."""
    check_declared_size(path.stat().st_size, max_bytes, path)
    parts: list[pd.DataFrame] = []
    what = f"Expected JSON lines, one object per row, at {path}."
    damage = (OSError, ValueError, TypeError, AttributeError)
    with expected(what, damage), open(path, encoding="utf-8-sig") as file:
        while block := list(islice(file, _LINES_AT_ONCE)):
            try:
                rows = [json.loads(line) for line in block if line.strip()]
            except ValueError:
                if parts:
                    raise
                rows = [json.loads("".join([*block, *file]))]
            if len(rows) == 1 and not parts:
                parts.append(_document(rows[0]))
            else:
                parts.append(pd.DataFrame.from_records(rows))
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def _document(found: Any) -> pd.DataFrame:
    """The table of one document, in the usual ways to write a table as JSON."""
    if isinstance(found, dict) and "data" in found:
        return pd.DataFrame(found["data"], columns=found.get("columns"))
    if isinstance(found, dict) and all(isinstance(v, dict | list) for v in found.values()):
        return pd.DataFrame(found).reset_index(drop=True)
    return pd.DataFrame.from_records(found if isinstance(found, list) else [found])
