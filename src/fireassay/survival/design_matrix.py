"""Covariates as a matrix, block by block: reference levels, scaling, and what cannot be fitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import AnyArray
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.lazy import pd

BLOCK_ROWS = 1 << 13  # a block and its product stay in a core's cache
_LARGEST_HELD = 1 << 22


@dataclass(frozen=True)
class Column:
    """One column of the matrix: a number, or one level of a text column against the reference."""

    name: str
    source: str
    level: str | None = None
    reference: str | None = None


@dataclass(frozen=True)
class Encoding:
    """How rows become numbers: levels against a reference, mean and spread taken out."""

    columns: tuple[Column, ...]
    center: AnyArray
    spread: AnyArray

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, the intercept first."""
        return ("Intercept", *(column.name for column in self.columns))

    def at(self, rows: pd.DataFrame) -> AnyArray:
        """The standardised matrix of any rows, intercept first."""
        missing = sorted({c.source for c in self.columns} - set(rows.columns))
        if missing:
            raise DataError(
                "The rows must have every covariate of the fit.", got=f"no {', '.join(missing)}"
            )
        raw = _raw_columns(rows, self.columns)
        return _standardised(_raw_block(raw, slice(0, len(rows))), self.center, self.spread)

    @property
    def to_raw(self) -> AnyArray:
        """The matrix that turns coefficients of the standardised columns into raw ones."""
        size = len(self.columns) + 1
        transform = np.zeros((size, size))
        transform[0, 0] = 1.0
        transform[0, 1:] = -self.center / self.spread
        transform[np.arange(1, size), np.arange(1, size)] = 1.0 / self.spread
        return transform


@dataclass(frozen=True)
class DesignMatrix:
    """Standardised covariates with an intercept, made on demand so that memory stays bounded."""

    n: int
    encoding: Encoding
    raw: tuple[NDArray[Any], ...]

    def __len__(self) -> int:
        return self.n

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, the intercept first."""
        return self.encoding.names

    def blocks(self) -> Iterator[tuple[slice, AnyArray]]:
        """Row ranges with their standardised block, intercept first."""
        center, spread = self.encoding.center, self.encoding.spread
        for rows in row_blocks(self.n):
            yield rows, _standardised(_raw_block(self.raw, rows), center, spread)

    def held_in_memory(self) -> DesignMatrix | HeldDesignMatrix:
        """The same blocks, kept instead of made again where they are small."""
        if self.n * len(self.names) > _LARGEST_HELD:
            return self
        return self.held()

    def held(self) -> HeldDesignMatrix:
        """The same blocks, kept."""
        return HeldDesignMatrix(self.n, self.names, tuple(self.blocks()))


@dataclass(frozen=True)
class HeldDesignMatrix:
    """Standardised blocks in memory, for data small enough to keep."""

    n: int
    names: tuple[str, ...]
    held: tuple[tuple[slice, AnyArray], ...]

    def __len__(self) -> int:
        return self.n

    def blocks(self) -> Iterator[tuple[slice, AnyArray]]:
        """Row ranges with their block."""
        return iter(self.held)


def every(design: DesignMatrix, step: int) -> HeldDesignMatrix:
    """Every ``step``-th row, in memory."""
    raw = tuple(values[::step] for values in design.raw)
    return DesignMatrix(len(range(0, design.n, step)), design.encoding, raw).held()


def row_blocks(n: int) -> Iterator[slice]:
    """Ranges that cover n rows in blocks."""
    for start in range(0, n, BLOCK_ROWS):
        yield slice(start, min(start + BLOCK_ROWS, n))


def design_matrix(
    frame: pd.DataFrame, covariates: Sequence[str], *, reference: Mapping[str, Any] | None = None
) -> DesignMatrix:
    """Frame columns as numbers; text as one column per level but the reference (first level)."""
    columns: list[Column] = []
    for name in _checked_names(frame, covariates, reference or {}):
        if _is_number(frame[name]):
            columns.append(Column(str(name), name))
        else:
            columns.extend(_levels(frame[name], name, (reference or {}).get(name)))
    chosen = tuple(columns)
    raw = _raw_columns(frame, chosen)
    center, spread, correlation = _moments(len(frame), chosen, raw)
    _check_constant(chosen, center, spread)
    _check_collinear(chosen, correlation)
    return DesignMatrix(len(frame), Encoding(chosen, center, spread), raw)


def _checked_names(
    frame: pd.DataFrame, covariates: Sequence[str], reference: Mapping[str, Any]
) -> list[str]:
    if isinstance(covariates, str):
        raise ParameterError(
            "The 'covariates' parameter must be a list of column names.", got=repr(covariates)
        )
    names = list(covariates)
    if len(set(names)) < len(names):
        raise ParameterError("Covariates must be named once.", got=", ".join(map(str, names)))
    for name in [*names, *reference]:
        if name not in frame.columns:
            raise DataError(
                f"The covariate '{name}' must be a column of the observations.",
                got=", ".join(map(str, frame.columns)),
            )
    return names


def _is_number(column: pd.Series[Any]) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _levels(column: pd.Series[Any], name: str, reference: Any) -> list[Column]:
    if column.isna().any():
        raise DataError(
            f"The covariate '{name}' must not have missing values.",
            got=f"{int(column.isna().sum())} missing",
        )
    levels = sorted({str(level) for level in column.unique()})
    chosen = levels[0] if reference is None else str(reference)
    if chosen not in levels:
        raise DataError(
            f"The reference level of '{name}' must be one of {', '.join(levels)}.", got=chosen
        )
    if len(levels) < 2:
        raise DataError(
            f"The covariate '{name}' must have at least two levels.",
            got=f"'{levels[0]}' in every row",
            do="Leave it out: a constant explains nothing.",
        )
    return [Column(f"{name}[{lv}]", name, lv, chosen) for lv in levels if lv != chosen]


def _raw_columns(frame: pd.DataFrame, columns: tuple[Column, ...]) -> tuple[NDArray[Any], ...]:
    """Each column as it is stored: numbers are not copied, levels take one byte a row."""
    text: dict[str, NDArray[Any]] = {}
    raw: list[NDArray[Any]] = []
    for column in columns:
        if column.level is None:
            raw.append(_stored_numbers(frame[column.source], column.source))
            continue
        if column.source not in text:
            text[column.source] = frame[column.source].astype(str).to_numpy()
        raw.append(np.asarray(text[column.source] == column.level))
    return tuple(raw)


def _stored_numbers(column: pd.Series[Any], name: str) -> NDArray[Any]:
    values = column.to_numpy()
    if values.dtype.kind in "fiu":
        return values
    try:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as failure:
        raise DataError(
            f"The covariate '{name}' must be numbers, as in the fit.", got=f"{failure}"
        ) from failure


def _raw_block(raw: tuple[NDArray[Any], ...], rows: slice) -> AnyArray:
    """A block of rows; stored column by column, as frames are."""
    block = np.empty((len(raw), rows.stop - rows.start))
    for j, values in enumerate(raw):
        block[j] = values[rows]
    return block.T


def _standardised(block: AnyArray, center: AnyArray, spread: AnyArray) -> AnyArray:
    matrix = np.empty((block.shape[1] + 1, len(block)))
    matrix[0] = 1.0
    np.subtract(block.T, center[:, None], out=matrix[1:])
    matrix[1:] /= spread[:, None]
    return matrix.T


def _moments(
    n: int, columns: tuple[Column, ...], raw: tuple[NDArray[Any], ...]
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Means, standard deviations and correlations in one pass, around the first block's means."""
    p = len(columns)
    total, cross, origin = np.zeros(p), np.zeros((p, p)), np.zeros(p)
    for rows in row_blocks(n):
        block = _raw_block(raw, rows)
        if rows.start == 0:
            origin = block.mean(axis=0)
        with np.errstate(invalid="ignore"):
            block -= origin
            sums = block.sum(axis=0)
        if not np.isfinite(sums).all():
            bad = ~np.isfinite(block).all(axis=0)
            raise DataError(
                f"The covariate '{columns[int(bad.argmax())].name}' must be finite.",
                got="NaN or infinity",
                do="Impute or drop those rows first.",
            )
        total += sums
        cross += block.T @ block
    shift = total / n
    covariance = cross / n - np.outer(shift, shift)
    spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    safe = np.where(spread > 0, spread, 1.0)
    return origin + shift, spread, covariance / np.outer(safe, safe)


def _check_constant(columns: tuple[Column, ...], center: AnyArray, spread: AnyArray) -> None:
    for column, mean, sd in zip(columns, center, spread, strict=True):
        if sd <= 1e-12 * max(1.0, abs(mean)):
            raise DataError(
                f"The covariate '{column.name}' must vary.",
                got=f"the value {mean:g} in every row",
                do="Leave it out: a constant explains nothing.",
            )


def _check_collinear(columns: tuple[Column, ...], correlation: AnyArray) -> None:
    if not columns:
        return
    values, vectors = np.linalg.eigh(correlation)
    if values[0] < 1e-10 * max(1.0, values[-1]):
        involved = np.abs(vectors[:, 0]) > 1e-4
        names = [column.name for column, used in zip(columns, involved, strict=True) if used]
        raise DataError(
            "Covariates must not determine each other.",
            got=f"collinear columns: {', '.join(names)}",
            do="Leave one of them out; a full set of dummies needs one level as the reference.",
        )
