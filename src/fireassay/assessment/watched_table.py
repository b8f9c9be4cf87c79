"""Lines of a table with names and holes, as codes that a watched model takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fireassay.assessment.coded_context import CodedSet, coded_sets
from fireassay.classifiers import Classifier
from fireassay.core import DataError
from fireassay.core.arrays import FloatArray
from fireassay.core.lazy_modules import pd
from fireassay.data import Codebook, DataSet

_NEVER_AGAIN = ("text", "date")


def watched_rows(model: Classifier, rows: DataSet) -> tuple[Classifier, DataSet]:
    """The model and its reference; of a table with names the model of its codes, and these.

    Raises
    ------
    DataError
        For texts and dates, of which hardly a new one was in the reference.
    """
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
        """The codes of one row, shape (1, columns).

        Raises
        ------
        DataError
            For a column that is not there, a name or a hole that the reference has not, and for
            what should be a number and is none.
        """
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
