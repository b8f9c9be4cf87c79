"""Dots with their intervals by two names: rows along the side, colours within each row."""

from collections.abc import Sequence
from typing import Any

from fireassay.core.drawing.axes import Spec, Unit, axis, hover_format, names_axis, rounded, rule_at


def grouped(
    rows: Sequence[tuple[str, str, float, float, float]],
    title: str,
    *,
    unit: Unit = "share",
    log: bool = False,
    guide: float | None = None,
    width: int = 300,
) -> Spec:
    """Intervals side by side, told apart by colour and shape.

    Parameters
    ----------
    rows
        Row, colour, value, low, high.
    title, unit, log
        Of the axis.
    guide
        A dashed line at one value.

    Returns
    -------
    dict
        A Vega-Lite spec without theme.

    >>> grouped([("fgm", "none", 0.5, 0.4, 0.6)], "right")["data"]["values"][0]["by"]
    'none'
    """
    values: list[dict[str, Any]] = [
        {"row": a, "by": b, "value": rounded(v), "low": rounded(lo), "high": rounded(hi)}
        for a, b, v, lo, hi in rows
    ]
    if log:  # a logarithm has no zero: an interval down to it ends where the axis does
        values = [v for v in values if v["value"] is not None and v["value"] > 0]
        for value in values:
            if value["low"] is not None and value["low"] <= 0:
                value["low"] = None
    colours = list(dict.fromkeys(b for _, b, *_ in rows))
    names = list(dict.fromkeys(a for a, *_ in rows))
    x: Spec = {
        "field": "value",
        "type": "quantitative",
        "axis": axis(title, unit, tickCount=5),
        "scale": {"type": "log"} if log else {"zero": False},
    }
    colour = {
        "field": "by",
        "type": "nominal",
        "sort": None,
        "scale": {"domain": colours},
        "legend": {"title": None, "columns": 4},
    }
    layers: list[Spec] = [
        {
            "transform": [{"filter": "datum.low != null && datum.high != null"}],
            "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.6},
            "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "color": colour},
        },
        {
            "mark": {"type": "point", "size": 45},
            "encoding": {
                "x": x,
                "color": colour,
                "shape": {**colour},
                "tooltip": [
                    {"field": "row", "type": "nominal", "title": " "},
                    {"field": "by", "type": "nominal", "title": " "},
                    {"field": "value", "type": "quantitative", "format": hover_format(unit)},
                    {"field": "low", "type": "quantitative", "format": hover_format(unit)},
                    {"field": "high", "type": "quantitative", "format": hover_format(unit)},
                ],
            },
        },
    ]
    if guide is not None:
        line = rule_at("x", guide)
        line["encoding"]["yOffset"] = None  # inherited otherwise: it would not reach both ends
        layers.insert(0, line)
    return {
        "width": width,
        "height": {"step": max(20, 9 * len(colours)), "for": "position"},
        "data": {"values": values},
        "encoding": {
            "y": {"field": "row", "type": "nominal", "sort": names, "axis": names_axis()},
            "yOffset": {"field": "by", "type": "nominal", "sort": colours},
        },
        "layer": layers,
    }
