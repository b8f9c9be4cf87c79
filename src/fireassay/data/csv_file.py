"""CSV files."""

from __future__ import annotations

import codecs
import csv
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core.errors import AssumptionWarning, DataError
from fireassay.core.files import MAX_BYTES, check_declared_size, written_whole
from fireassay.core.lazy import pd

_DIALECTS = (",", ";", "\t", "|")
_NUMBER = re.compile(r"-\d+(\.\d*)?([eE][-+]?\d+)?", re.ASCII)  # starts like a formula
_MEASURED = re.compile(r"[-+]?\d*\.\d+(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)
_WITH_COMMA = r"-?[0-9]*,?[0-9]+(?:[eE]-?[0-9]+)?"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_MOST_NAMED = 5
_PIECE_BYTES = 2**20
_LINE_END = ord("\n")


@dataclass(frozen=True)
class Reading:
    """What a CSV file does not say of itself: its encoding, its header, its missing values."""

    encoding: str | None = None
    header: bool | None = None
    na: tuple[str, ...] = ()


_AS_USUAL = Reading()


def refuse_merged_roles(path: Path, frame: pd.DataFrame, roles: Any, reading: Reading) -> None:
    """Refuse labels or ids that are different texts but the same number: 01 and 1."""
    for role in roles:
        if role is not None and pd.api.types.is_integer_dtype(frame[role].dtype):
            _refuse_merged(path, frame.columns.get_loc(role), reading)


def line_of(path: Path, row: int, reading: Reading) -> int:
    """The line where a row of the table begins."""
    before = 0 if reading.header is False else 1
    return next(islice(_records(path, reading), row + before, None))[0]


def read_csv(
    path: str | Path,
    *,
    max_bytes: int = MAX_BYTES,
    rows: int | None = None,
    column: str | None = None,
    reading: Reading = _AS_USUAL,
    **options: Any,
) -> pd.DataFrame:
    """The table of a CSV file, its first rows, or one of its columns; ``options`` are of pandas."""
    path = Path(path)
    try:
        check_declared_size(path.stat().st_size, max_bytes, path)
        if rows is None and column is None:
            _check_widths(path, reading)
        separator, skipped = _dialect(path, reading)
        frame = pd.read_csv(
            path,
            sep=separator,
            encoding=_encoding(path, reading).removesuffix("-sig"),  # pandas knows the mark
            compression=None,
            index_col=False,
            low_memory=False,
            header=None if reading.header is False else 0,
            skiprows=skipped,
            nrows=rows,
            **{
                "usecols": None if column is None else [column],
                "na_values": list(reading.na),
                **options,
            },
        )
    except DataError:
        raise
    except (OSError, ValueError, LookupError, OverflowError, csv.Error) as error:
        foreign = isinstance(error, UnicodeError)
        raise DataError(
            f"Expected a CSV file (UTF-8, with a header) at {path}.",
            got=str(error).strip(),
            do="Save it as UTF-8; init takes --encoding latin-1 (cp1252, …)." if foreign else None,
        ) from error
    return with_points(frame) if separator == ";" and rows is None and not options else frame


def with_points(frame: pd.DataFrame) -> pd.DataFrame:
    """Numbers with decimal commas as numbers, where a column has nothing else; it is said."""
    found = []
    for name in frame.columns:
        column = frame[name]
        if not pd.api.types.is_string_dtype(column.dtype):
            continue
        cells = column.dropna().astype(str).str.strip()
        if len(cells) and cells.str.fullmatch(_WITH_COMMA).all():
            frame[name] = pd.to_numeric(column.astype(object).str.replace(",", "."))
            found.append(str(name))
    if found:
        warnings.warn(
            f"Commas are read as decimal points in: {', '.join(found[:_MOST_NAMED])}.",
            AssumptionWarning,
            stacklevel=3,
        )
    return frame


def _encoding(path: Path, reading: Reading) -> str:
    with open(path, "rb") as file:
        marked = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return reading.encoding or ("utf-16" if marked else "utf-8-sig")


def _dialect(path: Path, reading: Reading) -> tuple[str, int]:
    """The separator, and how many lines of comment stand above the header."""
    with open(path, encoding=_encoding(path, reading)) as file:
        first = list(islice(file, _MOST_COMMENTS))
    above = len(list(takewhile(lambda line: line.startswith(("#", "sep=")), first)))
    header = first[above] if above < len(first) else ""
    separator = max(_DIALECTS, key=header.count)
    last = first[above - 1] if above else "sep="
    if not last.startswith("sep=") and last.count(separator) == header.count(separator):
        return separator, 0  # a header that begins with #
    return separator, above


_MOST_COMMENTS = 100


def separator_of(path: Path, reading: Reading = _AS_USUAL) -> str:
    """What stands between the fields of a file."""
    return _dialect(path, reading)[0]


def _records(path: Path, reading: Reading = _AS_USUAL) -> Iterator[tuple[int, list[str]]]:
    """The line where each record begins, and its fields; blank lines are no records."""
    separator, skipped = _dialect(path, reading)
    with open(path, encoding=_encoding(path, reading), newline="") as file:
        reader = csv.reader(islice(file, skipped, None), delimiter=separator)
        line = 1
        for fields in reader:
            if fields:
                yield skipped + line, fields
            line = reader.line_num + 1


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_widths(path: Path, reading: Reading) -> None:
    """pandas shifts the columns of wider rows and fills up shorter ones, without a word."""
    records = _records(path, reading)
    first, header = next(records, (1, []))
    if reading.header is None and header:
        measured = [name for name in header if _MEASURED.fullmatch(name.strip())]
        if all(_is_number(name) for name in header) or measured:
            raise DataError(
                f"The first line of {path.name} must name the columns.",
                got=f"numbers: {', '.join((measured or header)[:_MOST_NAMED])} …",
                do="Write names there; init takes --no-header, or --header if these are names.",
            )
    repeated = [name for name in header if name and header.count(name) > 1]
    if repeated and reading.header is not False:
        raise DataError("Each column must have its own name.", got=f"{repeated[0]!r} twice")
    width = len(header)
    usual = header and reading == _AS_USUAL and first == 1
    if usual and _evenly_cut(path, separator_of(path), width):
        return
    other = [(line, len(fields)) for line, fields in records if len(fields) != width]
    if other:
        named = ", ".join(f"{width} in line {line}" for line, width in other[:_MOST_NAMED])
        more = f" and {len(other) - _MOST_NAMED} more" if len(other) > _MOST_NAMED else ""
        raise DataError(
            f"{path} must have {width} fields in every row, as in line {first}.",
            got=named + more,
            do="Mend those lines; a cell that holds the separator (a decimal comma?) needs quotes.",
        )


def _evenly_cut(path: Path, separator: str, width: int) -> bool:
    """Whether each line has so many fields, seen without reading them; quotes hide it."""
    cut, rest = separator.encode(), b""
    line = cut * (width - 1) + b"\n"
    with open(path, "rb") as file:
        while chunk := file.read(_PIECE_BYTES):
            whole, end, rest = (rest + chunk).rpartition(b"\n")
            if b'"' in chunk or (b"\r" in whole and _has_lone_returns(whole)):
                return False
            content = np.frombuffer(whole + end, dtype=np.uint8)
            cuts = content[np.flatnonzero((content == _LINE_END) | (content == cut[0]))]
            if len(cuts) % width or cuts.tobytes() != line * (len(cuts) // width):
                return False
    return b"\r" not in rest and (not rest or rest.count(cut) == width - 1)


def _has_lone_returns(whole: bytes) -> bool:
    return whole.count(b"\r") > whole.count(b"\r\n") + whole.endswith(b"\r")


def _refuse_merged(path: Path, column: Any, reading: Reading) -> None:
    cells = read_csv(path, reading=reading, usecols=[column], dtype=str, keep_default_na=False)
    texts = cells.iloc[:, 0].str.strip().unique()
    if len({int(text) for text in texts}) == len(texts):
        return
    seen: dict[int, tuple[str, int]] = {}
    for line, fields in islice(_records(path, reading), reading.header is not False, None):
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

    Args:
        frame: The table.
        path: Of the file.

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

    Args:
        value: Of any type; only text can be changed.

    >>> safe_cell("=cmd()"), safe_cell("cat"), safe_cell(-1.5), safe_cell("-1.5")
    ("'=cmd()", 'cat', -1.5, '-1.5')
    """
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    return value if _NUMBER.fullmatch(value) else f"'{value}"
