"""Coloured cells with their numbers."""

from collections.abc import Collection, Mapping, Sequence

from fireassay.core.chart_theme import LIGHT, SEQUENTIAL
from fireassay.core.drawing.axes import PERCENT, Spec, Unit, hover_format, rounded, side_axis


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
) -> Spec:
    """Coloured cells with their numbers.

    Parameters
    ----------
    rows
        Down, across and value of each cell.
    title, across, down
        Of the colours and of the two sides.
    unit, domain
        Of the values.
    order, columns
        Names down and across, in their order; as they come otherwise.
    framed
        Cells (down, across) to put a frame around.
    links
        Where a cell leads to in the page, by (down, across): a fragment such as ``"#pair-3-5"``.

    Returns
    -------
    dict
        A Vega-Lite spec without theme.

    >>> matrix([("3", "5", 0.4)], title="both named")["data"]["values"][0]["value"]
    0.4
    """
    values: list[Spec] = [
        {"down": a, "across": b, "value": rounded(v), "framed": (a, b) in framed}
        for a, b, v in rows
    ]
    for value in values if links else ():
        value["href"] = (links or {}).get((value["down"], value["across"]))
    values = [value for value in values if value["value"] is not None]
    sides = [list(dict.fromkeys(v[side] for v in values)) for side in ("down", "across")]
    downs, acrosses = list(order or sides[0]), list(columns or sides[1])
    wide, high = 34 if len(acrosses) <= 14 else 16, 24 if len(downs) <= 30 else 12
    middle = domain[0] + 0.55 * (domain[1] - domain[0])
    longest = max((len(name) for name in acrosses), default=0)
    turned = longest > 4
    encoding = {
        "y": {"field": "down", "type": "nominal", "sort": downs, "axis": side_axis(down)},
        "x": {
            "field": "across",
            "type": "nominal",
            "sort": acrosses,
            "axis": side_axis(across, labelAngle=-45 if turned else 0),
        },
    }
    hover = [
        {"field": "down", "type": "nominal", "title": down or " "},
        {"field": "across", "type": "nominal", "title": across or " "},
        {"field": "value", "type": "quantitative", "title": title, "format": hover_format(unit)},
    ]
    cells = {
        "mark": {"type": "rect", "stroke": LIGHT["paper"], "strokeWidth": 1},
        "encoding": {
            "color": {
                "field": "value",
                "type": "quantitative",
                "scale": {"domain": list(domain), "range": list(SEQUENTIAL)},
                "legend": {"title": title, **(PERCENT if unit == "share" else {})},
            },
            "tooltip": hover,
            **({"href": {"field": "href", "type": "nominal"}} if links else {}),
        },
    }
    layers: list[Spec] = [cells]
    if framed:
        frame = {"type": "rect", "filled": False, "stroke": LIGHT["ink"], "strokeWidth": 2}
        layers.append({"transform": [{"filter": "datum.framed"}], "mark": frame})
    if wide > 16 and high > 12:
        layers.append(
            {
                "mark": {"type": "text", "fontSize": 10},
                "encoding": {
                    "text": {
                        "field": "value",
                        "type": "quantitative",
                        "format": ".0%" if unit == "share" else ".2~f",
                    },
                    "color": {
                        "condition": {"test": f"datum.value > {middle:g}", "value": "#111111"},
                        "value": "#fafafa",
                    },
                },
            }
        )
    return {
        "width": {"step": max(wide, 46) if len(acrosses) <= 8 and turned else wide},
        "height": {"step": high},
        "data": {"values": values},
        "encoding": encoding,
        "layer": layers,
    }
