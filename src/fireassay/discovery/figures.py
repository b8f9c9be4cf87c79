"""Pictures of a search: the running ratio, the distances, the calibration of the critical class."""

from typing import TYPE_CHECKING

import numpy as np

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.discovery.discovery_ratio import RunningRatio
from fireassay.statistics.loess import loess

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fireassay.statistics import ReliabilityCurve

_MARKS = 25
_ERROR, _QUERY, _POOL = "#b2182b", "#2166ac", "#bbbbbb"


def curve_figure(running: RunningRatio, name: str) -> "Figure":
    """The ratio after each label, with the interval that holds at all steps at once."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.2), layout="constrained")
    axes = figure.subplots()
    steps = np.arange(1, len(running.wrong) + 1)
    points = running.points(_MARKS)
    marks, low = [point.n for point in points], [point.low for point in points]
    ratio = running.errors / np.maximum(running.expected, 1e-12)
    # Early ratios divide by almost nothing: the view follows the later ones.
    settled = ratio[len(ratio) // 5 :]
    top = 1.3 * max([2.0, *low, float(settled.max(initial=0.0))])
    high = [min(point.high, 2 * top) for point in points]
    axes.fill_between(marks, low, high, color=_QUERY, alpha=0.15, label="95 % at all steps")
    axes.plot(steps, ratio, color=_QUERY, label=name)
    axes.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
    axes.set(xlabel="labels", ylabel="errors found / expected", ylim=(0, top))
    axes.legend(frameon=False)
    return figure


def loess_figure(
    log_mae: FloatArray,
    confidence: FloatArray,
    queried: IntArray,
    wrong: BoolArray,
) -> "Figure":
    """Perturbation against confidence, the LOESS curve, and the rows that were asked about."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    found = np.isfinite(log_mae)
    axes.scatter(log_mae[found], confidence[found], s=5, color=_POOL, label="candidates")
    if found.sum() >= 3:
        grid = np.linspace(confidence[found].min(), confidence[found].max(), 200)
        curve = loess(confidence[found], log_mae[found])
        axes.plot(curve.predict(grid), grid, color="black", label="expected (LOESS)")
    for flag, colour, label in (
        (False, _QUERY, "queried, right"),
        (True, _ERROR, "queried, wrong"),
    ):
        rows = queried[wrong == flag]
        rows = rows[np.isfinite(log_mae[rows])]
        axes.scatter(log_mae[rows], confidence[rows], s=16, color=colour, label=label)
    axes.set(xlabel="log mean absolute perturbation", ylabel="confidence")
    axes.legend(frameon=False)
    return figure


def reliability_figure(curve: "ReliabilityCurve", title: str = "") -> "Figure":
    """Accuracy against confidence; red where the model promises more than it keeps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 4), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / max(len(curve.counts), 10)
    axes.bar(curve.mean_confidence, curve.accuracy, width=width, color=_QUERY)
    gap = np.maximum(curve.mean_confidence - curve.accuracy, 0.0)
    axes.bar(curve.mean_confidence, gap, width=width, bottom=curve.accuracy, color=_ERROR)
    spread = np.abs(np.vstack([curve.accuracy - curve.low, curve.high - curve.accuracy]))
    axes.errorbar(
        curve.mean_confidence, curve.accuracy, yerr=spread, fmt="none", ecolor="black", lw=0.8
    )
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle=":")
    axes.set(xlabel="confidence", ylabel="accuracy", title=title, ylim=(0, 1))
    lowest = float(curve.mean_confidence.min()) if len(curve.counts) else 0.0
    axes.set_xlim(max(0.0, lowest - 0.1), 1.0)
    return figure


def sheet_figure(columns: dict[str, AnyArray], titles: list[str] | None = None) -> "Figure":
    """Images side by side: one column per name, one line per row."""
    from matplotlib.figure import Figure

    rows = len(next(iter(columns.values())))
    figure = Figure(figsize=(1.6 * len(columns), 1.6 * max(rows, 1)), layout="constrained")
    grid = figure.subplots(max(rows, 1), len(columns), squeeze=False)
    for j, (name, images) in enumerate(columns.items()):
        for i in range(rows):
            image = np.asarray(images[i])
            image = image[..., 0] if image.ndim == 3 and image.shape[-1] == 1 else image
            signed = bool(image.min() < 0)
            limit = float(np.abs(image).max()) or 1.0
            axes = grid[i][j]
            axes.imshow(
                image,
                cmap="RdBu_r" if signed else "gray",
                vmin=-limit if signed else 0.0,
                vmax=limit if signed else max(1.0, limit),
            )
            axes.set(xticks=[], yticks=[])
            if i == 0:
                axes.set_title(name, fontsize=8)
            if j == 0 and titles is not None:
                axes.set_ylabel(titles[i], fontsize=7)
    return figure
