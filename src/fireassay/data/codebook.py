"""Float codes of rows of any kind, and the numeric view in which distances are measured."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray
from fireassay.core.errors import DataError
from fireassay.core.hashing import sha256
from fireassay.core.lazy import pd
from fireassay.data.rows import Rows

WIDTH: Final = 64


def text_features(texts: Sequence[str]) -> FloatArray:
    """Damped counts of character triples in 64 cells, of length 1; a text without any is 0."""
    counts = np.zeros((len(texts), WIDTH))
    for i, text in enumerate(texts):
        framed = f" {text.lower()} "
        triples = [framed[j : j + 3].encode("utf-8", "replace") for j in range(len(framed) - 2)]
        cells = np.array([zlib.crc32(triple) % WIDTH for triple in triples], dtype=np.int64)
        counts[i] = np.log1p(np.bincount(cells, minlength=WIDTH))
    lengths = np.linalg.norm(counts, axis=1, keepdims=True)
    return np.asarray(counts / np.where(lengths > 0, lengths, 1.0))


_EXACT = 2.0**53
_NEAR = 1e-6
_ROUNDING = 1e-12
_FAR = 1e-3
_MOST_INDICATORS = 64


@dataclass(frozen=True, eq=False)
class ColumnCodes:
    """How one column becomes floats.

    Attributes:
        name, kind: Of the column.
        dtype: What the model takes.
        levels: Columns that are not plain numbers: the values that codes 0, 1, … stand for.
        hole: Plain numbers with missing values: the code of a hole, far from all others.
        centre, scale: For the view.

    >>> column = Codebook.of(Rows(pd.DataFrame({"ward": ["A", "B", "A"]}))).columns[0]
    >>> column.n_levels, list(column.decode(np.array([1.0, 0.0])))
    (2, ['B', 'A'])
    """

    name: str
    kind: str
    dtype: Any
    levels: Any = None
    hole: float | None = None
    centre: float = 0.0
    scale: float = 1.0

    @property
    def n_levels(self) -> int:
        """How many values there are; 0 for plain numbers."""
        return 0 if self.levels is None else len(self.levels)

    @property
    def hole_code(self) -> float:
        """What stands for a missing value; NaN if nothing is missing."""
        if self.levels is None:
            return np.nan if self.hole is None else self.hole
        missing = np.flatnonzero(pd.isna(np.asarray(self.levels, dtype=object)))
        return float(missing[0]) if len(missing) else np.nan

    def encode(self, values: pd.Series[Any]) -> FloatArray:
        """Codes of a column; a value that is not in the list is refused."""
        if self.levels is None:
            numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
            if self.hole is None:
                return numbers
            return np.where(np.isnan(numbers), self.hole, numbers)
        found = self._places(values)
        if (found < 0).any():
            row = int((found < 0).argmax())
            raise DataError(
                f"Column {self.name!r} must have values that the codes know.",
                got=f"{values.iloc[row]!r} in row {row}",
            )
        return np.asarray(found, dtype=np.float64)

    def _places(self, values: pd.Series[Any]) -> Any:
        if self.dtype != np.dtype(object):
            return pd.Index(self.levels).get_indexer(pd.Index(values.astype(self.dtype)))
        known = {_exact(level): place for place, level in enumerate(self.levels)}
        return np.array([known.get(_exact(value), -1) for value in values.tolist()])

    def decode(self, codes: FloatArray) -> Any:
        """The values behind codes."""
        if self.levels is not None:
            return self.levels.take(_whole(codes, self.name, self.n_levels))
        if self.hole is not None:
            lost = np.abs(codes - self.hole) <= _NEAR * max(1.0, abs(self.hole))
            codes = np.where(lost, np.nan, codes)
        if np.dtype(self.dtype).kind in "iu":
            return _whole(codes, self.name).astype(self.dtype)
        return codes.astype(self.dtype)

    def view(self, codes: FloatArray) -> FloatArray:
        """Columns to measure distances with."""
        if self.levels is None or self.kind == "date":
            values = (
                self._moments[np.rint(codes).astype(np.int64)] if self.kind == "date" else codes
            )
            lost = np.isnan(values) if self.hole is None else np.abs(codes - self.hole) < _NEAR
            scaled = np.where(lost, 0.0, (values - self.centre) / self.scale)
            # As wide for rows without a hole as for those with one: they are compared.
            return scaled[:, None] if np.isnan(self.hole_code) else np.column_stack([scaled, lost])
        places = np.rint(codes).astype(np.int64)
        if self.kind == "text" or self.n_levels > _MOST_INDICATORS:
            return self._features[places]
        return np.asarray(np.eye(self.n_levels)[places] / np.sqrt(2.0))

    @cached_property
    def _features(self) -> FloatArray:
        return text_features(["" if pd.isna(level) else str(level) for level in self.levels])

    @cached_property
    def _moments(self) -> FloatArray:
        return _seconds(self.levels)


@dataclass(frozen=True, eq=False)
class Codebook:
    """Codes of rows and of others like them: ``decode(encode(rows))`` are the same rows.

    Plain floats are their own codes. Integers keep their values, every other value is its position
    in the list of values that the column has; a hole in a column of numbers has a code of its own.

    >>> rows = Rows(pd.DataFrame({"age": [40, 61], "ward": ["A", None]}))
    >>> book = Codebook.of(rows)
    >>> book.encode(rows).tolist()
    [[40.0, 0.0], [61.0, 1.0]]
    >>> book.decode(np.array([[50.0, 0.0]])).to_dict("list")
    {'age': [50], 'ward': ['A']}
    """

    columns: tuple[ColumnCodes, ...]
    form: str
    dtype: Any = None

    @classmethod
    def of(cls, *rows: Rows) -> Codebook:
        """Learn the values of all these rows, which must be of one form.

        Args:
            rows: Of the same model: test rows, training rows, field rows.
        """
        first = rows[0]
        assert first.kinds is not None
        if first.is_frame:
            series = [
                [other.values[name].reset_index(drop=True) for other in rows]
                for name in first.values.columns
            ]
            return cls(tuple(map(_learnt, series, first.kinds)), "frame")
        if first.is_text:
            texts = pd.Index(np.unique(np.concatenate([r.values for r in rows])), dtype=object)
            return cls((ColumnCodes("text", "text", np.dtype(object), texts),), "text")
        arrays = [other.values for other in rows]
        dtype = np.result_type(*arrays)
        if all(other.is_plain for other in rows):
            return cls((), "plain", dtype)
        low = min(float(np.nanmin(a)) if a.size else 0.0 for a in arrays)
        high = max(float(np.nanmax(a)) if a.size else 0.0 for a in arrays)
        if dtype.kind in "iu" and max(abs(low), abs(high)) > _EXACT:
            raise DataError("Integers must be below 2^53 to be coded.", got=f"{high:g}")
        lost = any(bool(other.holes.any()) for other in rows)
        hole = _hole(low, high) if lost else None
        flat = [a.reshape(len(a), -1) for a in arrays]
        centre, spread = _moments_of(np.concatenate(flat)[:100_000].astype(np.float64))
        column = ColumnCodes("X", first.kinds[0], dtype, None, hole, centre, spread)
        return cls((column,), "array", dtype)

    @property
    def sha256(self) -> str:
        """Of the values that codes stand for; the view takes no part."""
        return sha256(
            self.form,
            str(self.dtype),
            [
                (c.name, c.kind, str(c.dtype), c.hole, None if c.levels is None else _names(c))
                for c in self.columns
            ],
        )

    @property
    def hole_codes(self) -> FloatArray:
        """For each column of codes what stands for a missing value, NaN where nothing does."""
        return np.array([c.hole_code for c in self.columns])

    def encode(self, rows: Rows) -> FloatArray:
        """Float codes, of the shape of the rows."""
        if self.form == "plain":
            codes: FloatArray = rows.values  # perhaps `ByteImages`, which stay
            return codes
        if self.form == "frame":
            parts = [c.encode(rows.values[c.name]) for c in self.columns]
            return np.column_stack(parts)
        (only,) = self.columns
        if self.form == "text":
            return only.encode(pd.Series(rows.values, dtype=object))[:, None]
        values = rows.values.astype(np.float64)
        return values if only.hole is None else np.where(np.isnan(values), only.hole, values)

    def decode(self, codes: AnyArray) -> Any:
        """What the model takes.

        Raises:
            DataError: For codes that stand for nothing: fractions, positions beyond the list.
        """
        if self.form == "plain":
            return codes
        if self.form == "frame":
            parts = {
                c.name: pd.Series(c.decode(codes[:, i]), dtype=c.dtype)
                for i, c in enumerate(self.columns)
            }
            return pd.DataFrame(parts)
        (only,) = self.columns
        if self.form == "text":
            return np.asarray(only.decode(codes[:, 0]), dtype=object)
        return only.decode(codes)

    def view(self, codes: AnyArray) -> FloatArray:
        """Numbers to measure distances with; plain floats are their own view."""
        if self.form == "plain":
            return codes.astype(np.float64, copy=False)
        if self.form == "frame" or self.form == "text":
            return np.column_stack([c.view(codes[:, i]) for i, c in enumerate(self.columns)])
        (only,) = self.columns
        flat = codes.reshape(len(codes), -1)
        lost = np.zeros(flat.shape, bool) if only.hole is None else flat == only.hole
        return np.where(lost, 0.0, (flat - only.centre) / only.scale)


def _learnt(parts: Sequence[pd.Series[Any]], kind: str) -> ColumnCodes:
    name = str(parts[0].name)
    dtypes: set[Any] = {part.dtype for part in parts}
    plain = all(isinstance(d, np.dtype) and d.kind in "fiu" for d in dtypes)
    numbers = _learnt_numbers(parts, kind, np.result_type(*dtypes)) if plain else None
    if numbers is not None:
        return numbers
    dtype: Any
    if len(dtypes) == 1 and isinstance(parts[0].dtype, pd.CategoricalDtype):
        dtype = parts[0].dtype
        values = [*dtype.categories]
        lost = any(bool(part.isna().any()) for part in parts)
        known: Any = [*values, None] if lost else values
        levels: Any = pd.Categorical(known, dtype=dtype)
        return ColumnCodes(name, kind, dtype, pd.CategoricalIndex(levels))
    dtype = parts[0].dtype if len(dtypes) == 1 else np.dtype(object)
    if dtype == np.dtype(object):
        distinct: Any = {_exact(value): value for part in parts for value in part.tolist()}
        levels = np.empty(len(distinct), dtype=object)
        levels[:] = list(distinct.values())
        return ColumnCodes(name, kind, dtype, levels)
    joined = pd.concat([part.astype(dtype) for part in parts], ignore_index=True)
    _, distinct = pd.factorize(joined, use_na_sentinel=False)
    levels = pd.Index(distinct, dtype=dtype)
    if kind == "date":
        centre, spread = _moments_of(_seconds(levels))
        return ColumnCodes(name, kind, dtype, levels, None, centre, spread)
    return ColumnCodes(name, kind, dtype, levels)


def _learnt_numbers(parts: Sequence[pd.Series[Any]], kind: str, dtype: Any) -> ColumnCodes | None:
    """Numbers stand for themselves; None for integers that float64 does not hold exactly."""
    name = str(parts[0].name)
    numbers = np.concatenate([part.to_numpy(dtype=np.float64) for part in parts])
    held = numbers[~np.isnan(numbers)]
    if not np.isfinite(held).all():
        raise DataError(f"Column {name!r} must be finite.", got="infinity")
    low, high = (held.min(), held.max()) if len(held) else (0.0, 0.0)
    if max(abs(low), abs(high)) > _EXACT and dtype.kind != "f":
        return None
    hole = _hole(low, high) if len(held) < len(numbers) else None
    return ColumnCodes(name, kind, dtype, None, hole, *_moments_of(held))


def _exact(value: Any) -> tuple[str, Any]:
    """A key that tells 1 from 1.0, True and "1", and None from NaN."""
    missing = value is None or (isinstance(value, float) and value != value) or value is pd.NA
    return type(value).__name__, None if missing else value


def _hole(low: float, high: float) -> float:
    """A number that is far from all others, below the smallest one."""
    with np.errstate(over="ignore"):
        below = float(low - max(high - low, 1.0, _FAR * max(abs(low), abs(high))))
    if np.isfinite(below):
        return below
    raise DataError("Numbers with holes must be of a usual size.", got=f"{low:g} to {high:g}")


def _moments_of(values: FloatArray) -> tuple[float, float]:
    held = values[np.isfinite(values)]
    if not held.size:
        return 0.0, 1.0
    largest = float(np.abs(held).max()) or 1.0  # so that no square is too large
    centre, spread = float((held / largest).mean()), float((held / largest).std())
    return centre * largest, spread * largest if spread > 0 else 1.0


def _seconds(levels: Any) -> FloatArray:
    index = pd.Index(levels)
    if isinstance(index, pd.TimedeltaIndex):
        return index.total_seconds().to_numpy(dtype=np.float64)
    start = pd.Timestamp(0, tz=getattr(index, "tz", None))
    return np.asarray((index - start).total_seconds(), dtype=np.float64)


def _whole(codes: FloatArray, name: str, below: int | None = None) -> Any:
    """Codes as integers: whole numbers, and in the list where there is one."""
    nearest = np.rint(codes)
    # Scaled to [0, 1] and back, a large integer is off by some rounding.
    if not (np.abs(codes - nearest) <= _NEAR + _ROUNDING * np.abs(nearest)).all():
        raise DataError(
            f"{name!r} must have whole numbers: what lies between two values is none.",
            got=f"{codes.ravel()[np.abs(codes - nearest).argmax()]!r}",
        )
    whole = nearest.astype(np.int64)
    if below is not None and whole.size and (whole.min() < 0 or whole.max() >= below):
        raise DataError(
            f"{name!r} has {below} known values.", got=f"the codes {whole.min()} to {whole.max()}"
        )
    return whole


def _names(column: ColumnCodes) -> list[tuple[str, str]]:
    return [(type(level).__name__, str(level)) for level in column.levels]
