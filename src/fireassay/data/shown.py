"""A row as people see it: a picture, cells of a table, curves over time, or words."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import AnyArray, FloatArray
from fireassay.core.errors import DataError
from fireassay.data.pixel_range import image_layout
from fireassay.data.rows import Rows

SMALL: Final = 64  # pixels of a picture with fewer should be seen
_BLOCK_BYTES, _LEAST_SIDE = 2**24, 4
_RED, _BLUE = (163.0, 33.0, 28.0), (11.0, 92.0, 173.0)


@dataclass(frozen=True, eq=False)
class Picture:
    """Bytes of pixels, ``(height, width)`` or ``(height, width, 1, 3 or 4)``."""

    pixels: NDArray[np.uint8]

    def png(self, longest: int | None = None) -> bytes:
        """The picture as a PNG file, with no side above ``longest``."""
        from PIL import Image

        pixels = np.asarray(self.pixels)
        grey = pixels.ndim == 3 and pixels.shape[2] == 1
        image = Image.fromarray(np.ascontiguousarray(pixels[:, :, 0] if grey else pixels))
        if longest is not None and max(image.size) > longest:
            image.thumbnail((longest, longest))
        out = io.BytesIO()
        image.save(out, format="PNG", optimize=longest is not None)
        return out.getvalue()

    def uri(self, longest: int = 96) -> str:
        """The picture as a small PNG data URI."""
        return "data:image/png;base64," + base64.b64encode(self.png(longest)).decode()


@dataclass(frozen=True)
class Table:
    """Names and values of a row's columns."""

    names: tuple[str, ...]
    values: tuple[Any, ...]

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(zip(self.names, self.values, strict=True))


@dataclass(frozen=True, eq=False)
class Curve:
    """Values over time, a line ``(channels, steps)`` for each name."""

    names: tuple[str, ...]
    lines: FloatArray

    def thinned(self, channels: int, steps: int) -> dict[str, tuple[float, ...]]:
        """A few lines of at most so many steps, by name."""
        some = thinned(self.lines, channels, steps).tolist()
        return {
            name: tuple(float(f"{v:.4g}") for v in np.nan_to_num(line))
            for name, line in zip(self.names, some, strict=False)
        }

    def drawn(self, width: int = 600, height: int = 140) -> Picture:
        """A picture with a line for each channel, each on its own scale."""
        from PIL import Image, ImageDraw

        picture = Image.new("RGB", (width, height * len(self.lines)), "white")
        pen, edge = ImageDraw.Draw(picture), 12
        for number, line in enumerate(self.lines):
            low, high = float(np.nanmin(line)), float(np.nanmax(line))
            across = edge + (width - 2 * edge) * np.arange(len(line)) / max(1, len(line) - 1)
            share = (np.nan_to_num(line, nan=low) - low) / ((high - low) or 1.0)
            down = number * height + height - edge - (height - 3 * edge) * share
            pen.line(list(zip(across.tolist(), down.tolist(), strict=True)), fill="black", width=2)
            title = f"{self.names[number]}: {low:.4g} to {high:.4g}"
            pen.text((edge, number * height + 2), title, "black")
        return Picture(np.asarray(picture))


@dataclass(frozen=True)
class Words:
    """A text."""

    text: str


Shown = Picture | Table | Curve | Words


def shown(
    rows: Rows,
    i: int,
    *,
    names: Sequence[str] | None = None,
    ends: tuple[float, float] | None = None,
) -> Shown:
    """What people see of one row, by the form of the rows."""
    # Names are those of a table's columns or a series' channels. Ends of images are what is black
    # and what is white; None: as `pixel_ends` finds it in these rows.
    if rows.form == "text":
        return Words(str(rows.values[i]))
    if rows.form == "recorded":
        return Table((), ())
    if rows.form in ("table", "tokens"):
        row = rows.values.iloc[i] if rows.is_frame else np.asarray(rows.values[i])
        own = rows.names if rows.is_frame else tuple(f"feature {j}" for j in range(len(row)))
        return Table(tuple(names or own), tuple(row.tolist()))
    one = np.asarray(rows.values[i : i + 1])
    if is_picture(rows):
        return Picture(as_bytes(one, ends or pixel_ends(rows.values))[0])
    lines = lines_of(one, None if names is None else len(names))[0]
    return Curve(tuple(names or (f"channel {j}" for j in range(len(lines)))), lines)


def is_picture(rows: Rows) -> bool:
    """Whether rows can be shown as pictures: images with a place for colours, and not tiny."""
    shape = rows.values.shape
    if rows.form != "image" or len(shape) > 4:
        return False
    return image_layout(shape) != "unclear" if len(shape) == 4 else min(shape[1:]) >= _LEAST_SIDE


def pixel_ends(images: Any) -> tuple[float, float]:
    """Smallest and largest pixel value, for scaling pictures: 0 and 1, 0 and 255, or as found."""
    if images.dtype == np.uint8:
        return 0.0, 255.0
    found = [(float(b.min()), float(b.max())) for b in (images[part] for part in blocks(images))]
    low, high = min(low for low, _ in found), max(high for _, high in found)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise DataError("Images must be finite.", got="NaN or infinity")
    return (low, high) if low < 0 or high > 255 else (0.0, 1.0 if high <= 1 else 255.0)


def as_bytes(images: Any, ends: tuple[float, float]) -> NDArray[np.uint8]:
    """Images as bytes of pixels with their channels last."""
    placed = channels_last(images)
    if images.dtype == np.uint8:
        return np.asarray(placed)
    low, high = ends
    out = np.empty(placed.shape, dtype=np.uint8)
    for part in blocks(placed):
        share = (np.asarray(placed[part], dtype=np.float64) - low) / ((high - low) or 1.0)
        out[part] = np.rint(np.nan_to_num(share).clip(0.0, 1.0) * 255)
    return out


def signed_picture(change: AnyArray) -> Picture:
    """A difference of two images: blue below zero, red above, white where nothing changed."""
    values = np.nan_to_num(np.asarray(change, dtype=float))
    values = values.mean(axis=2) if values.ndim == 3 else values
    values = values / (np.abs(values).max(initial=0.0) or 1.0)
    up, down = np.clip(values, 0, 1)[..., None], np.clip(-values, 0, 1)[..., None]
    pixels = 255.0 - up * (255.0 - np.array(_RED)) - down * (255.0 - np.array(_BLUE))
    return Picture(np.round(pixels).astype(np.uint8))


def png_uri(pixels: AnyArray) -> str:
    """One image with values from 0 to 1 as a small PNG data URI."""
    return Picture(as_bytes(np.asarray(pixels, dtype=float)[None], (0.0, 1.0))[0]).uri()


def channels_last(images: Any) -> Any:
    """Images ``(n, h, w, c)`` or ``(n, h, w)``, also where channels came first."""
    return np.moveaxis(images, 1, -1) if image_layout(images.shape) == "CHW" else images


def lines_of(values: AnyArray, channels: int | None = None) -> FloatArray:
    """Series as ``(n, channels, steps)``; time is the longer side, or the one with no channels."""
    array = np.asarray(values)
    if array.ndim == 2:
        return array[:, None, :]
    last = array.shape[-1] == channels if channels else array.shape[1] >= array.shape[-1]
    lines = np.moveaxis(array, -1, 1) if last and array.shape[1] != channels else array
    return lines.reshape(len(lines), -1, lines.shape[-1])


def thinned(lines: FloatArray, channels: int, steps: int) -> FloatArray:
    """A few channels ``(…, channels, steps)``, of at most so many steps."""
    step = -(-lines.shape[-1] // steps)
    return lines[..., :channels, ::step]


def blocks(rows: Any) -> Iterator[slice]:
    """Parts of many rows that fit into memory."""
    size = max(1, _BLOCK_BYTES // max(1, 8 * math.prod(rows.shape[1:])))
    return (slice(start, start + size) for start in range(0, len(rows), size))
