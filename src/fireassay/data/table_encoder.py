"""Tables with text columns as numbers: learnt on one table, applied unchanged to others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fireassay.core.errors import DataError
from fireassay.core.lazy import pd

_MOST_CATEGORIES = 1000


@dataclass(frozen=True)
class TableEncoder:
    """One-hot codes for the text columns of a table; numbers stay as they are.

    Attributes:
        columns: The table's columns, in order.
        categories: For each column its categories in sorted order, or None for a column of numbers.

    >>> train = pd.DataFrame({"age": [40, 61], "sex": ["f", "m"]})
    >>> encoder = TableEncoder.fit(train)
    >>> encoder.feature_names
    ('age', 'sex=f', 'sex=m')
    >>> encoder.transform(pd.DataFrame({"sex": ["m"], "age": [50]})).tolist()
    [[50.0, 0.0, 1.0]]
    """

    columns: tuple[str, ...]
    categories: tuple[tuple[str, ...] | None, ...]

    @classmethod
    def fit(cls, frame: pd.DataFrame, categorical: Sequence[str] = ()) -> TableEncoder:
        """Learn the columns and their categories from a table.

        The columns of ``categorical`` get categories, also where they look like numbers.
        """
        columns = tuple(str(column) for column in frame.columns)
        if len(set(columns)) != len(columns):
            repeated = next(column for column in columns if columns.count(column) > 1)
            raise DataError("Each column must have its own name.", got=f"{repeated!r} twice")
        if not columns:
            raise DataError("A table must have at least one feature column.", got="none")
        series = (frame.iloc[:, i] for i in range(len(columns)))
        pairs = zip(columns, series, strict=True)
        return cls(columns, tuple(_categories(v, name in categorical) for name, v in pairs))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the encoded features: ``age``, ``sex=f``, ``sex=m``."""
        names: list[str] = []
        for column, categories in zip(self.columns, self.categories, strict=True):
            names += [column] if categories is None else [f"{column}={c}" for c in categories]
        return tuple(names)

    def transform(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Encode a table that has these columns, in any order; others are left out.

        Raises:
            DataError: For a missing column, an unknown category or a value that is no number.
        """
        named = {str(column): i for i, column in enumerate(frame.columns)}
        blocks = []
        for column, categories in zip(self.columns, self.categories, strict=True):
            if column not in named:
                listed = ", ".join(list(named)[:8])
                raise DataError(f"The table must have the column {column!r}.", got=listed)
            values = frame.iloc[:, named[column]]
            if categories is None:
                blocks.append(_numbers(values, column)[:, None])
            else:
                blocks.append(_one_hot(values, column, categories))
        return np.concatenate(blocks, axis=1)


def _categories(values: pd.Series[Any], declared: bool) -> tuple[str, ...] | None:
    if not declared and _is_numeric(values):
        return None
    if isinstance(values.dtype, pd.CategoricalDtype):
        return tuple(sorted(str(category) for category in values.cat.categories))
    _refuse_dates(values)
    found = sorted({str(value) for value in values.dropna().tolist()})
    if len(found) > _MOST_CATEGORIES or (len(found) > 50 and len(found) == len(values)):
        raise DataError(
            f"A text column must be categorical, with at most {_MOST_CATEGORIES} values that "
            "repeat.",
            got=f"{len(found)} different values in column {values.name!r}",
            do="Name it as id_column, drop it, or turn it into features first.",
        )
    return tuple(found)


def _one_hot(
    values: pd.Series[Any], column: str, categories: tuple[str, ...]
) -> NDArray[np.float64]:
    _refuse_missing(values, column)
    position = {category: i for i, category in enumerate(categories)}
    codes = np.zeros((len(values), len(categories)))
    for row, value in enumerate(values.tolist()):
        if str(value) not in position:
            raise DataError(
                f"Column {column!r} must have one of its {len(categories)} known values.",
                got=f"{value!r} in row {row}",
                do="Fit the encoder on data that has it, or drop those rows.",
            )
        codes[row, position[str(value)]] = 1.0
    return codes


def _numbers(values: pd.Series[Any], column: str) -> NDArray[np.float64]:
    _refuse_missing(values, column)
    if not _is_numeric(values):
        converted = pd.to_numeric(values, errors="coerce")
        bad = converted.isna().to_numpy()
        if bad.any():
            row = int(bad.argmax())
            raise DataError(
                f"Column {column!r} must be numbers, as in the data it was learnt from.",
                got=f"{values.iloc[row]!r} in row {row}",
            )
        values = converted
    return cast("NDArray[np.float64]", values.to_numpy(dtype=np.float64))


def _is_numeric(values: pd.Series[Any]) -> bool:
    if pd.api.types.is_complex_dtype(values.dtype):
        raise DataError(f"Column {values.name!r} must be real numbers.", got="complex numbers")
    return pd.api.types.is_numeric_dtype(values.dtype) or pd.api.types.is_bool_dtype(values.dtype)


def _refuse_missing(values: pd.Series[Any], column: str) -> None:
    missing = values.isna().to_numpy()
    if missing.any():
        raise DataError(
            f"Column {column!r} must not have missing values.",
            got=f"{int(missing.sum())} missing, first in row {int(missing.argmax())}",
            do="Impute or drop those rows first; fireassay does not guess values.",
        )


def _refuse_dates(values: pd.Series[Any]) -> None:
    if values.dtype.kind in "mM":
        raise DataError(
            f"Column {values.name!r} must be numbers or categories.",
            got="dates or times",
            do="Turn them into numbers (an age, an hour of the day) or drop the column.",
        )
