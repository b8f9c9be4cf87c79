"""Rows to test a model on, with labels, identifiers and a content hash."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import FloatArray, is_frame
from fireassay.core.errors import DataError
from fireassay.core.files import check_text_size
from fireassay.core.groups import largest_group
from fireassay.core.hashing import sha256
from fireassay.core.lazy import pd
from fireassay.core.mapped import LEAST_NUMBERS, ByteImages
from fireassay.core.validation import (
    check_features,
    check_labels,
    check_lengths,
    refuse_masked,
)
from fireassay.data.rows import Rows, as_texts, taken
from fireassay.data.table_encoder import TableEncoder


@dataclass(frozen=True, eq=False)
class DataSet:
    """Features, and what is known of each row.

    Args:
        X: What the model takes. Numbers of shape ``(n, d)``, ``(n, height, width)``, ``(n, height,
            width, channels)`` or ``(n, channels, length)``, finite; a data frame, which may have
            text, categories, dates and holes; or texts, ``(n,)``. float32, float64 and integers
            stay (uint8 images and flags become float32, of very many images as they are taken).
        y: One label per row: text, bool or int; None if nothing is labelled.
        ids: Identifiers, each of its own row; row numbers if not given.
        class_names: Text labels: every class, also without rows. Integer labels: names of 0, 1, …
        feature_names: One name per column of a table.
        name: What reports call the data; not part of the content.
        encoder: How a table's text columns became numbers, to encode other tables in the same way.
        groups: For each row the patient, device or document it belongs to, if rows belong together.
        kinds: As in `Rows`: per column, or one for all; None: what the types say.
        missing: Allow NaN in an array of floats, for a model that takes it.
        weights: For each row how much it stands for in the field, over how much it does here.
        slices: For each name the value of each row: accuracy is shown for each of them.
        form: As in `Rows`; empty: decided here, once. ``why`` is the reason for it.
        shared: Columns of the file whose name says whose row it is, and whose values repeat.
        left_out: Rows of the file that are not here, ``(reason, count)``; not part of the content.
        label_column: The column that the labels were read from; not part of the content.

    >>> data = DataSet([[0.0, 1.0], [2.0, 3.0]], ["cat", "dog"])
    >>> len(data), data.classes
    (2, ('cat', 'dog'))
    """

    X: Any
    y: NDArray[Any] | None = None
    ids: NDArray[Any] | None = None
    class_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    name: str = ""
    encoder: TableEncoder | None = None
    groups: NDArray[Any] | None = None
    kinds: tuple[str, ...] | None = None
    missing: bool = False
    weights: NDArray[Any] | None = None
    slices: dict[str, NDArray[Any]] | None = None
    form: str = ""
    why: str = ""
    shared: tuple[str, ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()
    label_column: str | None = None

    def __post_init__(self) -> None:
        X = _checked_rows(self.X, self.missing)
        rows = Rows(X, self._declared_kinds(), self.form, self.why)
        y = None if self.y is None else check_labels(self.y, n=len(X))
        ids = _checked_ids(self.ids, len(X))
        groups = None
        if self.groups is not None:
            groups = check_labels(self.groups, name="groups", n=len(X))
        names = _checked_names(self.feature_names, X)
        weights = None if self.weights is None else _checked_weights(self.weights, len(X))
        slices = self.slices and {
            name: check_labels(values, name=f"slices[{name!r}]", n=len(X))
            for name, values in self.slices.items()
        }
        class_names = _checked_class_names(self.class_names, y)
        for field, value in (
            ("X", X),
            ("y", y),
            ("ids", ids),
            ("groups", groups),
            ("feature_names", names),
            ("class_names", class_names),
            ("kinds", rows.kinds),
            ("form", rows.form),
            ("why", rows.why),
            ("_rows", rows),
            ("weights", weights),
            ("slices", slices or None),
        ):
            object.__setattr__(self, field, value)

    def _declared_kinds(self) -> tuple[str, ...] | None:
        if self.kinds is None and getattr(self.X, "dtype", None) == np.bool_:
            return ("integer",)  # flags, which go to the model as 0.0 and 1.0
        return self.kinds

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        labels = "no labels" if self.y is None else f"{len(self.classes)} classes"
        name = f"{self.name!r}, " if self.name else ""
        what = "texts" if self.rows.is_text else f"rows of shape {self.X.shape[1:]}"
        return f"DataSet({name}{len(self)} {what}, {labels})"

    @property
    def rows(self) -> Rows:
        """The rows with the kinds of their columns."""
        known: Rows = self._rows  # type: ignore[attr-defined]
        return known

    def view(self) -> FloatArray:
        """Numbers to measure distances with, see `Rows.view`; never what a model gets."""
        return self.rows.view()

    @property
    def sha256(self) -> str:
        """Identifies the content: features, labels, ids, groups, names of classes and features."""
        further: tuple[Any, ...] = () if self.groups is None else (np.asarray(self.groups),)
        if largest_group(self.groups) is not None:
            further = (*further, "largest group", largest_group(self.groups))
        if self.weights is not None or self.slices is not None:
            further = (*further, "weights", self.weights, "slices", self.slices)
        plain = not is_frame(self.X) and not isinstance(self.X, ByteImages)
        X = np.ascontiguousarray(self.X) if plain else self.rows
        return sha256(X, self.y, self.ids, self.class_names, self.feature_names, *further)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels a model of this data should know, in order; empty without labels."""
        if self.class_names is not None:
            if self.y is not None and self.y.dtype.kind == "U":
                return self.class_names
            return tuple(range(len(self.class_names)))
        return () if self.y is None else tuple(np.unique(self.y).tolist())

    @property
    def labels(self) -> NDArray[Any]:
        """The labels, where they are needed: without any it says so."""
        if self.y is None:
            raise DataError(
                f"{self.name or 'The data'} must have labels.",
                got="none",
                do="Name the label column, or add a labels file beside the data.",
            )
        return self.y

    def subset(self, rows: ArrayLike) -> DataSet:
        """The given rows (positions or a mask), with their labels, ids and groups; classes stay."""
        chosen = np.asarray(rows)
        if chosen.dtype.kind == "b":
            check_lengths(rows=len(chosen), X=len(self))
        elif chosen.size == 0 or chosen.dtype.kind not in "iu":
            raise DataError(
                "A subset needs row positions or a mask.", got=f"{chosen.size} of {chosen.dtype}"
            )
        elif chosen.min() < -len(self) or chosen.max() >= len(self):
            raise DataError(
                f"Rows must be below {len(self)}.", got=f"{chosen.min()} to {chosen.max()}"
            )
        names = self.class_names
        if names is None and self.y is not None and self.y.dtype.kind == "U":
            names = self.classes
        per_row = {name: getattr(self, name) for name in ("y", "ids", "groups", "weights")}
        return dataclasses.replace(
            self,
            X=taken(self.X, chosen),
            class_names=names,
            slices=self.slices and {name: v[chosen] for name, v in self.slices.items()},
            **{name: values[chosen] for name, values in per_row.items() if values is not None},
        )


def _checked_rows(X: Any, missing: bool) -> Any:
    """Rows in a form that models take; what cannot be one is refused."""
    if isinstance(X, ByteImages):
        return X
    refuse_masked(X, "X")
    if is_frame(X):
        return _checked_frame(X)
    texts = as_texts(X)
    if texts is not None:
        check_text_size(texts.tolist(), "The texts")
        return texts
    array: Any = np.asarray(X) if not isinstance(X, list | tuple) else X
    whole = isinstance(array, np.ndarray) and array.dtype.kind in "iu"
    if whole and (array.dtype != np.uint8 or array.ndim < 3):
        check_features(array)
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    if whole and array.size >= LEAST_NUMBERS:
        return ByteImages(array)
    if isinstance(array, np.ndarray) and array.dtype in (np.uint8, np.bool_):
        array = array.astype(np.float32)  # exact; float64 would take eight times the memory
    if missing and isinstance(array, np.ndarray) and array.dtype.kind == "f":
        held = check_features(np.where(np.isnan(array), 0, array))
        array = array.astype(held.dtype, copy=False)
    else:
        array = check_features(array)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _checked_frame(frame: pd.DataFrame) -> pd.DataFrame:
    columns = [str(column) for column in frame.columns]
    if not len(frame):
        raise DataError("A table must have at least one row.", got="0 rows")
    if not columns:
        raise DataError("A table must have at least one feature column.", got="none")
    if len(set(columns)) != len(columns):
        repeated = next(column for column in columns if columns.count(column) > 1)
        raise DataError("Each column must have its own name.", got=f"{repeated!r} twice")
    for name, dtype in zip(columns, frame.dtypes, strict=True):
        if getattr(dtype, "kind", "O") == "f":
            values = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
            if np.isinf(values).any():
                row = int(np.isinf(values).argmax())
                raise DataError(f"Column {name!r} must be finite.", got=f"infinity in row {row}")
    return frame.set_axis(columns, axis=1).reset_index(drop=True)


def _checked_weights(weights: ArrayLike, n: int) -> FloatArray:
    values = np.asarray(weights, dtype=np.float64)
    check_lengths(X=n, weights=len(values))
    if values.ndim != 1 or not np.isfinite(values).all() or (values < 0).any():
        raise DataError("weights must be one finite number >= 0 per row.", got="others")
    return values


def _checked_ids(ids: ArrayLike | None, n: int) -> NDArray[Any]:
    if ids is None:
        return np.arange(n, dtype=np.int64)
    refuse_masked(ids, "ids")
    array = np.asarray(ids)
    if array.dtype.kind == "O":
        texts = [str(item) for item in array.ravel()]
        check_text_size(texts, "The ids")
        array = np.array(texts).reshape(array.shape)
    if array.ndim != 1 or array.dtype.kind not in "iuU":
        raise DataError(
            "The ids must be ints or text, shape (n,).", got=f"{array.dtype} of shape {array.shape}"
        )
    check_lengths(X=n, ids=len(array))
    values, counts = np.unique(array, return_counts=True)
    if (counts > 1).any():
        raise DataError(
            "Each id must belong to one row.",
            got=f"{values[counts > 1][0].item()!r} {counts.max()} times",
            do="Drop the repeated rows, or use another id column.",
        )
    return array


def _checked_names(names: Sequence[Any] | None, X: Any) -> tuple[str, ...] | None:
    if names is None:
        return tuple(X.columns) if is_frame(X) else None
    listed = tuple(str(name) for name in names)
    if len(listed) != (X.shape[1] if np.ndim(X) == 2 else np.ndim(X)) or np.ndim(X) > 2:
        raise DataError(
            "feature_names must name every column of a table.",
            got=f"{len(listed)} names for features of shape {X.shape[1:]}",
        )
    return listed


def _checked_class_names(
    names: Sequence[Any] | None, y: NDArray[Any] | None
) -> tuple[str, ...] | None:
    if names is None:
        return None
    listed = tuple(str(name) for name in names)
    if len(set(listed)) != len(listed):
        raise DataError("class_names must differ.", got=", ".join(listed))
    if y is None:
        return listed
    if y.dtype.kind == "U":
        unknown = sorted(set(y.tolist()) - set(listed))
    else:
        unknown = [label for label in np.unique(y).tolist() if not 0 <= label < len(listed)]
    if unknown:
        raise DataError(
            "Every label must have its class name.",
            got=f"{unknown[0]!r} with class_names {', '.join(listed)}",
            do="Integer labels are positions in class_names: 0, 1, …",
        )
    return listed
