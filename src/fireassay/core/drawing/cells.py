"""Charts of coloured cells: matrices with numbers, and a number over two axes."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from fireassay.core.chart import LIGHT, SEQUENTIAL
from fireassay.core.drawing.axes import (
    PERCENT,
    WIDTH,
    Spec,
    Unit,
    axis,
    category,
    hover_format,
    quantity,
    rounded,
    side_axis,
)


def _cells(
    rows: Sequence[tuple[str, str, float]],
    framed: Collection[tuple[str, str]],
    links: Mapping[tuple[str, str], str] | None,
    texts: Mapping[tuple[str, str], str] | None,
) -> list[Spec]:
    """The cells that have a number, with frame, text and link."""
    values: list[Spec] = []
    for down, across, number in rows:
        value, at = rounded(number), (down, across)
        if value is not None:
            cell: Spec = {"down": down, "across": across, "value": value, "framed": at in framed}
            cell |= {"text": texts.get(at, "")} if texts else {}
            values.append(cell | {"href": links.get(at)} if links else cell)
    return values


def _written(unit: Unit, middle: float, *, own_text: bool) -> Spec:
    """The layer of numbers, or of texts of their own: dark on light cells, light on dark ones."""
    number = quantity("value", format=".0%" if unit == "share" else ".2~f")
    on_light = {"condition": {"test": f"datum.value > {middle:g}", "value": "#111111"}}
    return {
        "mark": {"type": "text", "fontSize": 10},
        "encoding": {
            "text": category("text") if own_text else number,
            "color": {**on_light, "value": "#fafafa"},
        },
    }


def matrix(
    rows: Sequence[tuple[str, str, float]],
    *,
    title: str,
    across: str = "",
    down: str = "",
    unit: Unit = "share",
    domain: tuple[float, float] = (0.0, 1.0),
    order: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    framed: Collection[tuple[str, str]] = (),
    links: Mapping[tuple[str, str], str] | None = None,
    texts: Mapping[tuple[str, str], str] | None = None,
) -> Spec:
    """Coloured cells with their numbers.

    Args:
        rows: Down, across and value of each cell.
        title, across, down: Of the colours and of the two sides.
        unit, domain: Of the values.
        order, columns: Names down and across, in their order; as they come otherwise.
        framed: Cells (down, across) to put a frame around.
        links: Where a cell leads to in the page, by (down, across), such as ``"#pair-3-5"``.
        texts: What stands in a cell instead of its value.

    >>> matrix([("3", "5", 0.4)], title="both named")["data"]["values"][0]["value"]
    0.4
    """
    values = _cells(rows, framed, links, texts)
    sides = [list(dict.fromkeys(v[side] for v in values)) for side in ("down", "across")]
    downs, acrosses = list(order or sides[0]), list(columns or sides[1])
    widest = max((len(text) for text in (texts or {}).values()), default=0)
    wide, high = max(34, 8 * widest) if len(acrosses) <= 14 else 16, 24 if len(downs) <= 30 else 12
    middle = domain[0] + 0.55 * (domain[1] - domain[0])
    longest = max((len(name) for name in acrosses), default=0)
    turned = longest > 4
    encoding = {
        "y": category("down", sort=downs, axis=side_axis(down)),
        "x": category(
            "across", sort=acrosses, axis=side_axis(across, labelAngle=-45 if turned else 0)
        ),
    }
    hover = [
        category("down", title=down or " "),
        category("across", title=across or " "),
        quantity("value", title=title, format=hover_format(unit)),
    ]
    cells = {
        "mark": {"type": "rect", "stroke": LIGHT["paper"], "strokeWidth": 1},
        "encoding": {
            "color": quantity(
                "value",
                scale={"domain": list(domain), "range": list(SEQUENTIAL)},
                legend={"title": title, **(PERCENT if unit == "share" else {})},
            ),
            "tooltip": hover,
        },
    }
    if links:  # of all layers: the number in a cell's middle opens its rows, too
        encoding = {**encoding, "href": category("href")}
    layers: list[Spec] = [cells]
    if framed:
        frame = {"type": "rect", "filled": False, "stroke": LIGHT["ink"], "strokeWidth": 2}
        layers.append({"transform": [{"filter": "datum.framed"}], "mark": frame})
    if wide > 16 and high > 12:
        layers.append(_written(unit, middle, own_text=bool(texts)))
    return {
        "width": {"step": max(wide, 46) if len(acrosses) <= 8 and turned else wide},
        "height": {"step": high},
        "data": {"values": values},
        "encoding": encoding,
        "layer": layers,
    }


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

    Args:
        values: Shape (across, up).
        extent: Left, right, bottom, top.
        title, across, up: Of the colours and the axes.
        total: Whether cells that are put together add up; their mean is shown otherwise.

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
            "x": _side("x", across, left, right),
            "x2": {"field": "x2"},
            "y": _side("y", up, bottom, top),
            "y2": {"field": "y2"},
            "color": quantity("value", scale={"range": list(SEQUENTIAL)}, legend={"title": title}),
            "tooltip": [quantity("value", title=title, format=hover_format("number"))],
        },
    }


def _side(name: str, title: str, low: float, high: float) -> Spec:
    scale = {"domain": [rounded(low), rounded(high)], "nice": False}
    return quantity(name, axis=axis(title, grid=False), scale=scale)


def _coarser(grid: Any, total: bool) -> Any:
    """At most so many rows, by putting neighbours together."""
    step = -(-len(grid) // _MOST)
    if step == 1:
        return grid
    starts = np.arange(0, len(grid), step)
    sums = np.add.reduceat(grid, starts, axis=0)
    return sums if total else sums / np.diff([*starts, len(grid)])[:, None]
