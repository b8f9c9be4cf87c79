"""Figures of an evaluation."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
