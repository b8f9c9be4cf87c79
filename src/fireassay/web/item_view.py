"""One item as the browser shows it: a picture, a table of features, or a curve."""

import io

import numpy as np

from fireassay.core import Chart
from fireassay.core.arrays import AnyArray
from fireassay.core.drawing import axis, curves
from fireassay.web.queue import Queue

SMALL = 64  # pixels of a picture of fewer should be seen
_MOST_STEPS = 2000
_FLAT = 0.2  # a channel that takes less of a common scale could not be seen on it


def png(queue: Queue, item: int) -> bytes:
    """An image item as PNG, in its own size."""
    return png_bytes(queue.content[item])


def png_bytes(pixels: AnyArray) -> bytes:
    """Pixels from 0 to 255, with one, three or four channels or none, as PNG."""
    from PIL import Image

    shown = np.asarray(pixels)
    if shown.ndim == 3 and shown.shape[2] == 1:
        shown = shown[:, :, 0]
    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(shown)).save(out, format="PNG")
    return out.getvalue()


def features(queue: Queue, item: int) -> list[tuple[str, float | str]]:
    """A row item as names and values: numbers, or texts where the table has any."""
    content = np.asarray(queue.content[item])
    texts = content.dtype.kind == "U"
    values = (content if texts else content.astype(np.float64)).tolist()
    names = queue.feature_names or tuple(f"feature {i}" for i in range(len(values)))
    return list(zip(names, values, strict=True))


def series(queue: Queue, item: int) -> Chart:
    """A series item: one line per channel."""
    values = np.asarray(queue.content[item], dtype=np.float64)
    lines = values[:, None] if values.ndim == 1 else values
    names = queue.feature_names or tuple(f"channel {i}" for i in range(lines.shape[1]))
    title = names[0] if len(names) == 1 else "value"
    spread = lines.max(axis=0) - lines.min(axis=0)
    if len(names) > 1 and spread.min() < _FLAT * np.ptp(lines):
        lines = (lines - lines.min(axis=0)) / np.where(spread > 0, spread, 1.0)
        title = "each from its lowest to its highest value"
    return Chart(
        curves(
            {name: (np.arange(len(lines)), lines[:, i]) for i, name in enumerate(names)},
            {"axis": axis("time step")},
            {"axis": axis(title), "scale": {"zero": False}},
            most=_MOST_STEPS,
            height=180,
        ),
        alternative=description(queue),
    )


def description(queue: Queue) -> str:
    """What a screen reader says instead of the picture."""
    shape = queue.content.shape[1:]
    what = {
        "image": f"image of {shape[0]} by {shape[1] if len(shape) > 1 else 1} pixels",
        "row": f"row of {shape[0]} features",
        "series": f"series of {shape[0]} time steps",
    }[queue.kind]
    return f"The item: {what}"
