"""Figures of an assessment: bound against labels, profile, cell map, refinement, sensitivity."""

from typing import TYPE_CHECKING

import numpy as np

from fireassay.statistics.clopper_pearson import clopper_pearson

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fireassay.reliability.result import ReliabilityResult


def result_figures(result: "ReliabilityResult") -> "dict[str, Figure]":
    """Every figure for which the result has something to show."""
    figures = {"labels": bound_against_labels(result)}
    if len(result.cell_shape) == 2 and len(result.cells) == np.prod(result.cell_shape):
        figures["profile"] = cell_map(result, "mass", "share of inputs per cell")
        figures["cells"] = cell_map(result, "unastuteness", "unastuteness of the cell")
    if len(result.refinement):
        figures["refinement"] = refinement(result)
    if result.mode == "conservative-bayes" and len(result.sensitivity):
        figures["sensitivity"] = prior_sensitivity(result)
    return figures


def bound_against_labels(result: "ReliabilityResult") -> "Figure":
    """What more labels would buy at the error rate seen, and where this assessment stands."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5, 3.4), layout="constrained")
    axes = figure.add_subplot()
    n = np.unique(np.geomspace(10, max(100, 20 * result.n_labels), 80).astype(int))
    rate = result.n_errors / result.n_labels
    _, upper = clopper_pearson(rate * n, n, 1 - result.alpha, "upper")
    axes.plot(n, upper, label="Clopper-Pearson at the same error rate")
    axes.axhline(rate, color="0.6", linestyle=":", label="error rate seen")
    kind = result.mode if result.is_bound else f"{result.mode}, not a bound"
    axes.plot([result.n_labels], [result.pmi_upper], "o", label=f"this result ({kind})")
    axes.set(xscale="log", yscale="log", xlabel="labels", ylabel="pmi, upper bound")
    axes.legend(fontsize=8)
    return figure


def cell_map(result: "ReliabilityResult", column: str, label: str) -> "Figure":
    """One value per cell of a two-dimensional grid."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6, 3.8), layout="constrained")
    axes = figure.add_subplot()
    values = result.cells[column].to_numpy(dtype=float).reshape(result.cell_shape)
    low = result.cells[["low_0", "low_1"]].to_numpy(dtype=float)
    side = (low.max(axis=0) - low.min(axis=0)) / np.maximum(np.array(result.cell_shape) - 1, 1)
    (left, bottom), (right, top) = low.min(axis=0), low.max(axis=0) + side
    image = axes.imshow(values.T, origin="lower", extent=(left, right, bottom, top), aspect="auto")
    figure.colorbar(image, label=label)
    axes.set(xlabel="feature 0", ylabel="feature 1")
    return figure


def refinement(result: "ReliabilityResult") -> "Figure":
    """Estimate and ACU against the number of cells, with the error rate seen."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullLocator

    figure = Figure(figsize=(5, 3.4), layout="constrained")
    axes = figure.add_subplot()
    table = result.refinement
    axes.plot(table["cells_per_axis"], table["pmi"], "o-", label="E[λ]")
    axes.plot(table["cells_per_axis"], table["acu"], "s--", label="ACU")
    rate = result.n_errors / result.n_labels
    if rate > 0:
        axes.axhline(rate, color="0.6", linestyle=":", label="error rate on the labels")
    axes.set(xscale="log", yscale="log", xlabel="cells per axis", ylabel="pmi")
    counts = table["cells_per_axis"].to_numpy()
    axes.set_xticks(counts, [f"{count:,}" for count in counts])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.legend(fontsize=8)
    return figure


def prior_sensitivity(result: "ReliabilityResult") -> "Figure":
    """The conservative Bayesian bound against the assumed floor, one line per theta."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 3.4), layout="constrained")
    axes = figure.add_subplot()
    for theta, rows in result.sensitivity.groupby("theta"):
        axes.plot(rows["floor"], rows["pmi_upper"], "o-", label=f"P(pmi ≤ ε) = {theta:g}")
    axes.set(xscale="log", xlabel="assumed smallest pmi (floor)", ylabel="pmi, upper bound")
    axes.legend(fontsize=8)
    return figure
