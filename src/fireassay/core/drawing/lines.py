"""Line charts with confidence bands, and reliability diagrams."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fireassay.core.chart import LIGHT
from fireassay.core.drawing.axes import (
    WIDTH,
    Spec,
    axis,
    axis_format,
    axis_title,
    category,
    level,
    quantity,
    rounded,
    thinned,
)


def curves(
    lines: Mapping[str, tuple[Any, Any]],
    x: Spec,
    y: Spec,
    *,
    bands: Mapping[str, tuple[Any, Any]] | None = None,
    whiskers: bool = False,
    steps: bool = False,
    points: bool = False,
    diagonal: bool = False,
    labelled: bool = False,
    levels: Sequence[tuple[float, str]] = (),
    most: int = 400,
    width: int = WIDTH,
    height: int = 260,
) -> Spec:
    """Lines labelled at their end, with bands of confidence.

    Args:
        lines: x and y by name; values that are no numbers are left out.
        x, y: Encodings of the axes, e.g. ``{"axis": axis("labels"), "scale": {"type": "log"}}``.
        bands: Low and high of a line, by its name.
        whiskers: Whether these are drawn as a bar at each x instead.
        steps: Whether y stays until the next x.
        points: Whether to draw a dot for each value.
        diagonal: Draw y = x, where confidence is honest.
        labelled: Whether a single line has its name at its end, too; several always have.
        levels: Horizontal lines with a word, e.g. a base rate.
        most: Points of a line that are drawn.

    >>> from fireassay.core.drawing import axis
    >>> spec = curves({"fgm": ([0, 1], [1, 0.5])}, {"axis": axis("queries")}, {"axis": axis("")})
    >>> len(spec["data"]["values"])
    2
    """
    values, ends = _line_values(lines, bands or {}, most)
    colour = category("line", sort=None, scale={"domain": list(lines)}, legend=None)
    across, up = quantity("x", **x), quantity("y", **y)
    place = {"x": across, "y": up, "color": colour}
    shape = {"interpolate": "step-after"} if steps else {}
    hover = [
        category("line", title=" "),
        quantity("x", title=axis_title(x, "x"), format=axis_format(x)),
        quantity("y", title=axis_title(y, "y"), format=axis_format(y)),
    ]
    layers: list[Spec] = []
    if diagonal:
        layers.append(_diagonal())
    for value, word in levels:
        layers += level("y", value, word, width)
    if bands:
        area = {"type": "rule", "opacity": 0.6} if whiskers else {"type": "area", "opacity": 0.18}
        layers.append(
            {
                "transform": [{"filter": "datum.low != null && datum.high != null"}],
                "mark": {**area, **({} if whiskers else shape), "clip": True},
                "encoding": {
                    "x": across,
                    "y": {**up, "field": "low"},
                    "y2": {"field": "high"},
                    "color": colour,
                },
            }
        )
    line = {"type": "line", "clip": True, **shape, **({"point": {"size": 40}} if points else {})}
    nearby = {"type": "point", "size": 80, "opacity": 0}
    layers.append({"mark": line, "encoding": place})
    layers.append({"mark": nearby, "encoding": {**place, "tooltip": hover}})
    if len(lines) > 1 or labelled:
        layers.append(_end_labels(ends, across, up, y, colour, height))
    return {"width": width, "height": height, "data": {"values": values}, "layer": layers}


def _line_values(
    lines: Mapping[str, tuple[Any, Any]], bands: Mapping[str, tuple[Any, Any]], most: int
) -> tuple[list[Spec], list[Spec]]:
    values: list[Spec] = []
    ends: list[Spec] = []
    for name, (xs, ys) in lines.items():
        low, high = bands.get(name, ([None] * len(xs), [None] * len(xs)))
        own = [
            {"line": name, "x": rounded(a), "y": rounded(b), "low": rounded(c), "high": rounded(d)}
            for a, b, c, d in zip(xs, ys, low, high, strict=True)
        ]
        own = thinned([v for v in own if v["x"] is not None and v["y"] is not None], most)
        if not bands:
            own = [{key: v[key] for key in ("line", "x", "y")} for v in own]
        values += own
        if own:
            ends.append({"line": name, "x": own[-1]["x"], "y": own[-1]["y"]})
    return values, ends


def _end_labels(
    ends: list[Spec], across: Spec, up: Spec, y: Spec, colour: Spec, height: int
) -> Spec:
    """Names at the right end, moved apart where they would lie on each other."""
    domain = y.get("scale", {}).get("domain") or (
        min((end["y"] for end in ends), default=0.0),
        max((end["y"] for end in ends), default=1.0),
    )
    span = (domain[1] - domain[0]) or 1.0
    gap, last = 13.0 * span / height, -math.inf
    for end in sorted(ends, key=lambda end: end["y"]):
        last = end["at"] = max(end["y"], last + gap)
    over = last - domain[1] if ends else 0.0
    if over > 0:  # pushed out at the top: the same downwards, from there
        last = math.inf
        for end in sorted(ends, key=lambda end: -end["at"]):
            last = end["at"] = min(end["at"], domain[1], last - gap)
    far = max((end["x"] for end in ends), default=0.0)
    for end in ends:
        end["at"], end["far"] = rounded(end["at"]), far
    return {
        "data": {"values": ends},
        "mark": {"type": "text", "align": "left", "dx": 7},
        "encoding": {
            "x": {**across, "field": "far"},
            "y": {**up, "field": "at"},
            "text": category("line"),
            "color": colour,
        },
    }


def _diagonal() -> Spec:
    mark = {"type": "line", "style": "guide", "strokeWidth": 1, "strokeDash": [4, 4], "clip": True}
    return {
        "data": {"values": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]},
        "mark": mark,
        "encoding": {"x": quantity("x"), "y": quantity("y"), "color": {"value": LIGHT["soft"]}},
    }


_SIDE = 220


def diagram(
    confidence: Any,
    share: Any,
    low: Any,
    high: Any,
    *,
    across: str = "confidence",
    up: str = "how often right",
) -> Spec:
    """Bins with their intervals; on the dashed line it is as sure as it should be.

    Args:
        confidence, share: Mean confidence of each bin, and the share of right answers in it.
        low, high: The interval of the share.
        across, up: Titles of the axes.

    >>> diagram([0.9], [0.8], [0.7], [0.9])["data"]["values"][0]["low"]
    0.7
    """
    side = {"scale": {"domain": [0, 1]}}
    return curves(
        {up: (confidence, share)},
        {"axis": axis(across, "share"), **side},
        {"axis": axis(up, "share"), **side},
        bands={up: (low, high)},
        whiskers=True,
        points=True,
        diagonal=True,
        width=_SIDE,
        height=_SIDE,
    )
