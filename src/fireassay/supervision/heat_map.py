"""Supervisors × sets as a heat map: no single winner, made visible."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fireassay.supervision.comparison import Comparison


def heat_map(comparison: "Comparison") -> "Figure":
    """AUROC per supervisor and set; the best of a set framed, what could not be used hatched."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    wide = comparison.matrix("auroc")
    values = wide.to_numpy(dtype=float)
    n_rows, n_columns = values.shape
    figure = Figure(figsize=(2.6 + 0.95 * n_columns, 0.9 + 0.27 * n_rows), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(np.ma.masked_invalid(values), vmin=0, vmax=1, cmap="RdYlGn", aspect="auto")
    axes.set_xticks(range(n_columns), wide.columns, rotation=30, ha="right")
    axes.set_yticks(range(n_rows), wide.index)
    for row in range(n_rows):
        for column in range(n_columns):
            value = values[row, column]
            text = "n.a." if np.isnan(value) else f"{value:.2f}"
            axes.text(column, row, text, ha="center", va="center", fontsize=8)
    for column in range(n_columns):
        if np.isfinite(values[:, column]).any():
            best = int(np.nanargmax(values[:, column]))
            corner = (column - 0.48, best - 0.46)
            axes.add_patch(Rectangle(corner, 0.96, 0.92, fill=False, linewidth=2))
    figure.colorbar(image, ax=axes, label="AUROC")
    return figure
