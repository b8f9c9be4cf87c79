"""Parquet and Feather files (extra "tables")."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core.errors import DataError
from fireassay.core.files import MAX_BYTES, check_declared_size, expected
from fireassay.core.lazy import pd, require

# What pyarrow raises besides its own on damaged metadata.
_DAMAGED = (AttributeError, LookupError, OSError, OverflowError, TypeError, ValueError)


def parquet_names(path: Path) -> tuple[str, ...]:
    """The columns of a Parquet file."""
    require("pyarrow", "tables", "Reading Parquet")
    from pyarrow.parquet import read_schema

    with _whole(path):
        return tuple(str(name) for name in read_schema(path).names)


def read_parquet(path: str | Path, *, max_bytes: int = MAX_BYTES) -> pd.DataFrame:
    """The table of a Parquet or Feather file."""
    # A page can repeat one value a million times in a few bytes: sizes are counted by rows.
    require("pyarrow", "tables", "Reading Parquet")
    import pyarrow
    from pyarrow.parquet import ParquetFile

    path = Path(path)
    if path.suffix.lower() in (".feather", ".arrow"):
        return _read_feather(path, max_bytes)
    with _whole(path):
        with ParquetFile(path) as file:
            schema, rows = file.schema, file.metadata.num_rows
            columns = [schema.column(i) for i in range(len(schema))]
            arrow = file.schema_arrow
            nested = [field.name for field in arrow if not _is_plain(field.type)]
            if nested:
                raise DataError(
                    f"{path} must have columns of values, pictures or lists of numbers.",
                    got=f"{nested[0]!r} is nested",
                )
            once = len(set(arrow.names)) == len(arrow.names)
            if not once or len({column.path for column in columns}) < len(columns):
                raise DataError(f"{path} must have each column once.", got="a name twice")
            groups = (file.metadata.row_group(i) for i in range(file.metadata.num_row_groups))
            pages = sum(group.total_byte_size for group in groups)
            declared = max(pages, rows * sum(_width(column) for column in columns))
            check_declared_size(declared, max_bytes, path, packed=path.stat().st_size)
        texts = [
            field.name
            for field in arrow
            if pyarrow.types.is_string(field.type) or pyarrow.types.is_large_string(field.type)
        ]
        with ParquetFile(path, read_dictionary=texts) as file:
            frame: pd.DataFrame = file.read().to_pandas()
    for name in texts:  # categorical only where the writer said so
        if name in frame and not pyarrow.types.is_dictionary(arrow.field(name).type):
            # NaN, as in a CSV file: imputers know it, None they do not.
            texts_once = np.array([*frame[name].cat.categories, np.nan], dtype=object)
            held = texts_once[frame[name].cat.codes.to_numpy()]
            frame[name] = pd.Series(held, index=frame.index, dtype=object)
    return _with_class_names(frame, arrow)


def _read_feather(path: Path, max_bytes: int) -> pd.DataFrame:
    from pyarrow import feather

    with _whole(path):
        check_declared_size(path.stat().st_size, max_bytes, path)
        table = feather.read_table(path)
        check_declared_size(table.nbytes, max_bytes, path, packed=path.stat().st_size)
        return _with_class_names(table.to_pandas(), table.schema)


def _is_plain(kind: Any) -> bool:
    """Whether a column holds values, encoded pictures (bytes, path), or lists of numbers."""
    from pyarrow import types

    if types.is_struct(kind):
        return {field.name for field in kind} <= {"bytes", "path"}
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return bool(types.is_floating(kind.value_type) or types.is_integer(kind.value_type))
    return not types.is_nested(kind)


def _with_class_names(frame: pd.DataFrame, schema: Any) -> pd.DataFrame:
    """The names of label columns, where Hugging Face datasets has written them."""
    try:
        about = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
        features = about.get("info", {}).get("features", {}).items()
        named = {name: tuple(map(str, kind["names"])) for name, kind in features if "names" in kind}
    except (ValueError, AttributeError, TypeError):
        named = {}
    frame.attrs["class_names"] = named
    return frame


def _width(column: Any) -> int:
    """The bytes of one value in memory."""
    widths = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT96": 12}
    if column.physical_type == "FIXED_LEN_BYTE_ARRAY":
        return max(8, int(column.length))
    return widths.get(column.physical_type, 8)


def _whole(path: str | Path) -> AbstractContextManager[None]:
    from pyarrow import ArrowException

    what = f"Expected a whole Parquet file at {path}."
    return expected(what, (ArrowException, *_DAMAGED), "Copy or write it again.")
