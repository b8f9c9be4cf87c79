"""Pictures: sheets of generated images, to be judged by people, and the accuracy per pair."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fireassay.ambiguity.ambiguous_set import AmbiguousSet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_PAIRS = 10
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


def overview(amb: AmbiguousSet) -> "Figure | None":
    """A row of samples for each of the first pairs; None if the rows are no images."""
    if not is_image(amb.X):
        return None
    from matplotlib.figure import Figure

    pairs = amb.unique_pairs[:_MOST_PAIRS]
    figure = Figure(figsize=(8.0, 0.75 * len(pairs) + 0.2), layout="constrained")
    grid = figure.subplots(len(pairs), 1, squeeze=False)[:, 0]
    for axes, (first, second) in zip(grid, pairs, strict=True):
        sheet = pair_sheet(amb, first, second, _PER_ROW)
        axes.imshow(sheet, cmap="gray", vmin=0, vmax=255)
        axes.set_ylabel(f"{first}\n{second}", rotation=0, ha="right", va="center")
        axes.set_xticks([])
        axes.set_yticks([])
    return figure


def pair_matrix(by_pair: pd.DataFrame) -> "Figure":
    """Top-pair accuracy for each pair of classes, as a triangle of coloured cells."""
    from matplotlib.figure import Figure

    named = [*by_pair["first"], *by_pair["second"]]
    classes = list(dict.fromkeys(sorted(named, key=lambda label: (str(type(label)), label))))
    values = np.full((len(classes), len(classes)), np.nan)
    for row in by_pair.itertuples():
        values[classes.index(row.second), classes.index(row.first)] = row.top_pair
    side = min(8.0, 1.6 + 0.42 * len(classes))
    figure = Figure(figsize=(side + 1.0, side), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(values, vmin=0.0, vmax=1.0, cmap="viridis")
    ticks = range(len(classes))
    axes.set_xticks(ticks, [str(label) for label in classes], rotation=90)
    axes.set_yticks(ticks, [str(label) for label in classes])
    if len(classes) <= 12:
        for i, j in zip(*np.nonzero(np.isfinite(values)), strict=True):
            colour = "black" if values[i, j] > 0.6 else "white"
            axes.text(j, i, f"{values[i, j]:.2f}", ha="center", va="center", color=colour, size=7)
    figure.colorbar(image, label="top-pair accuracy")
    return figure
