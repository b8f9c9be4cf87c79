"""Charts of estimates as dots with intervals, in rows or grouped by colour."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fireassay.core.chart import STATES
from fireassay.core.drawing.axes import (
    WIDTH,
    Spec,
    Unit,
    axis,
    category,
    hover_format,
    names_axis,
    quantity,
    rounded,
    rule_at,
    told_apart,
)

# Drawn where both ends are known.
_BOTH_ENDS = [{"filter": "datum.low != null && datum.high != null"}]


@dataclass(frozen=True)
class IntervalRow:
    """One row of an interval chart.

    Attributes:
        label: What people read on the left.
        value, low, high: The dot and its interval; a missing or endless end draws no line.
        state: ``"pass"``, ``"fail"``, ``"undecided"``, ``"none"``, or ``"dot"`` for a number that
            nobody judged: colour and shape.
        limit: A gate, drawn as a bar across the row.
        text: What is written on the right.

    >>> IntervalRow("Wrong", 0.03, 0.02, 0.05, limit=0.04).state
    'dot'
    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    state: str = "dot"
    limit: float | None = None
    text: str = ""
    limit_text: str = ""


def intervals(
    rows: Sequence[IntervalRow],
    title: str = "",
    *,
    unit: Unit = "share",
    domain: tuple[float, float] | None = None,
    log: bool = False,
    guide: float | None = None,
    ticks: bool = True,
    width: int = WIDTH,
) -> Spec:
    """Dots with their intervals, one row each, in the order given.

    Args:
        rows: From top to bottom.
        title, unit: Of the axis.
        domain, log: Ends of the axis, and whether it is logarithmic.
        guide: A dashed line over all rows, e.g. at no effect.
        ticks: Whether the axis is drawn; without, the rows' texts say the numbers.

    >>> spec = intervals([IntervalRow("cat", 0.9, 0.8, 0.95)])
    >>> [row["value"] for row in spec["data"]["values"]]
    [0.9]
    """
    values = [
        {
            "label": name,
            "value": rounded(row.value),
            "low": rounded(row.low),
            "high": rounded(row.high),
            "state": row.state,
            "limit": rounded(row.limit),
            "text": row.text,
            "limit_text": row.limit_text,
        }
        for name, row in zip(told_apart(row.label for row in rows), rows, strict=True)
    ]
    scale: Spec = {"type": "log"} if log else {"zero": False, "nice": domain is None}
    if domain is not None:
        scale["domain"] = list(domain)
    shown = axis(title, unit, tickCount=6) if ticks else None
    x = quantity("value", scale=scale, axis=shown)
    y = category("label", sort=None, axis=names_axis(), title=None)
    used = list(dict.fromkeys(row.state for row in rows))
    ends = {"value": "value", "low": "from", "high": "to"}
    tooltip = [
        category("label", title=" "),
        *(quantity(name, format=hover_format(unit), title=word) for name, word in ends.items()),
    ]
    colour, shape = (
        category(
            "state",
            scale={"domain": used, "range": [STATES[state][i] for state in used]},
            legend=None,
        )
        for i in (0, 1)
    )
    layers: list[Spec] = [
        {
            "transform": _BOTH_ENDS,
            "mark": {"type": "rule", "strokeWidth": 3, "strokeCap": "round", "opacity": 0.55},
            "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "color": colour},
        },
        {
            "mark": {"type": "point", "size": 90, "filled": True, "clip": True},
            "encoding": {"x": x, "color": colour, "shape": shape, "tooltip": tooltip},
        },
    ]
    if guide is not None:
        layers.insert(0, rule_at("x", guide))
    if any(row.limit is not None for row in rows):
        layers += _limits(x, any(row.limit_text for row in rows))
    if any(row.text for row in rows):
        mark = {"type": "text", "align": "left", "dx": 10}
        beside = {"x": {"value": width}, "text": {"field": "text"}}
        layers.append({"mark": mark, "encoding": beside})
    return {
        "width": width,
        "height": {"step": 26},
        "data": {"values": values},
        "encoding": {"y": y},
        "layer": layers,
    }


def _limits(x: Spec, named: bool) -> list[Spec]:
    at = {"x": {**x, "field": "limit"}}
    only = [{"filter": "datum.limit != null"}]
    tick = {"type": "tick", "style": "limit", "thickness": 2, "size": 20}
    layers: list[Spec] = [{"transform": only, "mark": tick, "encoding": at}]
    if named:
        text = {"type": "text", "style": "limit-text", "align": "left", "dx": 5, "dy": -8}
        above = {**at, "text": {"field": "limit_text"}}
        layers.append({"transform": only, "mark": {**text, "fontSize": 10}, "encoding": above})
    return layers


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

    Args:
        rows: Row, colour, value, low, high.
        title, unit, log: Of the axis.
        guide: A dashed line at one value.

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
    scale = {"type": "log"} if log else {"zero": False}
    x = quantity("value", axis=axis(title, unit, tickCount=5), scale=scale)
    legend = {"title": None, "columns": 4}
    colour = category("by", sort=None, scale={"domain": colours}, legend=legend)
    layers: list[Spec] = [
        {
            "transform": _BOTH_ENDS,
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
                    category("row", title=" "),
                    category("by", title=" "),
                    *(quantity(end, format=hover_format(unit)) for end in ("value", "low", "high")),
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
            "y": category("row", sort=names, axis=names_axis()),
            "yOffset": category("by", sort=colours),
        },
        "layer": layers,
    }
