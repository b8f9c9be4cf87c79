"""Axes, numbers and names, as all kinds of drawing have them."""

import math
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from fireassay.core.chart import LIGHT

Spec = dict[str, Any]
Unit = Literal["share", "number"]
WIDTH = 460
PERCENT = {"format": ".0%"}


def rounded(value: Any) -> float | None:
    """A number with six significant digits; None if it is none, or endless.

    >>> rounded(1 / 3), rounded(float("inf")), rounded(None)
    (0.333333, None, None)
    """
    if value is None or not math.isfinite(value):
        return None
    return float(f"{float(value):.6g}")


def quantity(name: str, **more: Any) -> Spec:
    """The channel of a field of numbers."""
    return {"field": name, "type": "quantitative", **more}


def category(name: str, **more: Any) -> Spec:
    """The channel of a field of names."""
    return {"field": name, "type": "nominal", **more}


def axis(title: str, unit: Unit = "number", **more: Any) -> Spec:
    """An axis with its title; shares in per cent."""
    return {"title": title or None, **(PERCENT if unit == "share" else {}), **more}


def told_apart(names: Iterable[str]) -> list[str]:
    """Names of rows, each once: a second of the same name gets a number."""
    seen: dict[str, int] = {}
    told = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        told.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return told


def thinned(values: list[Spec], most: int = 400) -> list[Spec]:
    """At most so many points of a line, evenly over its length, ends included."""
    if len(values) <= most:
        return values
    kept = np.unique(np.linspace(0, len(values) - 1, most).round().astype(int))
    return [values[i] for i in kept]


def rule_at(channel: Literal["x", "y"], value: float) -> Spec:
    """A dashed line at one value, from end to end."""
    return {
        "data": {"values": [{"at": rounded(value)}]},
        "mark": {"type": "rule", "style": "guide", "strokeDash": [4, 4], "strokeWidth": 1},
        "encoding": {channel: quantity("at"), **_nothing_of(channel)},
    }


def _nothing_of(channel: str) -> Spec:
    # Inherited from the layers above otherwise: the line would be drawn once per row.
    return {"y": None} if channel == "x" else {"x": None}


def names_axis() -> Spec:
    """Names of rows on the left, without lines."""
    return {
        "title": None,
        "labelColor": LIGHT["ink"],
        "labelFontSize": 12,
        "ticks": False,
        "domain": False,
        "grid": False,
        "labelPadding": 8,
        "labelLimit": 300,
    }


def side_axis(title: str, **more: Any) -> Spec:
    """A side of a matrix."""
    return {"title": title or None, "ticks": False, "domain": False, "grid": False, **more}


def hover_format(unit: Unit) -> str:
    """How a value is written where somebody points at it."""
    return ".1%" if unit == "share" else ".4~g"


def axis_format(encoding: Spec) -> str:
    """The same for an axis that has its own format."""
    shown = (encoding.get("axis") or {}).get("format")
    return ".1%" if shown == ".0%" else ".4~g"


def axis_title(encoding: Spec, otherwise: str) -> str:
    """What an axis is called."""
    return str((encoding.get("axis") or {}).get("title") or otherwise)


def level(
    channel: Literal["x", "y"], value: float, word: str, width: int = WIDTH, *, limit: bool = False
) -> list[Spec]:
    """A line with a word over the whole chart: a base rate, or a limit that somebody set."""
    style = "limit" if limit else "guide"
    data = {"values": [{"at": rounded(value), "word": word}]}
    at = quantity("at")
    # What somebody set stands above its line, what was seen below: they may be close together.
    place: Spec = {"align": "right", "baseline": "bottom" if limit else "top"}
    place["dy"] = -3 if limit else 4
    end: Spec = {"x": {"value": width}}
    if channel == "x":
        place, end = {"align": "left", "baseline": "top", "dx": 4}, {"y": {"value": 2}}
    return [
        {
            "data": data,
            "mark": {"type": "rule", "style": style},
            "encoding": {channel: at, **_nothing_of(channel)},
        },
        {
            "data": data,
            "mark": {"type": "text", "style": f"{style}-text", **place},
            "encoding": {channel: at, **end, "text": {"field": "word"}},
        },
    ]
