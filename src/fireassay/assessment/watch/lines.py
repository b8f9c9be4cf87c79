"""Lines of a watched stream, from files or standard input: a row, an answer, a label."""

import csv
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from fireassay.assessment.coded_rows import CodedSet, coded_sets
from fireassay.classifiers import Classifier
from fireassay.core import DataError, json_files
from fireassay.core.arrays import FloatArray
from fireassay.core.lazy import pd
from fireassay.data import Codebook, DataSet

_NEVER_AGAIN = ("text", "date")


def watched_rows(model: Classifier, rows: DataSet) -> tuple[Classifier, DataSet]:
    """The model and its reference; of a table with names the model of its codes, and these."""
    kinds = set(rows.kinds or ())
    if rows.rows.is_text or (rows.rows.is_frame and kinds & set(_NEVER_AGAIN)):
        raise DataError(
            "fireassay watch takes rows of numbers and names, with or without holes.",
            got=f"rows of {', '.join(sorted(kinds))}",
            do="Give it a function that makes numbers of texts and dates first.",
        )
    model, made = coded_sets(model, {"reference": rows})
    return model, made["reference"]


@dataclass(frozen=True, eq=False)
class WatchedTable:
    """How the fields of a line become codes like those of the reference."""

    book: Codebook
    places: tuple[dict[str, float], ...]

    @classmethod
    def of(cls, reference: DataSet) -> "WatchedTable | None":
        """Of a coded table; None for rows of numbers."""
        if not isinstance(reference, CodedSet) or not reference.rows.is_frame:
            return None
        book = reference.rows.codebook
        return cls(book, tuple(_places(column.levels) for column in book.columns))

    def codes(self, fields: Mapping[str, Any]) -> FloatArray:
        """The codes of one row, shape (1, columns)."""
        found = []
        for column, places in zip(self.book.columns, self.places, strict=True):
            if column.name not in fields:
                raise DataError(f"A row must have the column {column.name!r}.", got="none")
            value = fields[column.name]
            empty = value is None or value == ""
            code = column.hole_code if empty else places.get(str(value), np.nan)
            if column.levels is None and not empty:
                code = _number(value, column.name, whole=np.dtype(column.dtype).kind in "iu")
            if np.isnan(code):
                raise DataError(
                    f"Column {column.name!r} must have a value that a reference row has.",
                    got="none" if empty else repr(value),
                )
            found.append(code)
        return np.array([found], dtype=np.float64)


def _places(levels: Any) -> dict[str, float]:
    """The code of each name, as it is written; true and false in either way."""
    found: dict[str, float] = {}
    for code, value in enumerate(() if levels is None else levels):
        if not pd.isna(value):
            found[str(value)] = float(code)
            if isinstance(value, bool | np.bool_):
                found[str(value).lower()] = float(code)
    return found


def _number(value: Any, name: str, *, whole: bool) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise DataError(f"Column {name!r} must have numbers.", got=repr(value)) from error
    if not np.isfinite(number) or (whole and number != round(number)):
        kind = "whole" if whole else "finite"
        raise DataError(f"Column {name!r} must have {kind} numbers.", got=repr(value))
    return number


@dataclass(frozen=True)
class Columns:
    """What the columns of a table, or the keys of a JSON line, are called."""

    id: str = "id"
    answer: str = "answer"
    label: str = "label"
    group: str | None = None


@dataclass(frozen=True)
class Line:
    """One line, read: which row it is about, and what it brings."""

    id: str | None = None
    row: Any = None
    answer: str | None = None
    label: str | None = None
    group: str | None = None


class LineReader:
    """Reads lines of CSV and JSON into rows like those of a reference."""

    def __init__(self, reference: DataSet, columns: Columns | None = None) -> None:
        self.columns = columns or Columns()
        self._encoder = reference.encoder
        self._shape = reference.X.shape[1:]
        self._names = reference.feature_names if self._encoder is None else self._encoder.columns
        self._table = WatchedTable.of(reference)

    def read(self, text: str, header: str) -> Line:
        """One line; ``header`` is the first line of its table, or '' for JSON."""
        return self._of_json(text) if not header else self._of_table(text, header)

    def _of_json(self, text: str) -> Line:
        found = json_files.loads(text)
        known = {"row", *self._special()}
        if not isinstance(found, dict) or not found.keys() <= known:
            raise DataError(
                f"A line must be a JSON object with some of {', '.join(sorted(known))}.",
                got=text[:80],
            )
        row = found.get("row")
        fields = [as_text(found.get(name)) for name in self._special()]
        if isinstance(row, dict):
            row = self._encoded(row)
        elif row is not None:
            row = self._shaped(row)
        return self._whole(fields, row, text)

    def _of_table(self, text: str, header: str) -> Line:
        comma = "\t" if "\t" in header else ","
        names, values = (next(csv.reader([line], delimiter=comma), []) for line in (header, text))
        if len(names) != len(values):
            raise DataError(f"A line must have {len(names)} fields.", got=f"{len(values)}")
        fields = dict(zip(names, values, strict=True))
        own = [fields.pop(name, "") or None for name in self._special()]
        row = None
        if self._names is not None:
            given = [fields.get(column, "") for column in self._names]
            row = self._encoded(fields) if any(given) else None
        elif any(fields.values()):
            row = self._shaped(list(fields.values()))
        return self._whole(own, row, text)

    def _special(self) -> tuple[str, ...]:
        names = self.columns
        return (names.id, names.answer, names.label, *filter(None, [names.group]))

    def _whole(self, fields: Sequence[str | None], row: Any, text: str) -> Line:
        line = Line(fields[0], row, fields[1], fields[2], *fields[3:])
        if line.row is None and line.label is None and line.answer is None:
            raise DataError("A line must bring a row, an answer or a label.", got=text[:80])
        answered = line.row is not None or line.answer is not None
        if answered and self.columns.group and line.group is None:
            raise DataError(f"A row must have its {self.columns.group}.", got=text[:80])
        return line

    def _encoded(self, fields: dict[str, Any]) -> Any:
        import pandas as pd

        if self._names is None:
            raise DataError("A row must be a list of numbers: the reference has no column names.")
        if self._table is not None:
            return self._table.codes(fields)
        if self._encoder is None:
            missing = [name for name in self._names if name not in fields]
            if missing:
                raise DataError(f"A row must have the column {missing[0]!r}.", got="none")
            return self._shaped([fields[name] for name in self._names])
        return self._finite(self._encoder.transform(pd.DataFrame([fields])))

    def _shaped(self, row: Sequence[Any]) -> Any:
        if self._table is not None:
            raise DataError("A row of a table must name its columns.", got=str(row)[:80])
        try:
            values = np.asarray(row, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError("A row must be numbers.", got=str(row)[:80]) from error
        if values.size != math.prod(self._shape):
            raise DataError(f"A row must have shape {self._shape}.", got=f"{values.shape}")
        return self._finite(values.reshape(1, *self._shape))

    @staticmethod
    def _finite(row: Any) -> Any:
        if not np.isfinite(row).all():
            raise DataError("A row must be finite numbers.", got="NaN or infinity")
        return row


def as_text(value: Any) -> str | None:
    """An id, answer or class as text: 1, 1.0 and "1" are the same."""
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


TABLES, JSON_LINES = (".csv", ".tsv"), (".jsonl", ".ndjson")
_AT_ONCE = 2000
_LONGEST = 1 << 24
_HEAD = 256
_HEAP = 1 << 16


@dataclass(frozen=True)
class Cursor:
    """How far a source has been read; a later start goes on from here."""

    file: str = ""
    offset: int = 0
    head: str = ""
    header: str = ""
    lines: int = 0


@dataclass(frozen=True)
class Lines:
    """Some whole lines, the header they belong to ('' for JSON), and the cursor after them."""

    lines: tuple[str, ...]
    header: str
    cursor: Cursor


def new_lines(source: Path, cursor: Cursor) -> Iterator[Lines]:
    """What came since, some lines at a time, oldest first."""
    if not source.is_dir():
        yield from _of_file(source, cursor, ended=False)
        return
    names = sorted(p.name for p in source.iterdir() if _is_source(p) and p.name >= cursor.file)
    for position, name in enumerate(names):
        ended = position + 1 < len(names)
        if name != cursor.file:
            cursor = Cursor(file=name, lines=cursor.lines)
        for some in _of_file(source / name, cursor, ended=ended):
            cursor = some.cursor
            yield some


def lines_of(stream: Any, skip: int, cursor: Cursor) -> Iterator[Lines]:
    """JSON lines from a binary stream, as they come; the first ``skip`` were read before."""
    left, seen = b"", 0
    while True:
        came = stream.read1(_HEAP)  # what is there, not what may come
        *whole, left = (left + came).split(b"\n")
        if not came and left:
            whole, left = [left], b""
        fresh = [_decoded(line, Path("stdin")) for line in whole][max(0, skip - seen) :]
        seen += len(whole)
        if fresh:
            cursor = replace(cursor, lines=cursor.lines + len(fresh))
            yield Lines(tuple(fresh), "", cursor)
        if not came:
            return


def _is_source(path: Path) -> bool:
    return path.suffix.lower() in (*TABLES, *JSON_LINES) and not path.name.startswith(".")


def _of_file(path: Path, cursor: Cursor, *, ended: bool) -> Iterator[Lines]:
    if not path.is_file():
        raise DataError("Expected a file that grows, a folder of such files, or -.", got=str(path))
    if not _is_source(path):
        known = ", ".join((*TABLES, *JSON_LINES))
        raise DataError(f"A file that is watched must end in {known}.", got=path.name)
    with path.open("rb") as file:
        _check_same(file, cursor, path)
        file.seek(cursor.offset)
        while True:
            raw = _whole_lines(file, ended=ended)
            if not raw:
                return
            text = [_decoded(line, path) for line in raw]
            offset, header = cursor.offset + sum(map(len, raw)), cursor.header
            if cursor.offset == 0 and path.suffix.lower() in TABLES:
                header, text = text[0], text[1:]
            cursor = replace(
                cursor,
                offset=offset,
                header=header,
                head=_head(file, offset),
                lines=cursor.lines + len(text),
            )
            file.seek(offset)
            yield Lines(tuple(text), header, cursor)


def _whole_lines(file: IO[bytes], *, ended: bool) -> list[bytes]:
    found: list[bytes] = []
    while len(found) < _AT_ONCE:
        line = file.readline(_LONGEST)
        if not line or not (line.endswith(b"\n") or ended):
            if len(line) == _LONGEST:
                raise DataError(f"A line must be shorter than {_LONGEST:,} bytes.", got="more")
            break
        found.append(line)
    return found


def _decoded(line: bytes, path: Path) -> str:
    try:
        return line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name} must be UTF-8 text.", got=str(error)) from error


def _head(file: IO[bytes], offset: int) -> str:
    """The first bytes of those that were read."""
    file.seek(0)
    size = min(offset, _HEAD)
    return f"{size}:{hashlib.sha256(file.read(size)).hexdigest()}"


def _check_same(file: IO[bytes], cursor: Cursor, path: Path) -> None:
    if not cursor.head:
        return
    size = file.seek(0, 2)
    if size < cursor.offset or _head(file, int(cursor.head.partition(":")[0])) != cursor.head:
        raise DataError(
            f"{path} must only grow at its end while it is watched.",
            got="a file that was cut or replaced",
            do="Watch a folder and give each new file a later name, or begin with a new --output.",
        )
