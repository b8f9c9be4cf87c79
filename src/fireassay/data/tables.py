"""Tables as data sets: which column is the label, which one the id, and text as numbers."""

import warnings
from typing import Any

import numpy as np
import pandas as pd

from fireassay.core.errors import AssumptionWarning, DataError
from fireassay.data.dataset import DataSet
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

    >>> frame = pd.DataFrame({"age": [40, 50], "ward": ["A", "B"], "label": ["ill", "well"]})
    >>> data = from_frame(frame)
    >>> data.feature_names, data.classes
    (('age', 'ward=A', 'ward=B'), ('ill', 'well'))
    """
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    if not len(frame):
        raise DataError("A table must have at least one row.", got="0 rows")
    candidates, groups = frame, None
    if group is not None:
        _check_column(frame, group, "group")
        groups = _whole_column(frame, group, "group", "Drop those rows, or give them a group.")
        candidates = frame.drop(columns=[group])
    id_name = _id_column(candidates, id_column)
    candidates = candidates.drop(columns=[id_name]) if id_name is not None else candidates
    label_name = _label_column(candidates, label, encoder)
    features = candidates.drop(columns=[label_name]) if label_name is not None else candidates
    encoder = encoder or TableEncoder.fit(features)
    return DataSet(
        encoder.transform(features),
        None if label_name is None else _whole_column(frame, label_name, "label", _NO_LABEL),
        None if id_name is None else frame[id_name].to_numpy(),
        feature_names=encoder.feature_names,
        name=name,
        encoder=encoder,
        groups=groups,
    )


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
    return np.array([str(value) for value in values.tolist()])


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
