"""Rows as people have them: their form, what the model takes, and the kind of each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray, is_frame
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.hashing import sha256
from fireassay.core.lazy import pd
from fireassay.core.mapped import ByteImages

KINDS: Final = ("real", "integer", "category", "text", "date", "image", "series")
FORMS: Final = ("image", "series", "table", "text", "tokens", "recorded")
_WHOLE: Final = ("text", "image", "series")
_TEXT_LENGTH, _TEXT_LEVELS = 20, 20
_NARROW, _LONG, _FEW = 4, 4, 16  # sides of images, and how many times one is the other
_TOKENS, _BYTES, _LOOKED_AT = 16, 255, 500  # least columns, largest code, rows
_AXES: Final = {
    "image": (3, 9),
    "series": (2, 9),
    "table": (2, 2),
    "text": (1, 1),
    "tokens": (2, 2),
}


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows in the form that a model takes, and the kind of each column.

    Args:
        values: A data frame, an array of numbers, or texts (a 1-D array of objects).
        kinds: One of "real", "integer", "category", "text", "date" per column of a table, or one
            kind for all: "text", "image", "series", "integer", "real". None: what the types say.
        form: "image", "series", "table", "text", "tokens" or "recorded" (positions of recorded
            answers). None: decided here, once, by types, kinds and shape; ``why`` says how.

    >>> Rows(np.zeros((9, 28, 28))).form, Rows(np.zeros((9, 12, 500))).form
    ('image', 'series')
    >>> rows = Rows(pd.DataFrame({"age": [40.5, None], "sex": ["f", "m"]}))
    >>> rows.kinds, rows.holes.tolist()
    (('real', 'category'), [True, False])
    >>> rows.decode(rows.encode()).equals(rows.values)
    True
    >>> rows.view().shape
    (2, 4)
    """

    values: Any
    kinds: tuple[str, ...] | None = None
    form: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        if self.form:
            _check_form(self.values, self.form)
            form, why = self.form, self.why or "declared"
        else:
            form, why = _decided(self.values, self.kinds or ())
        object.__setattr__(self, "form", form)
        object.__setattr__(self, "why", why)
        if self.kinds is None:
            found = infer_kinds(self.values, self.form)
        else:
            found = self._declared(self.kinds)
        object.__setattr__(self, "kinds", found)

    def _declared(self, kinds: Any) -> tuple[str, ...]:
        given = (kinds,) if isinstance(kinds, str) else tuple(kinds)
        unknown = [kind for kind in given if kind not in KINDS]
        if unknown:
            raise ParameterError(f"Kinds are {', '.join(KINDS)}.", got=repr(unknown[0]))
        if len(given) == 1 and given[0] not in _WHOLE:
            given = given * self.width
        if len(given) != self.width and not (len(given) == 1 and given[0] in _WHOLE):
            raise DataError(
                "There must be one kind per column.",
                got=f"{len(given)} kinds for {self.width} columns",
            )
        return given

    def __len__(self) -> int:
        return len(self.values)

    @property
    def width(self) -> int:
        """Columns of a table; 1 for texts, images and series."""
        return int(self.values.shape[1]) if np.ndim(self.values) == 2 else 1

    @property
    def is_frame(self) -> bool:
        """Whether the model takes data frames."""
        return is_frame(self.values)

    @property
    def is_text(self) -> bool:
        """Whether each row is one text."""
        return self.form == "text"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of a frame, else column numbers."""
        if self.is_frame:
            return tuple(str(name) for name in self.values.columns)
        return tuple(str(i) for i in range(self.width))

    @property
    def holes(self) -> Any:
        """For each column of a table whether values are missing; for other rows one answer."""
        if self.is_frame:
            return np.array([bool(self.values.iloc[:, i].isna().any()) for i in range(self.width)])
        if self.is_text or self.values.dtype.kind != "f":
            return np.zeros(self.width, dtype=np.bool_)
        if self.values.ndim == 2:
            return np.isnan(self.values).any(axis=0)
        return np.array([bool(np.isnan(self.values).any())])

    @property
    def is_plain(self) -> bool:
        """Whether the rows are finite floats, which are their own codes."""
        if isinstance(self.values, ByteImages):
            return True
        floats = not self.is_frame and not self.is_text and self.values.dtype.kind == "f"
        return floats and not self.holes.any()

    @property
    def sha256(self) -> str:
        """Of the values and their types; kinds, codes and views take no part."""
        if not self.is_frame:
            return sha256(self.values)
        columns = [self.values.iloc[:, i] for i in range(self.width)]
        return sha256("table", [(str(c.name), *_content(c)) for c in columns])

    def take(self, rows: Any) -> Rows:
        """Some of the rows, by position or mask."""
        return Rows(taken(self.values, rows), self.kinds, self.form, self.why)

    def encode(self) -> FloatArray:
        """Finite float codes: numbers as they are, other values as positions in their list."""
        codes: FloatArray = self.codebook.encode(self)
        return codes

    def decode(self, codes: AnyArray) -> Any:
        """What the model takes, from codes like those of `encode`; not every code is valid."""
        return self.codebook.decode(codes)

    def view(self) -> FloatArray:
        """Numbers to measure distances with: encoded, holes filled, scaled; no model sees them.

        Finite floats are their own view. Of other tables numbers have unit spread, categories
        become indicators, texts counts of character triples.
        """
        seen: FloatArray = self.codebook.view(self.encode())
        return seen

    @property
    def codebook(self) -> Any:
        """The `Codebook` of these rows alone."""
        from fireassay.data.codebook import Codebook

        return Codebook.of(self)


def infer_kinds(values: Any, form: str = "table") -> tuple[str, ...]:
    """The kind of each column of a table by its type, or of the rows as a whole."""
    if is_frame(values):
        return tuple(_kind_of(values.iloc[:, i]) for i in range(values.shape[1]))
    if form == "text":
        return ("text",)
    whole = values.dtype.kind in "iub" and not isinstance(values, ByteImages)
    kind = "integer" if whole else "series" if form == "series" else "real"
    if form in ("image", "series"):
        return (kind if kind != "real" else "image",)
    return (kind,) * int(np.prod(values.shape[1:]))


def _decided(values: Any, kinds: tuple[str, ...]) -> tuple[str, str]:
    """The form of rows, and the reason in words; the only place that reads it off a shape."""
    if is_frame(values):
        return "table", "names, dates or holes in its columns"
    if values.ndim < 2:
        return "text", "one text per row"
    if kinds and kinds[0] in ("image", "series"):
        _check_form(values, kinds[0])
        return kinds[0], "declared"
    if values.ndim == 2:
        some = values[:_LOOKED_AT]
        whole = values.dtype.kind in "iu" and values.shape[1] >= _TOKENS
        if whole and some.size and some.min() >= 0 and some.max() > _BYTES:
            return "tokens", f"{values.shape[1]} whole numbers per row, up to {some.max()}"
        return "table", "rows and columns"
    sides = f"rows of {' x '.join(map(str, values.shape[1:]))}"
    if values.ndim > 3:
        return "image", sides
    short, long = sorted(values.shape[1:])
    if isinstance(values, ByteImages) or values.dtype == np.uint8:
        return "image", f"{sides} bytes"
    if short < _NARROW < long:
        return "series", f"{sides}: fewer than {_NARROW} on one side, so channels over time"
    if long >= _LONG * short and (short < _FEW or bool((values[:_LOOKED_AT] < 0).any())):
        return "series", f"{sides}: one side is {_LONG} times the other or more"
    return "image", sides


def _check_form(values: Any, form: str) -> None:
    """Refuse a form that rows of this shape cannot have."""
    if form not in FORMS:
        raise ParameterError(f"Rows are {', '.join(FORMS)}.", got=repr(form))
    axes = np.ndim(values)
    low, high = _AXES.get(form, (1, 9))
    if not low <= axes <= high:
        fitting = [form for form, (least, most) in _AXES.items() if least <= axes <= most]
        needed = f"{low}" if low == high else f"at least {low}"
        raise DataError(
            f"Rows of the form {form!r} must have {needed} {'axis' if low == 1 else 'axes'}.",
            got=f"shape {np.shape(values)}",
            do=f"Leave the kind out, or declare one of {', '.join(fitting)}.",
        )


def of_kind(kind: str | None) -> dict[str, Any]:
    """The fields of a data set that a kind, as people declare it, stands for."""
    if kind in ("table", "text", "tokens"):
        return {"form": kind}
    return {} if kind is None else {"kinds": (kind,)}


def taken(values: Any, rows: Any) -> Any:
    """Some rows of a frame or an array."""
    return values.iloc[np.asarray(rows)] if is_frame(values) else values[rows]


def as_texts(values: Sequence[Any] | AnyArray) -> AnyArray | None:
    """Texts as an array of objects, or None if these are no texts."""
    array: Any = values
    if isinstance(values, list | tuple):
        if not values or not all(isinstance(item, str) for item in values):
            return None
    elif not _holds_texts(values):
        return None
    texts = np.empty(len(array), dtype=object)
    texts[:] = [str(item) for item in array]
    return texts


def _holds_texts(values: Any) -> bool:
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind not in "OU":
        return False
    return values.dtype.kind == "U" or all(isinstance(item, str) for item in values)


def _kind_of(column: pd.Series[Any]) -> str:
    kind = pd.api.types
    if kind.is_complex_dtype(column.dtype):
        raise DataError(f"Column {column.name!r} must be real numbers.", got="complex numbers")
    if kind.is_bool_dtype(column.dtype) or isinstance(column.dtype, pd.CategoricalDtype):
        return "category"
    if kind.is_integer_dtype(column.dtype):
        return "integer"
    if kind.is_float_dtype(column.dtype):
        return "real"
    if kind.is_datetime64_any_dtype(column.dtype) or kind.is_timedelta64_dtype(column.dtype):
        return "date"
    held = column.dropna()
    distinct = held.unique()
    long = float(np.mean([len(str(value)) for value in distinct])) if len(distinct) else 0.0
    varied = len(distinct) > max(_TEXT_LEVELS, 0.5 * len(held))
    return "text" if varied and long > _TEXT_LENGTH else "category"


def _content(column: pd.Series[Any]) -> tuple[str, Any]:
    """The type and the values; text is text, in whatever way pandas holds it."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiubmM":
        return str(column.dtype), column.to_numpy()
    codes, levels = pd.factorize(column, use_na_sentinel=True)
    texts = pd.api.types.is_string_dtype(column.dtype)
    kind = "text" if texts or column.dtype == np.dtype(object) else str(column.dtype)
    listed = [(type(level).__name__, str(level)) for level in levels]
    return kind, (codes.astype(np.int64), listed)
