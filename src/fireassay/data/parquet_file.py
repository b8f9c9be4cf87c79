"""Parquet files (extra "tables")."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core.errors import DataError, FireassayError
from fireassay.core.extras import require
from fireassay.core.lazy_modules import pd
from fireassay.core.limits import MAX_BYTES, check_declared_size
from fireassay.data.dataset import DataSet
from fireassay.data.tables import from_frame

# What pyarrow raises besides its own on damaged metadata.
_DAMAGED = (AttributeError, LookupError, OSError, OverflowError, TypeError, ValueError)


def load_parquet(path: str | Path, *, max_bytes: int = MAX_BYTES, **columns: Any) -> DataSet:
    """A data set from a Parquet file; ``columns``: see `from_frame`."""
    path = Path(path)
    columns.setdefault("name", path.stem)
    return from_frame(read_parquet(path, max_bytes=max_bytes), **columns)


def parquet_names(path: str | Path) -> tuple[str, ...]:
    """The columns of a Parquet file."""
    require("pyarrow", "tables", "Reading Parquet")
    from pyarrow import ArrowException
    from pyarrow.parquet import read_schema

    try:
        return tuple(str(name) for name in read_schema(path).names)
    except (ArrowException, OSError) as error:
        raise _damaged(path, error) from error


def read_parquet(path: str | Path, *, max_bytes: int = MAX_BYTES) -> pd.DataFrame:
    """The table of a Parquet file.

    A page can repeat one value a million times in a few bytes: sizes are counted by rows, and a
    text is held once.
    """
    require("pyarrow", "tables", "Reading Parquet")
    import pyarrow
    from pyarrow.parquet import ParquetFile

    path = Path(path)
    try:
        with ParquetFile(path) as file:
            schema, rows = file.schema, file.metadata.num_rows
            columns = [schema.column(i) for i in range(len(schema))]
            nested = [c.path for c in columns if c.max_repetition_level or "." in c.path]
            if nested:
                raise DataError(f"{path} must have plain columns.", got=f"{nested[0]!r} is nested")
            groups = (file.metadata.row_group(i) for i in range(file.metadata.num_row_groups))
            pages = sum(group.total_byte_size for group in groups)
            declared = max(pages, rows * sum(_width(column) for column in columns))
            check_declared_size(declared, max_bytes, path, packed=path.stat().st_size)
            arrow = file.schema_arrow
        texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
        with ParquetFile(path, read_dictionary=texts) as file:
            frame: pd.DataFrame = file.read().to_pandas()
    except FireassayError:
        raise
    except (pyarrow.ArrowException, *_DAMAGED) as error:
        raise _damaged(path, error) from error
    for name in texts:  # categorical only where the writer said so
        if name in frame and not pyarrow.types.is_dictionary(arrow.field(name).type):
            # NaN, as in a CSV file: imputers know it, None they do not.
            texts_once = np.array([*frame[name].cat.categories, np.nan], dtype=object)
            held = texts_once[frame[name].cat.codes.to_numpy()]
            frame[name] = pd.Series(held, index=frame.index, dtype=object)
    return frame


def _width(column: Any) -> int:
    """The bytes of one value in memory."""
    widths = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT96": 12}
    if column.physical_type == "FIXED_LEN_BYTE_ARRAY":
        return max(8, int(column.length))
    return widths.get(column.physical_type, 8)


def _damaged(path: str | Path, error: Exception) -> DataError:
    return DataError(
        f"Expected a whole Parquet file at {path}.", got=str(error), do="Copy or write it again."
    )
