"""Tables as data sets: which column is the label, the id, a feature, and of which kind."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fireassay.core.errors import AssumptionWarning, DataError
from fireassay.core.lazy_modules import pd
from fireassay.core.limits import check_text_size
from fireassay.data.dataset import DataSet
from fireassay.data.mixed_columns import refuse_mixed
from fireassay.data.rows import infer_kinds
from fireassay.data.table_encoder import TableEncoder

_LABELS = ("label", "labels", "y", "target", "class")
_IDS = ("id", "ids", "unnamed: 0")
_MOST_CLASSES = 100
_MOST_SLICES = 50
_NO_LABEL = "Drop those rows, or load the table with label=False."


def from_frame(
    frame: pd.DataFrame,
    *,
    label: str | bool | None = None,
    id_column: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    ignore: Sequence[str] = (),
    slices: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    encoder: TableEncoder | None = None,
    categorical: Sequence[str] = (),
    line_of: Callable[[int], int] | None = None,
    name: str = "",
) -> DataSet:
    """A data set from a pandas frame; the model gets its columns as they are.

    A table of numbers without holes becomes an array. Any other stays a frame, with its text,
    categories, flags, dates and holes.

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
    weight
        The column that says how much a row stands for; it is no feature.
    ignore
        Columns that are no features.
    slices
        Columns whose values are looked at one by one; they stay features unless ignored.
    columns
        The columns that the model takes, in its order; None: all that have no other role.
    encoder
        Instead: one-hot features as a `TableEncoder` has learnt them, for a model that was
        trained on such numbers.
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
        or has decimal commas, and is not declared categorical.

    >>> frame = pd.DataFrame({"age": [40, 50], "ward": ["A", None], "label": ["ill", "well"]})
    >>> data = from_frame(frame)
    >>> data.feature_names, data.kinds, data.classes
    (('age', 'ward'), ('integer', 'category'), ('ill', 'well'))
    """
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    if not len(frame):
        raise DataError("A table must have at least one row.", got="0 rows")
    for role, names in (("weight", [weight] if weight else []), ("ignore", ignore)):
        for column in names:
            _check_column(frame, column, role)
    others = [*ignore, *([weight] if weight else [])]
    known = columns if encoder is None else encoder.columns
    label_name, id_name = column_roles(frame.drop(columns=others), label, id_column, group, known)
    groups = None
    if group is not None:
        groups = _whole_column(frame, group, "group", "Drop those rows, or give them a group.")
    sliced = {column: _slice(frame, column) for column in slices}
    roles = [name for name in (label_name, id_name, group) if name is not None]
    features = frame.drop(columns=[*roles, *others])
    if columns is not None:
        features = _chosen(features, columns)
    for column in categorical:
        _check_column(features, column, "categorical")
    named = set(categorical) | _names_of(encoder)
    for i, column in enumerate(features.columns):
        if column not in named:
            refuse_mixed(features.iloc[:, i], line_of)
    X, feature_names, kinds = _features(features, encoder, categorical)
    return DataSet(
        X,
        None if label_name is None else _whole_column(frame, label_name, "label", _NO_LABEL),
        None if id_name is None else frame[id_name].to_numpy(),
        feature_names=feature_names,
        name=name,
        encoder=encoder,
        groups=groups,
        kinds=kinds,
        weights=None if weight is None else _whole_column(frame, weight, "weight", _NO_LABEL),
        slices=sliced or None,
    )


def _features(
    features: pd.DataFrame, encoder: TableEncoder | None, categorical: Sequence[str]
) -> tuple[Any, tuple[str, ...] | None, tuple[str, ...] | None]:
    """What the model gets, the names of its columns and their kinds."""
    if encoder is not None:
        return encoder.transform(features), encoder.feature_names, None
    if not features.shape[1] or features.columns.has_duplicates:
        return features, None, None  # refused as such by the data set
    found = infer_kinds(features)
    kinds = tuple(
        "category" if column in categorical else kind
        for column, kind in zip(features.columns, found, strict=True)
    )
    plain = all(
        isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in features.dtypes
    ) and not bool(features.isna().any(axis=None))
    if plain:
        return features.to_numpy(dtype=np.float64), tuple(features.columns), kinds
    return features, None, kinds


def _chosen(features: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    missing = [column for column in columns if column not in features.columns]
    if missing:
        raise DataError(
            f"The model takes the columns {', '.join(map(str, columns[:12]))}.",
            got=f"a table without {', '.join(map(repr, missing[:8]))}",
            do="Add them, or name the label, id and group columns if one of them is meant.",
        )
    return features[list(columns)]


def _slice(frame: pd.DataFrame, column: str) -> Any:
    _check_column(frame, column, "slices")
    values = frame[column]
    if pd.api.types.is_float_dtype(values.dtype) and values.nunique() > _MOST_SLICES:
        raise DataError(
            f"The slices of {column!r} must be few: at most {_MOST_SLICES} values.",
            got=f"{values.nunique()} different numbers",
            do="Write a column of ranges (young, old) instead.",
        )
    return np.array(["(missing)" if pd.isna(value) else str(value) for value in values.tolist()])


def column_roles(
    frame: pd.DataFrame,
    label: str | bool | None,
    id_column: str | None,
    group: str | None,
    known: Sequence[str] | None,
) -> tuple[str | None, str | None]:
    """The column of labels and the column of identifiers, as asked for or by their names.

    ``known`` are columns that the model takes: none of them is guessed to be something else.
    """
    candidates = frame
    if group is not None:
        _check_column(frame, group, "group")
        candidates = frame.drop(columns=[group])
    id_name = _id_column(candidates, id_column, known)
    candidates = candidates.drop(columns=[id_name]) if id_name is not None else candidates
    return _label_column(candidates, label, known), id_name


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
    frame: pd.DataFrame, asked: str | bool | None, known: Sequence[str] | None
) -> str | None:
    if isinstance(asked, str):
        _check_column(frame, asked, "label")
        return asked
    if asked is not None:
        return None
    for column in frame.columns:
        if column.lower() in _LABELS and column not in (known or ()):
            return str(column)
    if not frame.shape[1]:
        return None
    last = str(frame.columns[-1])
    if last in (known or ()):
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


def _looks_like_classes(values: pd.Series[Any]) -> bool:
    found = values.dropna().unique()
    few = 1 < len(found) <= min(_MOST_CLASSES, len(values) / 2)
    if not pd.api.types.is_numeric_dtype(values.dtype):
        return few
    return few and bool(np.all(np.asarray(found) == np.round(np.asarray(found).astype(float))))


def _id_column(frame: pd.DataFrame, asked: str | None, known: Sequence[str] | None) -> str | None:
    if asked is not None:
        _check_column(frame, asked, "id")
        return asked
    for column in frame.columns:
        if column.lower() in _IDS and column not in (known or ()) and frame[column].is_unique:
            return str(column)
    return None


def _check_column(frame: pd.DataFrame, column: str, role: str) -> None:
    if column not in frame.columns:
        raise DataError(
            f"The table must have the {role} column {column!r}.",
            got=", ".join(frame.columns[:12]),
        )
