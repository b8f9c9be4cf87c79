"""Bars and histograms."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fireassay.core.drawing.axes import (
    WIDTH,
    Spec,
    Unit,
    axis,
    hover_format,
    names_axis,
    rounded,
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
    x = {"field": "value", "type": "quantitative", "axis": axis(title, unit, tickCount=6)}
    text = {"field": "value", "type": "quantitative", "format": hover_format(unit)}
    return {
        "width": width,
        "height": {"step": 22},
        "data": {"values": values},
        "encoding": {
            "y": {
                "field": "label",
                "type": "nominal",
                "sort": None,
                "axis": names_axis(),
                "title": None,
            },
            "x": x,
        },
        "layer": [
            {"mark": {"type": "bar", "height": 12}},
            {
                "mark": {"type": "text", "align": "left", "dx": 4},
                "encoding": {"text": text},
            },
        ],
    }


def histogram(values: Any, title: str, *, bins: int = 30, width: int = WIDTH) -> Spec:
    """How many rows have which value; counted here, so the chart stays small.

    >>> sum(bar["n"] for bar in histogram([0.1, 0.2, 0.9], "score")["data"]["values"])
    3
    """
    numbers = np.asarray(values, dtype=float)
    counts, edges = np.histogram(numbers[np.isfinite(numbers)], bins=bins)
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
            "x": {
                "field": "from",
                "type": "quantitative",
                "bin": {"binned": True},
                "axis": axis(title),
            },
            "x2": {"field": "to"},
            "y": {"field": "n", "type": "quantitative", "axis": axis("rows", tickMinStep=1)},
            "tooltip": [
                {"field": "from", "type": "quantitative", "format": ".3~g"},
                {"field": "to", "type": "quantitative", "format": ".3~g"},
                {"field": "n", "type": "quantitative", "title": "rows"},
            ],
        },
    }
