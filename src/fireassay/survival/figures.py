"""The figures: curves, effects, quantiles, calibration, accuracy and cost."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fireassay.survival.calibration import FailureCalibration
    from fireassay.survival.survival_fit import SurvivalFit

_MOST_GROUPS = 12


def _figure(width: float = 6.0, height: float = 4.0) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def curves_figure(curves: pd.DataFrame, time_unit: str) -> "Figure":
    """Survival curves with their bands, one per group."""
    figure = _figure()
    axes = figure.subplots()
    for name, part in list(curves.groupby("group", sort=False))[:_MOST_GROUPS]:
        time = np.append(0.0, part["time"])
        (line,) = axes.step(time, np.append(1.0, part["survival"]), where="post", label=str(name))
        axes.fill_between(
            time,
            np.append(1.0, part["low"]),
            np.append(1.0, part["high"]),
            step="post",
            alpha=0.15,
            color=line.get_color(),
            linewidth=0,
        )
    axes.set(xlabel=time_unit, ylabel="share still right", ylim=(0, 1.02))
    axes.legend(fontsize="small")
    return figure


def effects_figure(coefficients: pd.DataFrame) -> "Figure":
    """Effects on the time to failure with intervals (the paper's Fig. 3).

    Levels against their reference and numbers per unit are on scales of their own.
    """
    shown = coefficients.drop(index="Intercept", errors="ignore").iloc[::-1]
    levels = np.array([str(name).endswith("]") for name in shown.index], dtype=bool)
    parts = [part for part in (shown[levels], shown[~levels]) if len(part)]
    tallest = max((len(part) for part in parts), default=1)
    figure = _figure(6.5 if len(parts) < 2 else 10.0, 1.0 + 0.3 * max(tallest, 3))
    longer = "longer" if coefficients["time_ratio"].notna().any() else "shorter"
    shorter = "shorter" if longer == "longer" else "longer"
    for axes, part in zip(
        np.atleast_1d(figure.subplots(1, max(len(parts), 1))), parts, strict=False
    ):
        place = np.arange(len(part))
        finite = np.isfinite(part["low"]) & np.isfinite(part["high"])
        reach = np.where(finite, part["high"] - part["coef"], 0.0)
        axes.errorbar(part["coef"], place, xerr=reach, fmt="o", capsize=3)
        axes.axvline(0.0, color="0.5", linewidth=0.8)
        axes.set_yticks(place, [str(name) for name in part.index])
        axes.set_ylim(-0.6, len(part) - 0.4)
        axes.set_xlabel(f"← {shorter} survival      effect      {longer} survival →")
    return figure


def qq_figure(fit: "SurvivalFit") -> "Figure":
    """Fitted against observed failure probabilities (the paper's Fig. 2).

    Fitted probabilities of the observed times, as censored data, must follow the diagonal.
    """
    from fireassay.survival.curves import estimate_curve
    from fireassay.survival.times import Times, read_times

    frame = fit.observations
    if len(frame) > 5000:
        frame = frame.iloc[:: len(frame) // 5000 + 1]
    times = read_times(frame)
    seen = times.seen
    fitted = np.empty(len(frame))
    for start in range(0, len(frame), 256):
        rows = slice(start, start + 256)
        fitted[rows] = 1.0 - np.diagonal(fit.survival(frame.iloc[rows], seen[rows]))
    fitted = np.maximum(fitted, 1e-12)
    upper = np.where(times.failed, fitted, np.inf)
    curve = estimate_curve(Times(fitted, upper))
    figure = _figure(4.5, 4.5)
    axes = figure.subplots()
    axes.step(1.0 - curve.survival, curve.times, where="post")
    axes.plot([0, 1], [0, 1], color="0.5", linestyle="--", linewidth=0.8)
    axes.set(xlabel="observed quantile", ylabel=f"{fit.family} quantile", xlim=(0, 1), ylim=(0, 1))
    return figure


def calibration_figure(calibration: "FailureCalibration") -> "Figure":
    """Predicted against observed probability of failure, smoothed and binned."""
    figure = _figure(4.5, 4.5)
    axes = figure.subplots()
    order = np.argsort(calibration.predicted)
    axes.plot(calibration.predicted[order], calibration.observed[order], label="smoothed")
    axes.plot(calibration.bins["predicted"], calibration.bins["observed"], "o", label="bins")
    axes.plot([0, 1], [0, 1], color="0.5", linestyle="--", linewidth=0.8)
    axes.set(
        xlabel=f"predicted P(failed by {calibration.time:g})",
        ylabel="observed",
        xlim=(0, 1),
        ylim=(0, 1),
        title=f"ICI {calibration.ici:.3f}, E50 {calibration.e50:.3f}",
    )
    axes.legend()
    return figure


def _interval_bars(
    axes: "Axes", table: pd.DataFrame, value: str, low: str, high: str, by: str, along: str
) -> None:
    names = sorted(table[along].unique())
    groups = sorted(table[by].unique())
    for k, group in enumerate(groups):
        part = table[table[by] == group].set_index(along).reindex(names)
        place = np.arange(len(names)) + (k - (len(groups) - 1) / 2) * 0.8 / len(groups)
        error = np.maximum([part[value] - part[low], part[high] - part[value]], 0.0)
        axes.errorbar(place, part[value], yerr=error, fmt="o", markersize=3, label=str(group))
    axes.set_xticks(np.arange(len(names)), [str(n) for n in names], rotation=30, ha="right")


def accuracy_figure(table: pd.DataFrame) -> "Figure":
    """Benign and adversarial accuracy and failure rate by attack and defence (Fig. 1)."""
    figure = _figure(12, 4)
    panels = (
        ("benign accuracy", "benign_accuracy"),
        ("adversarial accuracy", "adversarial_accuracy"),
        ("failures per query", "failure_rate"),
    )
    for axes, (label, name) in zip(figure.subplots(1, 3), panels, strict=True):
        _interval_bars(axes, table, name, f"{name}_low", f"{name}_high", "defence", "attack")
        axes.set_ylabel(label)
    axes.set_yscale("log")
    _legend_above(figure)
    return figure


def _legend_above(figure: "Figure") -> None:
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), fontsize="small")


def cost_figure(table: pd.DataFrame, benign: pd.DataFrame | None = None) -> "Figure":
    """The cost ratio of training and failure with its interval, benign and attacked (Fig. 4)."""
    panels = [("trash", table, "cost of training / cost of attack")]
    if benign is not None:
        panels.insert(0, ("ratio", benign, "cost of training / cost of a benign failure"))
    figure = _figure(5.5 * len(panels), 4)
    for axes, (value, frame, label) in zip(
        np.atleast_1d(figure.subplots(1, len(panels))), panels, strict=True
    ):
        _interval_bars(axes, frame, value, "low", "high", "defence", "model")
        axes.axhline(1.0, color="0.5", linewidth=0.8)
        axes.set(yscale="log", ylabel=label)
    _legend_above(figure)
    return figure
