"""Bar charts, histograms and scatter plots."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fireassay.core.chart import CATEGORIES, LIGHT, SEQUENTIAL
from fireassay.core.drawing.axes import (
    WIDTH,
    Spec,
    Unit,
    axis,
    axis_title,
    category,
    hover_format,
    names_axis,
    quantity,
    rounded,
    thinned,
    told_apart,
)


def bars(
    rows: Sequence[tuple[str, float]], title: str, *, unit: Unit = "number", width: int = WIDTH
) -> Spec:
    """Horizontal bars with their numbers, in the order given.

    >>> bars([("a", 3.0)], "rows")["data"]["values"][0]["value"]
    3.0
    """
    names = told_apart(name for name, _ in rows)
    values = [{"label": n, "value": rounded(v)} for n, (_, v) in zip(names, rows, strict=True)]
    x = quantity("value", axis=axis(title, unit, tickCount=6))
    text = quantity("value", format=hover_format(unit))
    return {
        "width": width,
        "height": {"step": 22},
        "data": {"values": values},
        "encoding": {
            "y": category("label", sort=None, axis=names_axis(), title=None),
            "x": x,
        },
        "layer": [
            {"mark": {"type": "bar", "height": 12}},
            {"mark": {"type": "text", "align": "left", "dx": 4}, "encoding": {"text": text}},
        ],
    }


def histogram(values: Any, title: str, *, bins: int = 30, width: int = WIDTH) -> Spec:
    """How many rows have which value; counted here, so the chart stays small.

    >>> sum(bar["n"] for bar in histogram([0.1, 0.2, 0.9], "score")["data"]["values"])
    3
    """
    numbers = np.asarray(values, dtype=float)
    finite = numbers[np.isfinite(numbers)]
    if len(finite) and np.ptp(finite) <= 1e-9 * max(1.0, np.abs(finite).max()):
        finite = np.full(len(finite), finite[0])  # differences by rounding have no bins
    counts, edges = np.histogram(finite, bins=bins)
    shown = [
        {"from": rounded(edges[i]), "to": rounded(edges[i + 1]), "n": int(counts[i])}
        for i in range(len(counts))
    ]
    return {
        "width": width,
        "height": 200,
        "data": {"values": shown},
        "mark": {"type": "bar", "binSpacing": 1},
        "encoding": {
            "x": quantity("from", bin={"binned": True}, axis=axis(title)),
            "x2": {"field": "to"},
            "y": quantity("n", axis=axis("rows", tickMinStep=1)),
            "tooltip": [
                quantity("from", format=".3~g"),
                quantity("to", format=".3~g"),
                quantity("n", title="rows"),
            ],
        },
    }


MOST_POINTS = 5000
_BINS = 32


def points(
    x: Any,
    y: Any,
    across: Spec,
    up: Spec,
    *,
    kinds: Sequence[str] | None = None,
    muted: str = "",
    line: tuple[Any, Any] | None = None,
    width: int = WIDTH,
    height: int = 280,
) -> Spec:
    """A cloud of points, with a curve through it; more than 5,000 are counted in cells.

    Args:
        x, y: The points.
        across, up: Encodings of the axes.
        kinds: Of each point, told apart by colour and shape.
        muted: The kind that is only the background.
        line: x and y of a curve.

    >>> from fireassay.core.drawing import axis
    >>> points([1.0], [2.0], {"axis": axis("a")}, {"axis": axis("b")})["layer"][0]["mark"]["type"]
    'point'
    """
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    finite = np.isfinite(xs) & np.isfinite(ys)
    place = {"x": quantity("x", **across), "y": quantity("y", **up)}
    if finite.sum() > MOST_POINTS:
        layers = [_binned(xs[finite], ys[finite], place)]
    else:
        layers = [_cloud(xs, ys, finite, kinds, muted, place)]
    if line is not None:
        drawn = [{"x": rounded(a), "y": rounded(b)} for a, b in zip(*line, strict=True)]
        mark = {"type": "line", "color": LIGHT["ink"]}
        layers.append({"data": {"values": thinned(drawn)}, "mark": mark, "encoding": place})
    return {"width": width, "height": height, "layer": layers}


def _cloud(
    xs: Any, ys: Any, finite: Any, kinds: Sequence[str] | None, muted: str, place: Spec
) -> Spec:
    rows = np.flatnonzero(finite)
    values: list[Spec] = [{"x": rounded(xs[i]), "y": rounded(ys[i])} for i in rows]
    encoding = dict(place)
    hover = [quantity(a, title=axis_title(place[a], a), format=".4~g") for a in ("x", "y")]
    if kinds is not None:
        for value, i in zip(values, rows, strict=True):
            value["kind"] = kinds[int(i)]
        kind = category("kind", sort=None, title=None)
        named = list(dict.fromkeys(value["kind"] for value in values))
        strong = iter(CATEGORIES[:-1] * (1 + len(named) // len(CATEGORIES)))
        colours = [LIGHT["seven"] if name == muted else next(strong) for name in named]
        colour = {**kind, "scale": {"domain": named, "range": colours}}
        encoding |= {"color": colour, "shape": {**kind, "scale": {"domain": named}}}
        hover.append({**kind, "title": " "})
    return {
        "data": {"values": values},
        "mark": {"type": "point", "size": 30, "opacity": 0.75},
        "encoding": {**encoding, "tooltip": hover},
    }


def _binned(xs: Any, ys: Any, place: Spec) -> Spec:
    counts, x_edges, y_edges = np.histogram2d(xs, ys, bins=_BINS)
    values = [
        {
            "x": rounded(x_edges[i]),
            "x2": rounded(x_edges[i + 1]),
            "y": rounded(y_edges[j]),
            "y2": rounded(y_edges[j + 1]),
            "n": int(counts[i, j]),
        }
        for i, j in zip(*np.nonzero(counts), strict=True)
    ]
    return {
        "data": {"values": values},
        "mark": {"type": "rect"},
        "encoding": {
            "x": place["x"],
            "x2": {"field": "x2"},
            "y": place["y"],
            "y2": {"field": "y2"},
            "color": quantity("n", scale={"range": list(SEQUENTIAL)}, legend={"title": "rows"}),
            "tooltip": [quantity("n", title="rows")],
        },
    }
