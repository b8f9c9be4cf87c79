"""The rows of a set as a page shows them: small pictures, a table of numbers, lines, texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.shown_rows import Gallery
from fireassay.core.frames import is_frame
from fireassay.core.lazy_modules import pd
from fireassay.data.pixels import image_layout

MOST_BYTES = 2**30
_PICTURES_BYTES = 2**28
_SIDES = (32, 256)
_BLOCK_BYTES = 2**24
_CHANNELS, _STEPS, _TOKENS, _LEVELS, _CELL = 4, 240, 4000, 1000, 200
_EXACT = 2**24  # whole numbers beyond are rounded by four bytes


@dataclass(frozen=True)
class Content:
    """What shows rows.

    Attributes
    ----------
    kind
        "image", "table", "series", "text", or "none" with ``facts["reason"]``.
    arrays
        One row each (of texts: all bytes, and where each begins).
    facts
        Names of features and of their levels, what is usual; plain types.
    """

    kind: str
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


def shown_content(gallery: Gallery, rows: Any = None) -> Content:
    """The rows of a gallery, or others of the same form, as a page shows them."""
    values = gallery.rows if rows is None else rows
    kind = gallery.kind
    if kind == "table":
        found = _table(gallery, values)
    elif kind == "text":
        found = Content("text", _texts([str(v)[:_TOKENS] for v in np.asarray(values).tolist()]))
    elif kind == "image":
        found = _images(values, gallery.pixels)
    else:
        found = Content("series", {"content": _series(np.asarray(values))})
    if sum(array.nbytes for array in found.arrays.values()) > MOST_BYTES:
        reason = (
            f"the rows take more than {MOST_BYTES / 2**30:g} GiB and are not kept a second time"
        )
        return Content("none", facts={"reason": reason})
    return found


def _images(images: Any, pixels: Callable[[NDArray[Any]], NDArray[Any]]) -> Content:
    """Bytes of pixels (``pixels`` gives 0 to 1), channels last, smaller where that saves much."""
    shape = np.shape(images)
    first = image_layout(shape) == "CHW"
    height, width = shape[2:4] if first else shape[1:3]
    channels = 1 if len(shape) == 3 else shape[1] if first else shape[3]
    room = int(np.sqrt(_PICTURES_BYTES / max(1, shape[0] * channels)))
    factor = -(-max(height, width) // max(_SIDES[0], min(_SIDES[1], room)))
    small = (max(1, height // factor), max(1, width // factor))
    if shape[0] * small[0] * small[1] * channels > MOST_BYTES:
        return Content("none", facts={"reason": "the pictures take more than 1 GiB"})
    out = np.empty((shape[0], *small, channels), dtype=np.uint8)
    for block in _blocks(shape[0], int(np.prod(shape[1:])) * 8):
        some = np.nan_to_num(pixels(np.asarray(images[block], dtype=np.float64)))
        some = some[..., None] if some.ndim == 3 else np.moveaxis(some, 1, -1) if first else some
        if factor > 1:
            some = some[:, : small[0] * factor, : small[1] * factor]
            parts = (len(some), small[0], factor, small[1], factor, channels)
            some = some.reshape(parts).mean(axis=(2, 4))
        out[block] = np.rint(some * 255).astype(np.uint8)
    return Content("image", {"content": out}, {"side": [int(height), int(width)]})


def _table(gallery: Gallery, rows: Any) -> Content:
    """Numbers; names as positions in their list, or as texts where there are too many."""
    frame = rows if is_frame(rows) else None
    own = gallery.rows  # levels and what is usual are those of the whole set
    names = gallery.names
    arrays: dict[str, NDArray[Any]] = {}
    levels: dict[str, list[str]] = {}
    if frame is None:
        numbers = np.asarray(rows)
        plain = numbers.astype(_number_type(numbers))
    else:
        plain = np.full((len(frame), len(names)), np.nan)
        for i in range(len(names)):
            column = frame.iloc[:, i]
            if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
                plain[:, i] = column.to_numpy(dtype=np.float64, na_value=np.nan)
                continue
            texts = column.astype(str).where(column.notna(), "missing")
            known = pd.unique(own.iloc[:, i].astype(str).where(own.iloc[:, i].notna(), "missing"))
            if len(known) <= _LEVELS:
                levels[str(i)] = [str(v)[:_CELL] for v in known]
                plain[:, i] = pd.Categorical(texts, categories=known).codes
            else:
                packed = _texts([str(v)[:_CELL] for v in texts])
                arrays |= {f"cell-{i}-{key}": value for key, value in packed.items()}
        plain = plain.astype(_number_type(plain))
    arrays["content"] = plain
    facts = {"names": list(names), "levels": levels}
    return Content("table", arrays, {**facts, **_usual(plain, levels)})


def _usual(plain: NDArray[Any], levels: dict[str, list[str]]) -> dict[str, Any]:
    """Where most numbers of each column lie; distances are measured in these widths."""
    some = plain[:: max(1, len(plain) // 20_000)].astype(np.float64)
    low, high = [], []
    for i in range(some.shape[1]):
        held = some[:, i][np.isfinite(some[:, i])]
        ends = np.quantile(held, (0.025, 0.975)) if len(held) and str(i) not in levels else (0, 0)
        low.append(float(f"{ends[0]:.6g}"))
        high.append(float(f"{ends[1]:.6g}"))
    return {"low": low, "high": high}


def _number_type(numbers: NDArray[Any]) -> type[np.floating[Any]]:
    largest = np.nanmax(np.abs(numbers), initial=0.0) if numbers.size else 0.0
    return np.float64 if np.isfinite(largest) and largest > _EXACT else np.float32


def _series(values: NDArray[Any]) -> NDArray[np.float32]:
    """Channels first, a few of them, of at most so many steps; time is the longer side."""
    lines = values if values.shape[1] < values.shape[-1] else np.moveaxis(values, -1, 1)
    lines = lines.reshape(len(lines), -1, lines.shape[-1])[:, :_CHANNELS]
    step = -(-lines.shape[2] // _STEPS)
    return np.ascontiguousarray(lines[:, :, ::step], dtype=np.float32)


def _texts(texts: list[str]) -> dict[str, NDArray[Any]]:
    """Texts of any length without a common width: all bytes, and where each begins."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    starts = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(one) for one in encoded], out=starts[1:])
    return {"bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8), "starts": starts}


def _blocks(n: int, row_bytes: int) -> Iterator[slice]:
    size = max(1, _BLOCK_BYTES // max(1, row_bytes))
    return (slice(start, start + size) for start in range(0, n, size))
