"""Charts of survival: curves, effects, quantiles, calibration, accuracy and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core import Chart
from fireassay.core.drawing import IntervalRow, Spec, axis, curves, grouped, intervals
from fireassay.core.lazy import pd
from fireassay.core.words import percent

if TYPE_CHECKING:
    from fireassay.survival.calibration import FailureCalibration
    from fireassay.survival.fitted import SurvivalFit

_MOST_GROUPS = 12
_NAMES = {"auto": "all attacks"}
_SQUARE: dict[str, Any] = {"diagonal": True, "width": 280, "height": 280}
_UNIT = {"scale": {"domain": [0, 1]}}


def curves_chart(table: pd.DataFrame, time_unit: str) -> Chart:
    """Survival curves with their bands, one per group, named at their end."""
    lines: dict[str, tuple[Any, Any]] = {}
    bands: dict[str, tuple[Any, Any]] = {}
    shown = list(table.groupby("group", sort=False))[:_MOST_GROUPS]
    last = max((float(part["time"].max()) for _, part in shown), default=0.0)
    for name, part in shown:
        times = [0.0, *part["time"], last]
        stays = _to_the_end(part["survival"])
        named = f"{_NAMES.get(str(name), name)}: {percent(stays[-1])}"
        lines[named] = times, stays
        bands[named] = _to_the_end(part["low"]), _to_the_end(part["high"])
    spec = curves(
        lines,
        {"axis": axis(time_unit), "scale": {"nice": False}},
        {"axis": axis("still right", "share"), **_UNIT},
        bands=bands,
        steps=True,
        labelled=True,
    )
    return Chart(
        {**spec, "usermeta": {"limits": {"standing_share": "y"}}},
        f"Share of rows still right against {time_unit} spent on each, with 95 % bands.",
        "Falling step lines, one for each attack.",
    )


def _to_the_end(values: Any) -> list[float]:
    """A curve starts at 1 and stays where it last was, until the longest of all ends."""
    own = [1.0, *values]
    return [*own, own[-1]]


def effects_chart(coefficients: pd.DataFrame) -> Chart:
    """Effects on the time to failure, levels and numbers apart (the paper's Fig. 3)."""
    shown = coefficients.drop(index="Intercept", errors="ignore")
    levels = np.array([str(name).endswith("]") for name in shown.index], dtype=bool)
    longer = "longer" if coefficients["time_ratio"].notna().any() else "shorter"
    shorter = "shorter" if longer == "longer" else "longer"
    title = f"← {shorter} survival · effect · {longer} survival →"
    panels = []
    for part in (shown[levels], shown[~levels]):
        rows = [
            IntervalRow(str(name), float(row["coef"]), float(row["low"]), float(row["high"]))
            for name, row in part.iterrows()
        ]
        if rows:
            panels.append(intervals(rows, title, unit="number", guide=0.0))
    spec: Spec = panels[0] if len(panels) == 1 else {"vconcat": panels}
    return Chart(spec, "Effects on log time with intervals.", "A dot with a line for each effect.")


def quantiles_chart(fit: SurvivalFit, most: int = 400) -> Chart:
    """Fitted against observed failure probabilities (the paper's Fig. 2), ``most`` points."""
    # Fitted probabilities of the observed times, as censored data, must follow the diagonal.
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
    spec = curves(
        {fit.family: (1.0 - curve.survival, curve.times)},
        {"axis": axis("observed quantile"), **_UNIT},
        {"axis": axis(f"{fit.family} quantile"), **_UNIT},
        steps=True,
        most=most,
        **_SQUARE,
    )
    return Chart(
        spec,
        "Observed against fitted quantiles: on the dashed line the family describes the times.",
        "A line along a dashed diagonal.",
    )


def calibration_chart(calibration: FailureCalibration) -> Chart:
    """Predicted against observed probability of failure, smoothed and binned."""
    order = np.argsort(calibration.predicted)
    spec = curves(
        {"smoothed": (calibration.predicted[order], calibration.observed[order])},
        {"axis": axis(f"predicted: failed by {calibration.time:g}", "share"), **_UNIT},
        {"axis": axis("observed", "share"), **_UNIT},
        **_SQUARE,
    )
    bins = calibration.bins[["predicted", "observed"]].round(5).dropna()
    places = (("x", "predicted"), ("y", "observed"))
    dots: Spec = {
        "data": {"values": bins.to_dict("records")},
        "mark": {"type": "point", "size": 60},
    }
    dots["encoding"] = {at: {"field": name, "type": "quantitative"} for at, name in places}
    spec["layer"].append(dots)
    mean, middle = percent(calibration.ici, 1), percent(calibration.e50, 1)
    return Chart(
        spec,
        f"Predicted against observed probability of failure (off by {mean} on average, "
        f"{middle} in the middle).",
        "A line and dots along a dashed diagonal.",
    )


def _rows(table: pd.DataFrame, value: str, low: str, high: str, by: str, along: str) -> Any:
    return [
        (str(row[along]), str(row[by]), row[value], row[low], row[high])
        for _, row in table.sort_values([along, by], kind="stable").iterrows()
    ]


def accuracy_chart(table: pd.DataFrame) -> Chart:
    """Benign and adversarial accuracy and failure rate by attack and defence (Fig. 1)."""
    panels = [
        grouped(
            _rows(table, name, f"{name}_low", f"{name}_high", "defence", "attack"),
            title,
            unit="number" if log else "share",
            log=log,
            width=220,
        )
        for title, name, log in (
            ("benign accuracy", "benign_accuracy", False),
            ("adversarial accuracy", "adversarial_accuracy", False),
            ("failures per query", "failure_rate", True),
        )
    ]
    return Chart(
        {"hconcat": panels},
        "Benign and adversarial accuracy and failures per query, by attack (rows) and defence "
        "(colours), intervals between models.",
        "Three panels of dots with intervals.",
    )


def cost_chart(table: pd.DataFrame, benign: pd.DataFrame | None = None) -> Chart:
    """The cost ratio of training and failure with its interval, benign and attacked (Fig. 4)."""
    panels = [("trash", table, "cost of training / cost of attack")]
    if benign is not None:
        panels.insert(0, ("ratio", benign, "cost of training / cost of a benign failure"))
    drawn = []
    for value, frame, title in panels:
        rows = _rows(frame, value, "low", "high", "defence", "model")
        drawn.append(grouped(rows, title, unit="number", log=True, guide=1.0))
    return Chart(
        {"hconcat": drawn},
        "Cost of training over cost of a failure: without attacker (left), attacked (right); "
        "right of the dashed line training costs more.",
        "Dots with intervals by model and defence.",
    )
