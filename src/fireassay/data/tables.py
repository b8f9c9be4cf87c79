"""Tables as data sets: which column is the label, which one the id, and text as numbers."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fireassay.core.errors import AssumptionWarning, DataError
from fireassay.core.limits import check_text_size
from fireassay.data.dataset import DataSet
from fireassay.data.mixed_columns import refuse_mixed
from fireassay.data.table_encoder import TableEncoder

_LABELS = ("label", "labels", "y", "target", "class")
_IDS = ("id", "ids", "unnamed: 0")
_MOST_CLASSES = 100
_NO_LABEL = "Drop those rows, or load the table with label=False."


def from_frame(
    frame: pd.DataFrame,
    *,
    label: str | bool | None = None,
    id_column: str | None = None,
    group: str | None = None,
    encoder: TableEncoder | None = None,
    categorical: Sequence[str] = (),
    line_of: Callable[[int], int] | None = None,
    name: str = "",
) -> DataSet:
    """A data set from a pandas frame; text and categorical columns are one-hot encoded.

    Parameters
    ----------
    frame
        One row per item.
    label
        The column of labels. None: a column named label, y, target or class, else the last one
        if its values look like classes (with a warning). False: no labels.
    id_column
        The column of identifiers; None: a column named id, or a written-out row index.
    group
        The column that says which rows belong together (patient, device); it is no feature.
    encoder
        The ``encoder`` of the data a model was trained on, so that this table gets the same
        features; None: learn one here.
    categorical
        Columns whose values are names, also where they look like numbers.
    name
        Of the data set.
    line_of
        The line of the file that a row stands in, for the texts of errors.

    Raises
    ------
    DataError
        If a column is mostly numbers but has text in it (a typo makes every number a category),
        or has decimal commas, and is not declared categorical; and for missing values.

    >>> frame = pd.DataFrame({"age": [40, 50], "ward": ["A", "B"], "label": ["ill", "well"]})
    >>> data = from_frame(frame)
    >>> data.feature_names, data.classes
    (('age', 'ward=A', 'ward=B'), ('ill', 'well'))
    """
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    if not len(frame):
        raise DataError("A table must have at least one row.", got="0 rows")
    label_name, id_name = column_roles(frame, label, id_column, group, encoder)
    groups = None
    if group is not None:
        groups = _whole_column(frame, group, "group", "Drop those rows, or give them a group.")
    roles = [name for name in (label_name, id_name, group) if name is not None]
    features = frame.drop(columns=roles)
    for column in categorical:
        _check_column(features, column, "categorical")
    named = set(categorical) | _names_of(encoder)
    for i, column in enumerate(features.columns):
        if column not in named:
            refuse_mixed(features.iloc[:, i], line_of)
    encoder = encoder or TableEncoder.fit(features, categorical)
    return DataSet(
        encoder.transform(features),
        None if label_name is None else _whole_column(frame, label_name, "label", _NO_LABEL),
        None if id_name is None else frame[id_name].to_numpy(),
        feature_names=encoder.feature_names,
        name=name,
        encoder=encoder,
        groups=groups,
    )


def column_roles(
    frame: pd.DataFrame,
    label: str | bool | None,
    id_column: str | None,
    group: str | None,
    encoder: TableEncoder | None,
) -> tuple[str | None, str | None]:
    """The column of labels and the column of identifiers, as asked for or by their names."""
    candidates = frame
    if group is not None:
        _check_column(frame, group, "group")
        candidates = frame.drop(columns=[group])
    id_name = _id_column(candidates, id_column)
    candidates = candidates.drop(columns=[id_name]) if id_name is not None else candidates
    return _label_column(candidates, label, encoder), id_name


def _names_of(encoder: TableEncoder | None) -> set[str]:
    """The columns that an encoder knows as categorical."""
    if encoder is None:
        return set()
    pairs = zip(encoder.columns, encoder.categories, strict=True)
    return {column for column, categories in pairs if categories is not None}


def _whole_column(frame: pd.DataFrame, column: str, role: str, do: str) -> Any:
    values = frame[column]
    missing = values.isna().to_numpy()
    if missing.any():
        raise DataError(
            f"The {role} column {column!r} must not have missing values.",
            got=f"{int(missing.sum())} missing, first in row {int(missing.argmax())}",
            do=do,
        )
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values.to_numpy()
    texts = [str(value) for value in values.tolist()]
    check_text_size(texts, f"The labels of column {column!r}")
    return np.array(texts)


def _label_column(
    frame: pd.DataFrame, asked: str | bool | None, encoder: TableEncoder | None
) -> str | None:
    if isinstance(asked, str):
        _check_column(frame, asked, "label")
        return asked
    if asked is not None:
        return None
    for column in frame.columns:
        if column.lower() in _LABELS and not (encoder and column in encoder.columns):
            return str(column)
    last = str(frame.columns[-1])
    if encoder is not None and last in encoder.columns:
        return None
    if frame.shape[1] < 2 or not _looks_like_classes(frame[last]):
        return None
    warnings.warn(
        f"No column is named label, y, target or class: the last column, {last!r}, is taken as "
        f"the label. Pass label={last!r} to say so, or label=False if there are no labels.",
        AssumptionWarning,
        stacklevel=3,
    )
    return last


def _looks_like_classes(values: "pd.Series[Any]") -> bool:
    found = values.dropna().unique()
    few = 1 < len(found) <= min(_MOST_CLASSES, len(values) / 2)
    if not pd.api.types.is_numeric_dtype(values.dtype):
        return few
    return few and bool(np.all(np.asarray(found) == np.round(np.asarray(found).astype(float))))


def _id_column(frame: pd.DataFrame, asked: str | None) -> str | None:
    if asked is not None:
        _check_column(frame, asked, "id")
        return asked
    for column in frame.columns:
        if column.lower() in _IDS and frame[column].is_unique:
            return str(column)
    return None


def _check_column(frame: pd.DataFrame, column: str, role: str) -> None:
    if column not in frame.columns:
        raise DataError(
            f"The table must have the {role} column {column!r}.",
            got=", ".join(frame.columns[:12]),
        )
