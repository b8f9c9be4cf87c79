"""Rows to test a model on, with labels, identifiers and a content hash."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.errors import DataError
from fireassay.core.hashing import sha256
from fireassay.core.limits import check_text_size
from fireassay.core.validation import (
    check_features,
    check_labels,
    check_lengths,
    refuse_masked,
)
from fireassay.data.table_encoder import TableEncoder


@dataclass(frozen=True, eq=False)
class DataSet:
    """Features, and what is known of each row.

    Parameters
    ----------
    X
        Numbers of shape ``(n, d)``, ``(n, height, width)`` or ``(n, height, width, channels)``;
        finite, at least one row. float32 and float64 stay, other types are converted.
    y
        One label per row: text, bool or int; None if nothing is labelled.
    ids
        Identifiers, each of its own row; row numbers if not given.
    class_names
        Text labels: every class, also those without a row. Integer labels: the name of
        class 0, 1, …
    feature_names
        One name per column of a table.
    name
        What reports call the data; not part of the content.
    encoder
        How a table's text columns became numbers, to encode other tables in the same way.
    groups
        For each row the patient, device or document it belongs to, if rows belong together.

    >>> data = DataSet([[0.0, 1.0], [2.0, 3.0]], ["cat", "dog"])
    >>> len(data), data.classes
    (2, ('cat', 'dog'))
    """

    X: NDArray[Any]
    y: NDArray[Any] | None = None
    ids: NDArray[Any] | None = None
    class_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    name: str = ""
    encoder: TableEncoder | None = None
    groups: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        X = check_features(_small_integers_as_float32(self.X))
        X = X.astype(X.dtype.newbyteorder("="), copy=False)
        y = None if self.y is None else check_labels(self.y, n=len(X))
        ids = _checked_ids(self.ids, len(X))
        groups = None
        if self.groups is not None:
            groups = check_labels(self.groups, name="groups", n=len(X))
        names = _checked_names(self.feature_names, X)
        class_names = _checked_class_names(self.class_names, y)
        for field, value in (
            ("X", X),
            ("y", y),
            ("ids", ids),
            ("groups", groups),
            ("feature_names", names),
            ("class_names", class_names),
        ):
            object.__setattr__(self, field, value)

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        labels = "no labels" if self.y is None else f"{len(self.classes)} classes"
        name = f"{self.name!r}, " if self.name else ""
        return f"DataSet({name}{len(self)} rows of shape {self.X.shape[1:]}, {labels})"

    @property
    def sha256(self) -> str:
        """Identifies the content: features, labels, ids, groups, names of classes and features."""
        together = () if self.groups is None else (self.groups,)
        X = np.ascontiguousarray(self.X)
        return sha256(X, self.y, self.ids, self.class_names, self.feature_names, *together)

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

    def subset(self, rows: ArrayLike) -> "DataSet":
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
        return DataSet(
            self.X[chosen],
            None if self.y is None else self.y[chosen],
            None if self.ids is None else self.ids[chosen],
            names,
            self.feature_names,
            self.name,
            self.encoder,
            None if self.groups is None else self.groups[chosen],
        )


def _small_integers_as_float32(X: ArrayLike) -> ArrayLike:
    refuse_masked(X, "X")
    # Pixels and flags are exact in float32; float64 would take eight times the memory.
    array = np.asarray(X) if not isinstance(X, list | tuple) else X
    if isinstance(array, np.ndarray) and array.dtype in (np.uint8, np.int8, np.bool_):
        return array.astype(np.float32)
    return array


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


def _checked_names(names: Sequence[Any] | None, X: NDArray[Any]) -> tuple[str, ...] | None:
    if names is None:
        return None
    listed = tuple(str(name) for name in names)
    if X.ndim != 2 or len(listed) != X.shape[1]:
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
