"""What people see of the rows they label: features in the file, pictures beside it."""

import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core.arrays import AnyArray
from fireassay.core.files import write_bytes

PICTURE = "picture"
_OURS = ("id", "row", "label", "annotator", "comment", "kind", PICTURE)
_MOST_COLUMNS = 200
_CHANNELS = (1, 3, 4)


def shown_path(state_file: Path) -> Path:
    """Where the rows of a search are kept for people to look at."""
    return state_file.with_name(f"{state_file.stem}-rows.npz")


def keep_shown(
    state_file: Path,
    X: Any,
    feature_names: tuple[str, ...] | None = None,
    kind: str | None = None,
) -> None:
    """Keep rows beside a search that waits for labels, as the data set has them.

    Parameters
    ----------
    state_file
        The search's file.
    X
        All rows that the search was given, in their order: numbers, texts, or a data frame.
    feature_names
        Of the columns of a table.
    kind
        "row", "image" or "series" ``(n, channels, length)``; by default what the shape says.
    """
    if hasattr(X, "columns"):
        names_of_columns = tuple(str(name) for name in X.columns)
        feature_names, X = names_of_columns, X.astype(str).where(X.notna(), "").to_numpy()
    values = np.asarray(X)
    if values.dtype.kind == "O":
        values = values.astype(str)
    names = np.array(feature_names if feature_names is not None else (), dtype=np.str_)
    content = io.BytesIO()
    found = kind or ("image" if values.ndim > 2 else "row")
    np.savez_compressed(content, X=values, names=names, kind=np.array(found))
    write_bytes(shown_path(state_file), content.getvalue())


class ShownRows:
    """The rows of a search as people see them; nothing where they were not kept."""

    def __init__(self, state_file: Path) -> None:
        path = shown_path(state_file)
        self.values: AnyArray | None = None
        self.columns: tuple[str, ...] = ()
        self.names: tuple[str, ...] = ()
        self.kind = "row"
        if not path.is_file():
            return
        with np.load(path, allow_pickle=False) as kept:
            self.values, self.names = kept["X"], tuple(kept["names"].tolist())
            usual = "image" if self.values.ndim > 2 else "row"
            self.kind = str(kept["kind"]) if "kind" in kept else usual
        if self.values.ndim == 1:
            self.columns = ("text",)
        elif self.values.ndim == 2 and self.values.shape[1] <= _MOST_COLUMNS:
            width = self.values.shape[1]
            found = (
                self.names
                if len(self.names) == width
                else tuple(f"feature {i}" for i in range(width))
            )
            self.columns = tuple(f"feature {n}" if n in _OURS else n for n in found)
        elif self.values.ndim > 2:
            self.columns = (PICTURE,)

    @property
    def as_pictures(self) -> bool:
        """Whether rows are pictures, in files of their own."""
        return self.columns == (PICTURE,)

    def cells(self, row: int, folder: Path) -> list[str]:
        """What the file shows of a row: its features, or the path of its picture."""
        if self.values is None or not self.columns:
            return []
        if self.as_pictures:
            return [f"{folder.name}/{row}.png"]
        value = self.values[row]
        return [_cell(v) for v in ([value] if self.values.ndim == 1 else value.tolist())]

    def is_other(self, row: int, fields: Mapping[str, Any]) -> bool:
        """Whether a line of a file shows another row than this one; numbers may be rounded."""
        if self.as_pictures or not self.columns or not set(self.columns) <= set(fields):
            return False
        kept = self.cells(row, Path())
        return any(
            not _same(str(fields[column] or ""), cell)
            for column, cell in zip(self.columns, kept, strict=True)
        )

    def write_pictures(self, rows: list[int], folder: Path) -> None:
        """Write a PNG file for each row, if rows are pictures or series."""
        if not self.as_pictures or self.values is None:
            return
        if self.kind == "series":
            folder.mkdir(parents=True, exist_ok=True)
            for row in rows:
                drawn_lines(self.values[row]).save(folder / f"{row}.png")
            return
        from PIL import Image

        folder.mkdir(parents=True, exist_ok=True)
        low, high = float(self.values.min()), float(self.values.max())
        if low >= 0:
            low, high = 0.0, 1.0 if high <= 1 else max(255.0, high)
        for row in rows:
            pixels = channels_last(np.asarray(self.values[row], dtype=np.float64))
            scaled = np.rint(255 * (pixels - low) / ((high - low) or 1.0)).astype(np.uint8)
            Image.fromarray(scaled).save(folder / f"{row}.png")


def drawn_lines(series: AnyArray, width: int = 600, height: int = 140) -> Any:
    """A picture of a series ``(channels, length)``: a line for each channel, on its own scale.

    >>> drawn_lines(np.array([[0.0, 1.0, 0.0], [5.0, 5.0, 9.0]])).size
    (600, 280)
    """
    from PIL import Image, ImageDraw

    lines = np.asarray(series, dtype=np.float64).reshape(-1, series.shape[-1])
    picture = Image.new("RGB", (width, height * len(lines)), "white")
    pen, edge = ImageDraw.Draw(picture), 12
    for number, line in enumerate(lines):
        low, high = float(np.nanmin(line)), float(np.nanmax(line))
        across = edge + (width - 2 * edge) * np.arange(len(line)) / max(1, len(line) - 1)
        share = (np.nan_to_num(line, nan=low) - low) / ((high - low) or 1.0)
        down = number * height + height - edge - (height - 3 * edge) * share
        pen.line(list(zip(across.tolist(), down.tolist(), strict=True)), fill="black", width=2)
        pen.text((edge, number * height + 2), f"channel {number}: {low:.4g} to {high:.4g}", "black")
    return picture


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _same(given: str, kept: str) -> bool:
    from fireassay.data.csv_file import safe_cell

    if given.strip() in (kept.strip(), str(safe_cell(kept)).strip()):
        return True
    try:
        return math.isclose(float(given.replace(",", ".")), float(kept), rel_tol=1e-2, abs_tol=1e-9)
    except ValueError:
        return False


def channels_last(pixels: AnyArray) -> AnyArray:
    """A picture as (height, width) or (height, width, channels), also where channels came first.

    >>> channels_last(np.zeros((3, 8, 9))).shape, channels_last(np.zeros((8, 9, 1))).shape
    ((8, 9, 3), (8, 9))
    """
    if pixels.ndim == 3 and pixels.shape[0] in _CHANNELS and pixels.shape[2] not in _CHANNELS:
        pixels = np.moveaxis(pixels, 0, -1)
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    return np.ascontiguousarray(pixels)
