"""A column whose cells are pictures or lists of numbers: rows that are no table."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core.arrays import AnyArray
from fireassay.core.errors import AssumptionWarning, DataError
from fireassay.core.lazy import pd

_LOOKED_AT = 20


def column_of_rows(features: pd.DataFrame, folder: Path | None) -> str | None:
    """The column whose cells are whole rows: encoded pictures, names of their files, vectors."""
    for i, name in enumerate(features.columns):
        cells = features.iloc[:, i].iloc[:_LOOKED_AT].tolist()
        if cells and (all(map(_is_vector, cells)) or _picture(cells[0], folder) is not None):
            return str(name)
    return None


def rows_of_column(
    features: pd.DataFrame, name: str, folder: Path | None, size: Sequence[int] | None = None
) -> AnyArray:
    """What a model gets of such a column: pixels in [0, 1], or rows of numbers."""
    column, left = features[name], [str(other) for other in features if other != name]
    if left:
        warnings.warn(
            f"The rows are the column {name!r}; left out: {', '.join(left[:8])}.",
            AssumptionWarning,
            stacklevel=3,
        )
    cells = column.tolist()
    if _is_vector(cells[0]):
        widths = {len(cell) if _is_vector(cell) else 0 for cell in cells}
        if len(widths) > 1:
            raise DataError(
                f"The lists of {column.name!r} must have one length.",
                got=", ".join(map(str, sorted(widths)[:5])),
            )
        return np.array([np.asarray(cell) for cell in cells])
    from fireassay.data.image_folder import read_pictures
    from fireassay.data.pixel_range import scaled_pixels

    sources = [_picture(cell, folder) for cell in cells]
    lost = [row for row, source in enumerate(sources) if source is None]
    if lost:
        raise DataError(
            f"Every cell of {column.name!r} must be a picture, or name its file.",
            got=f"{str(cells[lost[0]])[:80]!r} in row {lost[0]}",
        )
    shape = None if size is None else (int(size[0]), int(size[1]))
    return scaled_pixels(read_pictures(sources, shape), name=str(column.name))


def is_nested(values: pd.Series[Any]) -> bool:
    """Whether cells hold lists or objects, which are no values."""
    return values.dtype == object and not all(
        map(pd.api.types.is_hashable, values.iloc[:_LOOKED_AT])
    )


def _is_vector(cell: Any) -> bool:
    if not isinstance(cell, list | np.ndarray) or not len(cell):
        return False
    return all(isinstance(number, int | float | np.number) for number in cell)


def _picture(cell: Any, folder: Path | None) -> Any:
    """Where the bytes of a picture are: in the cell, or in a file beside the table."""
    from fireassay.data.image_folder import is_picture_name

    if isinstance(cell, dict) and {*cell} <= {"bytes", "path"}:
        cell = cell.get("bytes") or cell.get("path")
    if isinstance(cell, bytes):
        return io.BytesIO(cell)
    if not isinstance(cell, str) or folder is None or not is_picture_name(cell):
        return None
    place = (folder / cell).resolve()
    inside = place.is_relative_to(folder.resolve())
    return place if inside and place.is_file() else None
