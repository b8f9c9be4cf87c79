"""Sheets of generated images, to be judged by people."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.ambiguity.ambiguous_set import AmbiguousSet

_PER_ROW = 12


def is_image(X: NDArray[Any]) -> bool:
    """Whether rows can be shown: ``(n, h, w)`` or ``(n, h, w, 1 or 3)`` in [0, 1]."""
    shown = X.ndim == 3 or (X.ndim == 4 and X.shape[3] in (1, 3))
    return bool(shown and min(X.shape[1:3]) >= 4 and X.min() >= 0.0 and X.max() <= 1.0)


def tiles(images: NDArray[Any], columns: int = _PER_ROW, gap: int = 1) -> NDArray[np.uint8]:
    """Images side by side as one picture, white lines between; pixels are rounded, not cut."""
    grey = images if images.ndim == 4 else images[..., None]
    n, height, width, channels = grey.shape
    rows = -(-n // columns)
    sheet = np.full(
        (rows * (height + gap) + gap, columns * (width + gap) + gap, channels), 255, dtype=np.uint8
    )
    pixels = np.round(np.clip(grey, 0.0, 1.0) * 255.0).astype(np.uint8)
    for i, image in enumerate(pixels):
        top = gap + (i // columns) * (height + gap)
        left = gap + (i % columns) * (width + gap)
        sheet[top : top + height, left : left + width] = image
    return sheet[..., 0] if channels == 1 else sheet


def pair_sheet(amb: AmbiguousSet, first: Any, second: Any, most: int = 48) -> NDArray[np.uint8]:
    """Samples of one pair, from the first class's side to the second's."""
    rows = amb.of_pair(first, second)[:most]
    towards_second = amb.soft_labels[rows, amb.classes.index(second)]
    return tiles(amb.X[rows[np.argsort(towards_second, kind="stable")]])
