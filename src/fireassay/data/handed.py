"""How rows are handed to a model: texts, arrays or frames; where channels are; how pixels count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from fireassay.core.errors import ParameterError
from fireassay.core.lazy import pd
from fireassay.data.dataset import DataSet
from fireassay.data.pixel_range import image_layout

ROWS: Final = ("texts", "array", "frame", "categories", "each")
LAYOUTS: Final = ("channels first", "channels last", "time first")
PIXELS: Final = ("unit", "bytes", "normalised")


@dataclass(frozen=True)
class Handed:
    """A way to hand rows to a model; what is empty stays as the data have it."""

    rows: str | None = None
    layout: str | None = None
    pixels: str | None = None
    batch_size: int | None = None

    def __str__(self) -> str:
        one = "one row at a time" if self.batch_size == 1 else None
        rows = "each text alone" if self.rows == "each" else self.rows
        named = [rows, self.layout, self.pixels and f"pixels as {self.pixels}", one]
        return ", ".join(filter(None, named)) or "as they are"

    def applied(self, data: DataSet, normalisation: Any = None) -> DataSet:
        """The data as the model gets them; mean and deviation are for normalised pixels."""
        X, form = data.X, data.rows.form
        if self.layout is not None:
            X = _placed(X, form, self.layout)
        if self.pixels == "bytes":
            X = np.rint(255 * np.asarray(X, dtype=np.float32))
        elif self.pixels == "normalised":
            X = _normalised(X, normalisation)
        if self.rows == "frame" and form in ("text", "table") and not data.rows.is_frame:
            names = data.feature_names or tuple(f"feature {i}" for i in range(data.rows.width))
            names = names if form == "table" or data.feature_names else ("text",)
            X, form = pd.DataFrame(np.asarray(X).reshape(len(data), -1), columns=names), "table"
        elif self.rows == "categories" and data.rows.is_frame:
            kinds = zip(X, data.kinds or (), strict=True)
            X = X.astype({name: "category" for name, kind in kinds if kind == "category"})
        elif self.rows == "array" and data.rows.is_frame:
            X = X.to_numpy(dtype=np.float64, na_value=np.nan)
        if X is data.X:
            return data
        lost = X.dtype.kind == "f" and bool(np.isnan(X).any()) if hasattr(X, "dtype") else False
        declared = None if form == "table" else data.kinds
        return replace(data, X=X, kinds=declared, form=form, missing=data.missing or lost)


def others(data: DataSet) -> Iterator[tuple[Handed, ...]]:
    """Other ways than the data's own, in fixed order; a later group is for models that refuse."""
    form, shape = data.rows.form, data.X.shape
    if form == "text":
        yield Handed(rows="array"), Handed(rows="frame"), Handed(rows="each")
    elif form == "table" and data.rows.is_frame:
        if set(data.kinds or ()) <= {"real", "integer"}:
            yield (Handed(rows="array"),)
        elif "category" in (data.kinds or ()):
            yield (Handed(rows="categories"),)
    elif form == "table" and data.feature_names:
        yield (Handed(rows="frame"),)
    elif form == "series":
        layouts = ["channels first", "time first"] if len(shape) == 2 else ["time first"]
        yield tuple(Handed(layout=name) for name in layouts)
    elif form == "image":
        there = {"HWC": "channels last", "CHW": "channels first"}.get(image_layout(shape))
        layouts = [name for name in LAYOUTS[:2] if name != there]
        yield tuple(Handed(layout=name) for name in layouts)
        first = Handed(layout=layouts[0], pixels="bytes")
        yield Handed(pixels="bytes"), first
    yield (Handed(batch_size=1),)


def _placed(X: Any, form: str, layout: str) -> Any:
    """Rows with their channels, or their time, in another place; a single channel gets an axis."""
    array = np.asarray(X)
    if form == "series":
        if array.ndim == 2:
            return array[:, None, :] if layout == "channels first" else array[:, :, None]
        long_last = array.shape[1] < array.shape[2]
        return array if long_last == (layout == "channels first") else np.moveaxis(array, 1, 2)
    if form != "image" or layout == "time first":
        raise ParameterError(f"The layout {layout!r} is for images or series.", got=f"{form} rows")
    if array.ndim == 3:
        return array[:, None] if layout == "channels first" else array[..., None]
    now = image_layout(array.shape)
    if layout == "channels first" and now != "CHW":
        return np.ascontiguousarray(np.moveaxis(array, -1, 1))
    if layout == "channels last" and now == "CHW":
        return np.ascontiguousarray(np.moveaxis(array, 1, -1))
    return X


def _normalised(X: Any, normalisation: Any) -> Any:
    if normalisation is None:
        raise ParameterError(
            "Pixels that are to be normalised need mean and std.",
            got="neither",
            do="--mean 0.485,0.456,0.406 --std 0.229,0.224,0.225, or [model] mean and std.",
        )
    array = np.asarray(X)
    shape = [1] * (array.ndim - 1)
    if array.ndim == 4:
        shape[0 if image_layout(array.shape) == "CHW" else 2] = -1
    mean, std = (np.array(each, dtype=np.float64).reshape(shape) for each in normalisation)
    largest = 255.0 if mean.max() > 1 else 1.0
    return ((array * largest - mean) / std).astype(np.float32)
