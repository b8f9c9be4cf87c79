"""CSV files."""

from pathlib import Path
from typing import Any

import pandas as pd

from fireassay.core.errors import DataError
from fireassay.core.files import written_whole
from fireassay.data.dataset import DataSet
from fireassay.data.limits import MAX_BYTES, check_declared_size
from fireassay.data.tables import from_frame

_DIALECTS = (",", ";", "\t")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def load_csv(path: str | Path, *, max_bytes: int = MAX_BYTES, **columns: Any) -> DataSet:
    """A data set from a CSV file with a header; separated by comma, semicolon or tab.

    Cells are values and nothing else: a formula stays the text that it is.
    ``columns``: see `from_frame`.
    """
    path = Path(path)
    columns.setdefault("name", path.stem)
    return from_frame(read_csv(path, max_bytes=max_bytes), **columns)


def read_csv(
    path: str | Path, *, max_bytes: int = MAX_BYTES, rows: int | None = None
) -> pd.DataFrame:
    """The table of a CSV file, or its first rows."""
    path = Path(path)
    try:
        check_declared_size(path.stat().st_size, max_bytes, path)
        with open(path, encoding="utf-8-sig") as file:
            header = file.readline()
        separator = max(_DIALECTS, key=header.count)
        return pd.read_csv(path, sep=separator, encoding="utf-8-sig", compression=None, nrows=rows)
    except DataError:
        raise
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise DataError(
            f"Expected a CSV file (UTF-8, with a header) at {path}.", got=str(error).strip()
        ) from error


def write_csv(frame: pd.DataFrame, path: str | Path) -> Path:
    """Write a table that a spreadsheet shows as text and numbers, and never runs.

    Text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a line end)
    gets a leading apostrophe; numbers stay numbers. The file is there whole, or not at all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_csv(pd.DataFrame({"note": ["=1+1"]}), Path(folder) / "notes.csv")
    ...     print(path.read_text().split())
    ['note', "'=1+1"]
    """
    path = Path(path)
    safe = frame.copy()
    for i, column in enumerate(frame.columns):
        if not pd.api.types.is_numeric_dtype(frame.dtypes.iloc[i]):
            safe.isetitem(i, [safe_cell(value) for value in frame.iloc[:, i].tolist()])
        safe = safe.rename(columns={column: safe_cell(column)})
    try:
        with written_whole(path) as temporary:
            safe.to_csv(temporary, index=False)
    except OSError as error:
        raise DataError(f"{path} must be writable.", got=str(error)) from error
    return path


def safe_cell(value: Any) -> Any:
    """A value that no spreadsheet takes for a formula.

    >>> safe_cell("=cmd()"), safe_cell("cat"), safe_cell(-1.5)
    ("'=cmd()", 'cat', -1.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
