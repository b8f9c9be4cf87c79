"""Figures: accuracy against dataset, labelling-function graph, stability, calibration."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fireassay.curation.curate import Curation
    from fireassay.curation.label_calibration import LabelCalibration
    from fireassay.curation.robustness import Robustness
    from fireassay.curation.stability import Stability
    from fireassay.curation.trend import Trend

_COLOURS = {"decreasing": "#1b7837", "none": "#999999", "increasing": "#b2182b"}


def accuracy_figure(trend: "Trend") -> "Figure":
    """Accuracy of the weak labels in D_1 … D_N (the paper's Figure 3)."""
    figure, axes = _figure()
    numbers = np.arange(1, len(trend.sizes) + 1)
    low, high = trend.exact_interval.T
    axes.fill_between(numbers, low, high, alpha=0.2, label="95 % exact")
    paper_low, paper_high = trend.accuracy_interval.T
    error = np.vstack([trend.accuracy - paper_low, paper_high - trend.accuracy])
    axes.errorbar(
        numbers, trend.accuracy, yerr=np.maximum(error, 0), marker="o", capsize=3,
        label="accuracy, 90 % as the paper",
    )  # fmt: skip
    axes.set(xlabel="dataset", ylabel="accuracy of the weak labels", ylim=(0, 1.02))
    axes.set_title(f"{trend.verdict} (AUC {trend.auc:.2f}); published rule: {trend.definition_3}")
    axes.legend(loc="lower left")
    return figure


def lf_graph_figure(result: "Curation") -> "Figure":
    """Labelling functions on a circle; kept ones filled, dependent ones joined."""
    from fireassay.curation.labelling import dependence_graph

    figure, axes = _figure(5.2, 5.2)
    m = len(result.lf_names)
    angle = 2 * np.pi * np.arange(m) / m
    x, y = np.cos(angle), np.sin(angle)
    threshold = result.settings.prune if result.settings.prune is not None else 0.5
    graph = dependence_graph(result.table.pruning.correlation, threshold)
    for i, j in graph.edges:
        axes.plot(x[[i, j]], y[[i, j]], color="#bbbbbb", linewidth=0.8, zorder=1)
    kept = np.zeros(m, dtype=bool)
    kept[result.kept_lfs] = True
    axes.scatter(x[kept], y[kept], color="#2166ac", zorder=2, label="kept")
    axes.scatter(
        x[~kept], y[~kept], facecolors="white", edgecolors="#b2182b", zorder=2, label="pruned"
    )
    if m <= 40:
        for i, name in enumerate(result.lf_names):
            axes.text(1.08 * x[i], 1.08 * y[i], name[:24], fontsize=6, rotation=_upright(angle[i]),
                      rotation_mode="anchor", va="center", parse_math=False,
                      ha="left" if _right_side(angle[i]) else "right")  # fmt: skip
    axes.set(xlim=(-1.9, 1.9), ylim=(-1.9, 1.9), aspect="equal")
    axes.axis("off")
    axes.legend(loc="upper left", fontsize="small")
    return figure


def score_figure(result: "Curation") -> "Figure":
    """Score along the order, with the ends of the datasets."""
    figure, axes = _figure()
    places = np.unique(np.linspace(0, result.n - 1, min(result.n, 2000)).astype(np.int64))
    axes.step(places + 1, result.score[result.order[places]], where="mid")
    for size in result.sizes:
        axes.axvline(size, color="#dddddd", linewidth=0.8, zorder=0)
    axes.set(xlabel="samples, from easy to hard", ylabel=result.settings.order_by)
    return figure


def stability_figure(stability: "Stability") -> "Figure":
    """Share of each verdict by labeler, or of equal labels without true labels."""
    figure, axes = _figure()
    panel = stability.panel
    labelers = list(dict.fromkeys(panel["labeler"]))
    if "verdict" not in panel:
        means = [panel.loc[panel["labeler"] == name, "same_labels"].mean() for name in labelers]
        axes.barh(labelers, means, color="#2166ac")
        axes.set(xlabel="share of equal labels", xlim=(0, 1))
        return figure
    left = np.zeros(len(labelers))
    for verdict, colour in _COLOURS.items():
        share = np.array(
            [
                (panel.loc[panel["labeler"] == name, "verdict"] == verdict).mean()
                for name in labelers
            ]
        )
        axes.barh(labelers, share, left=left, color=colour, label=verdict)
        left += share
    axes.set(xlabel="share of seeds", xlim=(0, 1))
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, fontsize="small", frameon=False)
    return figure


def robustness_figure(found: "Robustness") -> "Figure":
    """Agreement of a classifier with the weak labels along the datasets."""
    figure, axes = _figure()
    numbers = np.arange(1, len(found.sizes) + 1)
    axes.fill_between(numbers, *found.agreement_interval.T, alpha=0.2)
    axes.plot(numbers, found.agreement, marker="o")
    axes.set(xlabel="dataset", ylabel="agreement with the weak labels", ylim=(0, 1.02))
    axes.set_title(found.verdict)
    return figure


def calibration_figure(calibration: "LabelCalibration") -> "Figure":
    """Reliability diagram of the weak confidences."""
    figure, axes = _figure(4.2, 4.2)
    curve = calibration.curve
    error = np.vstack([curve.accuracy - curve.low, curve.high - curve.accuracy])
    axes.plot([0, 1], [0, 1], color="#bbbbbb", linestyle="--")
    axes.errorbar(
        curve.mean_confidence, curve.accuracy, yerr=np.maximum(error, 0), marker="o", capsize=3
    )
    axes.set(xlabel="stated confidence", ylabel="accuracy", xlim=(0, 1), ylim=(0, 1.02))
    axes.set_title(f"calibration error {calibration.ece:.3f}")
    return figure


def _figure(width: float = 5.2, height: float = 3.4) -> "tuple[Figure, Axes]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes: Any = figure.subplots()
    return figure, axes


def _right_side(angle: float) -> bool:
    return bool(np.cos(angle) > -1e-9)


def _upright(angle: float) -> float:
    degrees = float(np.degrees(angle))
    return degrees if _right_side(angle) else degrees + 180
