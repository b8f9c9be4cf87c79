"""A line of a watched stream: a row, an answer, a label, or several of these."""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fireassay.assessment.watched_table import WatchedTable
from fireassay.core import DataError, strict_json
from fireassay.data import DataSet


@dataclass(frozen=True)
class Columns:
    """What the columns of a table, or the keys of a JSON line, are called."""

    id: str = "id"
    answer: str = "answer"
    label: str = "label"


@dataclass(frozen=True)
class Line:
    """One line, read: which row it is about, and what it brings.

    Attributes
    ----------
    id
        By which a label that comes later is matched to its row.
    row
        The row as the model takes it, shape (1, …); None where the line only brings a label.
    answer, label
        What was answered (None: ask the model) and what would have been right, as text.
    """

    id: str | None = None
    row: Any = None
    answer: str | None = None
    label: str | None = None


class LineReader:
    """Reads lines of CSV and JSON into rows like those of a reference.

    >>> reference = DataSet(np.zeros((2, 3)), [0, 1])
    >>> line = LineReader(reference).read('{"id": 7, "row": [1, 2, 3], "label": 1}', "")
    >>> line.id, line.row.shape, line.label
    ('7', (1, 3), '1')
    """

    def __init__(self, reference: DataSet, columns: Columns | None = None) -> None:
        self.columns = columns or Columns()
        self._encoder = reference.encoder
        self._shape = reference.X.shape[1:]
        self._names = reference.feature_names if self._encoder is None else self._encoder.columns
        self._table = WatchedTable.of(reference)

    def read(self, text: str, header: str) -> Line:
        """One line; ``header`` is the first line of its table, or '' for JSON.

        Raises
        ------
        DataError
            If the line cannot be understood.
        """
        return self._of_json(text) if not header else self._of_table(text, header)

    def _of_json(self, text: str) -> Line:
        found = strict_json.loads(text)
        names = self.columns
        known = {"row", names.id, names.answer, names.label}
        if not isinstance(found, dict) or not found.keys() <= known:
            raise DataError(
                f"A line must be a JSON object with some of {', '.join(sorted(known))}.",
                got=text[:80],
            )
        row = found.get("row")
        fields = [as_text(found.get(name)) for name in (names.id, names.answer, names.label)]
        if isinstance(row, dict):
            row = self._encoded(row)
        elif row is not None:
            row = self._shaped(row)
        return _whole(Line(fields[0], row, fields[1], fields[2]), text)

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
        return _whole(Line(own[0], row, own[1], own[2]), text)

    def _special(self) -> tuple[str, str, str]:
        return self.columns.id, self.columns.answer, self.columns.label

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
    """An id, answer or class as text: 1, 1.0 and "1" are the same.

    >>> as_text(1.0), as_text("cat"), as_text(None)
    ('1', 'cat', None)
    """
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def _whole(line: Line, text: str) -> Line:
    if line.row is None and line.label is None and line.answer is None:
        raise DataError("A line must bring a row, an answer or a label.", got=text[:80])
    return line
