"""A number over two axes, as coloured cells."""

from typing import Any

import numpy as np

from fireassay.core.chart_theme import SEQUENTIAL
from fireassay.core.drawing.axes import WIDTH, Spec, axis, hover_format, rounded

_MOST = 40


def field(
    values: Any,
    extent: tuple[float, float, float, float],
    *,
    title: str,
    across: str,
    up: str,
    total: bool = False,
) -> Spec:
    """A grid of values; more than 40 cells on a side are put together.

    Parameters
    ----------
    values
        Shape (across, up).
    extent
        Left, right, bottom, top.
    title, across, up
        Of the colours and the axes.
    total
        Whether cells that are put together add up; their mean is shown otherwise.

    Returns
    -------
    dict
        A Vega-Lite spec without theme.

    >>> spec = field(np.ones((80, 2)), (0, 1, 0, 1), title="n", across="a", up="b", total=True)
    >>> len(spec["data"]["values"]), spec["data"]["values"][0]["value"]
    (80, 2.0)
    """
    grid = _coarser(_coarser(np.asarray(values, dtype=float), total).T, total).T
    left, right, bottom, top = extent
    xs = np.linspace(left, right, grid.shape[0] + 1)
    ys = np.linspace(bottom, top, grid.shape[1] + 1)
    cells = [
        {
            "x": rounded(xs[i]),
            "x2": rounded(xs[i + 1]),
            "y": rounded(ys[j]),
            "y2": rounded(ys[j + 1]),
            "value": rounded(grid[i, j]),
        }
        for i in range(grid.shape[0])
        for j in range(grid.shape[1])
        if np.isfinite(grid[i, j])
    ]
    return {
        "width": min(WIDTH, 360),
        "height": 300,
        "data": {"values": cells},
        "mark": {"type": "rect"},
        "encoding": {
            "x": {
                "field": "x",
                "type": "quantitative",
                "axis": axis(across, grid=False),
                "scale": {"domain": [rounded(left), rounded(right)], "nice": False},
            },
            "x2": {"field": "x2"},
            "y": {
                "field": "y",
                "type": "quantitative",
                "axis": axis(up, grid=False),
                "scale": {"domain": [rounded(bottom), rounded(top)], "nice": False},
            },
            "y2": {"field": "y2"},
            "color": {
                "field": "value",
                "type": "quantitative",
                "scale": {"range": list(SEQUENTIAL)},
                "legend": {"title": title},
            },
            "tooltip": [
                {
                    "field": "value",
                    "type": "quantitative",
                    "title": title,
                    "format": hover_format("number"),
                }
            ],
        },
    }


def _coarser(grid: Any, total: bool) -> Any:
    """At most so many rows, by putting neighbours together."""
    step = -(-len(grid) // _MOST)
    if step == 1:
        return grid
    starts = np.arange(0, len(grid), step)
    sums = np.add.reduceat(grid, starts, axis=0)
    if total:
        return sums
    return sums / np.diff([*starts, len(grid)])[:, None]
