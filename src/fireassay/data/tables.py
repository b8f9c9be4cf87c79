"""Tables as data sets: label, id and feature columns, and numbers with text among them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core.arrays import AnyArray
from fireassay.core.errors import AssumptionWarning, DataError
from fireassay.core.files import check_text_size
from fireassay.core.lazy import pd
from fireassay.core.validation import check_choice
from fireassay.data.cells import column_of_rows, is_nested, rows_of_column
from fireassay.data.dataset import DataSet
from fireassay.data.parts import refuse_parts, rows_of_part
from fireassay.data.rows import infer_kinds
from fireassay.data.table_encoder import TableEncoder
from fireassay.statistics.shared_units import shared_units

_MOSTLY, _MOST_NAMED = 0.5, 5


def refuse_mixed(values: pd.Series[Any], line_of: Callable[[int], int] | None = None) -> None:
    """Refuse a column that is mostly numbers but not only, and one with decimal commas."""
    if isinstance(values.dtype, pd.CategoricalDtype) or values.dtype.kind not in "OUT":
        return
    # By distinct texts: a long one that is repeated a million times is looked at once.
    codes, distinct = pd.factorize(values)
    unique = pd.Series([str(text) for text in distinct], dtype=object)
    places, inverse = np.flatnonzero(codes >= 0), codes[codes >= 0]
    numbers = pd.to_numeric(unique, errors="coerce").notna().to_numpy()
    points = unique.str.replace(",", ".", regex=False)
    commas = ~numbers & pd.to_numeric(points, errors="coerce").notna().to_numpy()
    is_number, with_comma = numbers[inverse], commas[inverse]
    text = unique.to_numpy()[inverse]
    if with_comma.any() and (is_number | with_comma).mean() > _MOSTLY:
        raise DataError(
            f"Column {values.name!r} must have decimal points.",
            got=_named(text, with_comma, places, line_of),
            do=f"Write 1.5 for 1,5; if these are names, pass --categorical {values.name}.",
        )
    if len(text) and _MOSTLY < is_number.mean() < 1:
        odd = repr(text[~is_number][0])
        raise DataError(
            f"Column {values.name!r} must be all numbers, or names.",
            got=_named(text, ~is_number, places, line_of) + " among numbers",
            do=f"Where {odd} stands for a missing value, pass --na {odd}; if all are names, "
            f"--categorical {values.name}. Else mend those cells.",
        )


def _named(text: AnyArray, chosen: Any, places: Any, line_of: Callable[[int], int] | None) -> str:
    found = np.flatnonzero(chosen)
    cells = []
    for i in found[:_MOST_NAMED]:
        row = int(places[i])
        where = f"row {row}" if line_of is None else f"line {line_of(row)}"
        cells.append(f"{text[i][:40]!r} in {where}")
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return ", ".join(cells) + more


_FEWEST_WORDS, _MOST_NAMES = 3, 10  # on average, and in all: beyond, texts and not names
_LABELS = ("label", "labels", "y", "target", "class")
_IDS = ("id", "ids", "unnamed: 0")
_MOST_CLASSES = 100
_MOST_SLICES = 50
_NO_LABEL = "Pass --drop-unlabelled (drop_unlabelled=True) to leave those rows out."


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
    kind: str | None = None,
    split: tuple[str, str] | None = None,
    drop_unlabelled: bool = False,
    size: Sequence[int] | None = None,
    folder: Path | None = None,
    line_of: Callable[[int], int] | None = None,
    name: str = "",
) -> DataSet:
    """A data set from a pandas frame; the model gets its columns as they are.

    A table of numbers without holes becomes an array. A table whose only feature holds texts
    becomes texts; a column of pictures or vectors becomes rows of them. Any other stays a frame,
    with its text, categories, flags, dates and holes.

    Args:
        frame: One row per item.
        label: The column of labels. None: a column named label, y, target or class, else the last
            one if its values look like classes (with a warning). False: no labels.
        id_column: The column of identifiers; None: a column named id, or a written-out row index.
        group: The column that says which rows belong together (patient, device); it is no feature.
        weight: The column that says how much a row stands for; it is no feature.
        ignore: Columns that are no features.
        slices: Columns whose values are looked at one by one; they stay features unless ignored.
        columns: The columns that the model takes, in its order; None: all that have no other role.
        encoder: Instead: one-hot features as a `TableEncoder` has learnt them in training.
        categorical: Columns whose values are names, also where they look like numbers.
        kind: "text": the only feature is a text. "table": it stays one. None: by its values.
        split: A column and "test", "train" or "operational": rows of that part alone.
        drop_unlabelled: Leave out rows without a label.
        size, folder: Of pictures: (height, width) to resize to; where files that are named lie.
        name: Of the data set.
        line_of: The line of the file that a row stands in, for the texts of errors.

    Raises:
        DataError: If a column has text among numbers or decimal commas, and is not categorical.

    >>> frame = pd.DataFrame({"age": [40, 50], "ward": ["A", None], "label": ["ill", "well"]})
    >>> data = from_frame(frame)
    >>> data.feature_names, data.kinds, data.classes
    (('age', 'ward'), ('integer', 'category'), ('ill', 'well'))
    """
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    if not len(frame):
        raise DataError("A table must have at least one row.", got="0 rows")
    if split is not None:
        chosen = np.flatnonzero(rows_of_part(frame, *split))
        frame, line_of = _some(frame.drop(columns=split[0]), chosen, line_of)
        if isinstance(label, str) and label in frame and frame[label].isna().all():
            frame, label = frame.drop(columns=label), False
    else:
        refuse_parts(frame.drop(columns=[c for c in (*ignore, label) if c in frame]))
    others = _other_roles(frame, ignore, weight)
    known = columns if encoder is None else encoder.columns
    fixed = [*(known or ()), *slices]  # what is named for something else is not guessed
    label_name, id_name = column_roles(frame.drop(columns=others), label, id_column, group, fixed)
    given = len(frame)
    if drop_unlabelled and label_name is not None:
        frame, line_of = _some(frame, np.flatnonzero(frame[label_name].notna()), line_of)
    groups = None
    if group is not None:
        groups = _whole_column(frame, group, "group", "Drop those rows, or give them a group.")
    sliced = {column: _slice(frame, column) for column in slices}
    roles = [name for name in (label_name, id_name, group) if name is not None]
    features = frame.drop(columns=[*roles, *others])
    whole = column_of_rows(features, folder) if columns is None else None
    if columns is not None:
        features = _chosen(features, columns)
    if whole is None:
        _check_features(features, categorical, encoder, line_of)
    if columns is not None and kind is None:
        kind = "table"  # the model names the columns that it takes
    X: Any
    feature_names: Any
    kinds: Any
    if whole is not None:
        X, feature_names, kinds = rows_of_column(features, whole, folder, size), None, None
    elif encoder is None and _are_texts(features, kind, categorical):
        X, feature_names, kinds = _texts(features, line_of), tuple(features.columns), ("text",)
    else:
        X, feature_names, kinds = _features(features, encoder, categorical)
    return DataSet(
        X,
        None if label_name is None else _whole_column(frame, label_name, "label", _NO_LABEL),
        None if id_name is None else frame[id_name].to_numpy(),
        frame.attrs.get("class_names", {}).get(label_name),
        feature_names=feature_names,
        name=name,
        encoder=encoder,
        groups=groups,
        kinds=kinds,
        weights=None if weight is None else _whole_column(frame, weight, "weight", _NO_LABEL),
        slices=sliced or None,
        shared=() if group is not None else _shared(frame, label_name),
        left_out=(("without a label", given - len(frame)),) if given > len(frame) else (),
        label_column=label_name,
    )  # fmt: skip


def _shared(frame: pd.DataFrame, label: str | None) -> tuple[Any, ...]:
    plain = [c for i, c in enumerate(frame) if c != label and not is_nested(frame.iloc[:, i])]
    return tuple(shared_units({c: frame[c].to_numpy() for c in plain}))


def _some(
    frame: pd.DataFrame, chosen: AnyArray, line_of: Callable[[int], int] | None
) -> tuple[pd.DataFrame, Callable[[int], int] | None]:
    """Some rows of a table, and their lines."""
    if line_of is not None:
        line_of = lambda row, line=line_of: line(int(chosen[row]))  # noqa: E731
    return frame.iloc[chosen].reset_index(drop=True), line_of


def _other_roles(frame: pd.DataFrame, ignore: Sequence[str], weight: str | None) -> list[str]:
    """Columns that are neither feature nor label, checked to be there."""
    for column in ignore:
        _check_column(frame, column, "ignore")
    if weight:
        _check_column(frame, weight, "weight")
    return [*ignore, *([weight] if weight else [])]


def _check_features(
    features: pd.DataFrame,
    categorical: Sequence[str],
    encoder: TableEncoder | None,
    line_of: Callable[[int], int] | None,
) -> None:
    """Refuse names that are no column, and columns of numbers with some text in them."""
    for column in categorical:
        _check_column(features, column, "categorical")
    named = set(categorical) | _names_of(encoder)
    for i, column in enumerate(features.columns):
        if is_nested(features.iloc[:, i]):
            raise DataError(
                f"Column {column!r} must hold values.",
                got="lists or objects",
                do=f"Leave it out: --ignore {column}.",
            )
        if column not in named:
            refuse_mixed(features.iloc[:, i], line_of)


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


def _are_texts(features: pd.DataFrame, kind: str | None, categorical: Sequence[str]) -> bool:
    """Whether the only feature is a text, as declared or by its values."""
    check_choice(kind or "table", "kind", ("table", "text"))
    if kind is not None or features.shape[1] != 1 or features.columns[0] in categorical:
        if kind == "text" and features.shape[1] != 1:
            raise DataError(
                "Texts must be the only feature of a table.",
                got=f"{features.shape[1]} columns: {', '.join(map(str, features.columns[:8]))}",
                do="Name the others with --ignore, or leave --kind out: the model gets a frame.",
            )
        return kind == "text"
    held = features.iloc[:, 0].dropna()
    if not len(held) or not all(isinstance(value, str) for value in held):
        return False
    words = float(np.mean([len(value.split()) for value in held.unique()]))
    return words >= _FEWEST_WORDS or held.nunique() > max(_MOST_NAMES, _MOSTLY * len(held))


def _texts(features: pd.DataFrame, line_of: Callable[[int], int] | None) -> list[str]:
    lost = features.iloc[:, 0].isna().to_numpy()
    if lost.any():
        row = int(lost.argmax())
        where = f"row {row}" if line_of is None else f"line {line_of(row)}"
        raise DataError(
            f"Every row must have a text in {features.columns[0]!r}.",
            got=f"{int(lost.sum())} without, first in {where}",
            do="Drop those rows, or declare --kind table: the model then gets them as they are.",
        )
    return [str(value) for value in features.iloc[:, 0].tolist()]


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
    """The column of labels and the column of identifiers, as asked for or by their names."""
    # Columns that the model takes are known: none of them is guessed to be something else.
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
    left = [str(column) for column in frame.columns if column not in (known or ())]
    for column in left:
        if column.lower() in _LABELS:
            return column
    if not left or (left[-1] != frame.columns[-1] and len(left) > 1):
        return None
    last = left[-1]
    if frame.shape[1] < 2 or not _looks_like_classes(frame[last]):
        return None
    warnings.warn(
        f"No column is named label, y, target or class: column {last!r} is taken as "
        f"the label. Pass label={last!r} to say so, or label=False if there are no labels.",
        AssumptionWarning,
        stacklevel=3,
    )
    return last


def _looks_like_classes(values: pd.Series[Any]) -> bool:
    if is_nested(values):
        return False
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
        usual = column.lower() in _IDS and column not in (known or ())
        if usual and not is_nested(frame[column]) and frame[column].is_unique:
            return str(column)
    return None


def _check_column(frame: pd.DataFrame, column: str, role: str) -> None:
    if column not in frame.columns:
        listed = ", ".join(frame.columns[:12])
        raise DataError(f"The table must have the {role} column {column!r}.", got=listed)
