"""Charts of a search: the running ratio, and the distances."""

import numpy as np

from fireassay.core import Chart
from fireassay.core.arrays import BoolArray, FloatArray, IntArray
from fireassay.core.drawing import axis, curves, points
from fireassay.core.drawing.axes import quantity
from fireassay.discovery.ratio import RunningRatio
from fireassay.statistics.loess import loess

_MARKS = 25
_LAYERS = {"not asked about": 0, "asked, right": 1, "asked, wrong": 2}


def ratio_chart(running: RunningRatio, name: str) -> Chart:
    """The ratio after each label, with the interval that holds at all steps at once."""
    steps = np.arange(1, len(running.wrong) + 1)
    marked = running.points(_MARKS)
    ratio = running.errors / np.maximum(running.expected, 1e-12)
    # Early ratios divide by almost nothing: the view follows the later ones.
    settled = ratio[len(ratio) // 5 :]
    top = 1.3 * max([2.0, *(point.low for point in marked), float(settled.max(initial=0.0))])
    band = "95 % at all steps"
    spec = curves(
        {name: (steps, np.minimum(ratio, top))},
        {"axis": axis("labels", tickMinStep=1)},
        {"axis": axis("errors found / expected"), "scale": {"domain": [0, round(top, 3)]}},
        levels=[(1.0, "as many as announced")],
        height=220,
    )
    ends = [{"x": p.n, "low": round(p.low, 4), "high": round(min(p.high, top), 4)} for p in marked]
    area = {
        "data": {"values": ends},
        "mark": {"type": "area", "opacity": 0.15, "clip": True},
        "encoding": {"x": quantity("x"), "y": quantity("low"), "y2": {"field": "high"}},
    }
    spec["layer"].insert(0, area)
    return Chart(
        spec,
        "Errors found over errors that the confidences announce, label by label; above the line "
        f"at 1 the model is more sure than it should be (band: {band}).",
        f"A line of the ratio by labels, search {name}.",
    )


def distance_chart(
    log_mae: FloatArray, confidence: FloatArray, queried: IntArray, wrong: BoolArray
) -> Chart:
    """Perturbation as a function of confidence (LOESS), and the rows that were asked about."""
    found = np.isfinite(log_mae)
    line = None
    if found.sum() >= 3:
        grid = np.linspace(confidence[found].min(), confidence[found].max(), 100)
        line = grid, loess(confidence[found], log_mae[found]).predict(grid)
    kinds = np.full(len(log_mae), "not asked about", dtype=object)
    kinds[queried] = np.where(wrong, "asked, wrong", "asked, right")
    # Drawn in this order: what was found last, on top.
    order = np.argsort([_LAYERS[kind] for kind in kinds], kind="stable")
    return Chart(
        points(
            confidence[order],
            log_mae[order],
            {"axis": axis("confidence", "share"), "scale": {"zero": False}},
            {"axis": axis("log of the change an attack needs"), "scale": {"zero": False}},
            kinds=kinds[order].tolist(),
            muted="not asked about",
            line=line,
        ),
        "Confidence against the change that an attack needs, with what is usual (line). Rows far "
        "under the line fall sooner than others of their confidence: these are looked at first.",
        "A cloud of points with a line through it; wrong ones are marked.",
    )
