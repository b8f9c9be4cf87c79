"""Parquet files (extra "tables")."""

from pathlib import Path
from typing import Any

import pandas as pd

from fireassay.core.errors import DataError
from fireassay.core.extras import require
from fireassay.data.dataset import DataSet
from fireassay.data.limits import MAX_BYTES, check_declared_size
from fireassay.data.tables import from_frame


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
    """The table of a Parquet file."""
    require("pyarrow", "tables", "Reading Parquet")
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            groups = range(file.metadata.num_row_groups)
            declared = sum(file.metadata.row_group(i).total_byte_size for i in groups)
            check_declared_size(declared, max_bytes, path)
            frame: pd.DataFrame = file.read().to_pandas()
    except (ArrowException, OSError) as error:
        raise _damaged(path, error) from error
    return frame


def _damaged(path: str | Path, error: Exception) -> DataError:
    return DataError(
        f"Expected a whole Parquet file at {path}.", got=str(error), do="Copy or write it again."
    )
