"""CSV files."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from fireassay.core.errors import DataError
from fireassay.core.files import written_whole
from fireassay.core.lazy_modules import pd
from fireassay.core.limits import MAX_BYTES, check_declared_size
from fireassay.data.dataset import DataSet
from fireassay.data.tables import column_roles, from_frame

_DIALECTS = (",", ";", "\t")
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?", re.ASCII)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_MOST_NAMED = 5


def load_csv(
    path: str | Path,
    *,
    label: str | bool | None = None,
    id_column: str | None = None,
    max_bytes: int = MAX_BYTES,
    **columns: Any,
) -> DataSet:
    """A data set from a CSV file with a header; separated by comma, semicolon or tab.

    Cells are values and nothing else: a formula stays the text that it is. Errors name the lines.
    ``columns``: see `from_frame`.
    """
    path = Path(path)
    columns.setdefault("name", path.stem)
    frame = read_csv(path, max_bytes=max_bytes)
    encoder, weight = columns.get("encoder"), columns.get("weight")
    others = [*columns.get("ignore", ()), *([weight] if weight else [])]
    label_name, id_name = column_roles(
        frame.drop(columns=[column for column in others if column in frame]),
        label,
        id_column,
        columns.get("group"),
        columns.get("columns") if encoder is None else encoder.columns,
    )
    for role in (label_name, id_name):
        if role is not None and pd.api.types.is_integer_dtype(frame[role].dtype):
            _refuse_merged(path, frame.columns.get_loc(role))

    def line_of(row: int) -> int:
        return next(islice(_records(path), row + 1, None))[0]

    return from_frame(
        frame, label=label_name or False, id_column=id_name, line_of=line_of, **columns
    )


def read_csv(
    path: str | Path, *, max_bytes: int = MAX_BYTES, rows: int | None = None
) -> pd.DataFrame:
    """The table of a CSV file, or its first rows.

    Raises
    ------
    DataError
        If it is no such file, a column name is repeated, or a row has more or fewer fields than
        the header.
    """
    path = Path(path)
    try:
        check_declared_size(path.stat().st_size, max_bytes, path)
        if rows is None:
            _check_widths(path)
        return pd.read_csv(
            path,
            sep=_separator(path),
            encoding="utf-8-sig",
            compression=None,
            index_col=False,
            low_memory=False,
            nrows=rows,
        )
    except DataError:
        raise
    except (OSError, ValueError, OverflowError, csv.Error) as error:
        raise DataError(
            f"Expected a CSV file (UTF-8, with a header) at {path}.", got=str(error).strip()
        ) from error


def _separator(path: Path) -> str:
    with open(path, encoding="utf-8-sig") as file:
        header = file.readline()
    return max(_DIALECTS, key=header.count)


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The line where each record begins, and its fields; blank lines are no records."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=_separator(path))
        line = 1
        for fields in reader:
            if fields:
                yield line, fields
            line = reader.line_num + 1


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_widths(path: Path) -> None:
    """pandas shifts the columns of wider rows and fills up shorter ones, without a word."""
    records = _records(path)
    _, header = next(records, (1, []))
    if header and all(_is_number(name) for name in header):
        raise DataError(
            f"The first line of {path.name} must name the columns.",
            got=f"numbers alone: {', '.join(header[:_MOST_NAMED])} …",
            do="Write the columns' names above them.",
        )
    repeated = [name for name in header if name and header.count(name) > 1]
    if repeated:
        raise DataError("Each column must have its own name.", got=f"{repeated[0]!r} twice")
    other = [(line, len(fields)) for line, fields in records if len(fields) != len(header)]
    if other:
        named = ", ".join(f"{width} in line {line}" for line, width in other[:_MOST_NAMED])
        more = f" and {len(other) - _MOST_NAMED} more" if len(other) > _MOST_NAMED else ""
        raise DataError(
            f"{path} must have {len(header)} fields in every row, as in its header.",
            got=named + more,
            do="Mend those lines; a cell that holds the separator (a decimal comma?) needs quotes.",
        )


def _refuse_merged(path: Path, column: Any) -> None:
    """Refuse labels or ids that are different texts but the same number: 01 and 1."""
    seen: dict[int, tuple[str, int]] = {}
    for line, fields in islice(_records(path), 1, None):
        text = fields[column].strip()
        first, where = seen.setdefault(int(text), (text, line))
        if first != text:
            raise DataError(
                "Equal labels or ids must be written alike.",
                got=f"{first!r} in line {where} and {text!r} in line {line} of {path}",
                do="Write them alike, or, if they are different, with a letter: c01 and c1.",
            )


def write_csv(frame: pd.DataFrame, path: str | Path) -> Path:
    """Write a table that a spreadsheet shows as text and numbers, and never runs.

    Text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a line end)
    gets a leading apostrophe; numbers stay numbers. The file is there whole, or not at all.

    Parameters
    ----------
    frame
        The table.
    path
        Of the file.

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

    Parameters
    ----------
    value
        Of any type; only text can be changed.

    >>> safe_cell("=cmd()"), safe_cell("cat"), safe_cell(-1.5), safe_cell("-1.5")
    ("'=cmd()", 'cat', -1.5, '-1.5')
    """
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    return value if _NUMBER.fullmatch(value) else f"'{value}"
