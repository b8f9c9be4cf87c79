"""CSV files."""

from pathlib import Path
from typing import Any

import pandas as pd

from fireassay.core.errors import DataError
from fireassay.data.dataset import DataSet
from fireassay.data.limits import MAX_BYTES, check_declared_size
from fireassay.data.tables import from_frame

_DIALECTS = (",", ";", "\t")


def load_csv(path: str | Path, *, max_bytes: int = MAX_BYTES, **columns: Any) -> DataSet:
    """A data set from a CSV file with a header; separated by comma, semicolon or tab.

    Cells are values and nothing else: a formula stays the text that it is.
    ``columns``: see `from_frame`.
    """
    path = Path(path)
    columns.setdefault("name", path.stem)
    return from_frame(read_csv(path, max_bytes=max_bytes), **columns)


def read_csv(path: str | Path, *, max_bytes: int = MAX_BYTES) -> pd.DataFrame:
    """The table of a CSV file."""
    path = Path(path)
    try:
        check_declared_size(path.stat().st_size, max_bytes, path)
        with open(path, encoding="utf-8-sig") as file:
            header = file.readline()
        separator = max(_DIALECTS, key=header.count)
        return pd.read_csv(path, sep=separator, encoding="utf-8-sig", compression=None)
    except DataError:
        raise
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise DataError(
            f"Expected a CSV file (UTF-8, with a header) at {path}.", got=str(error).strip()
        ) from error
