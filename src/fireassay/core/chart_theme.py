"""How every chart looks: one set of colours for light and dark, one font, one way with numbers.

A spec names its colours by the light hexadecimal values of `LIGHT`, each of which stands for one
role. `recoloured` puts the dark values, or the variables of a stylesheet, in their place, so that
one spec is drawn on white, on black, and in a page that changes between the two.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

Mode = Literal["light", "dark", "page"]

# The fonts that vl-convert carries, and their equals of the same widths elsewhere.
FONT = "Liberation Sans, Arimo, Arial, Helvetica, sans-serif"
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

LIGHT: Mapping[str, str] = {
    "ink": "#1c2024",
    "soft": "#5b6570",
    "line": "#d9dde2",
    "paper": "#fffffe",
    "accent": "#0b5cad",
    "good": "#17692f",
    "bad": "#a3211c",
    "warn": "#7a4d00",
    "plain": "#4a5561",
    "one": "#1f6fb4",
    "two": "#b3541e",
    "three": "#0d7f66",
    "four": "#9a4f8c",
    "five": "#8a6d00",
    "six": "#c2255c",
    "seven": "#6b6b6c",
}
DARK: Mapping[str, str] = {
    "ink": "#e6e9ec",
    "soft": "#a4adb7",
    "line": "#363d45",
    "paper": "#14171a",
    "accent": "#7db9f5",
    "good": "#8ad8a0",
    "bad": "#ff9d97",
    "warn": "#f3c46f",
    "plain": "#b4bdc7",
    "one": "#6db3f2",
    "two": "#f0915c",
    "three": "#54c9a8",
    "four": "#d795c9",
    "five": "#d9be52",
    "six": "#ff85ad",
    "seven": "#b5b5b6",
}
CATEGORIES = tuple(LIGHT[name] for name in ("one", "two", "three", "four", "five", "six", "seven"))
# From dark to light in every kind of sight, and told apart from both papers.
SEQUENTIAL = ("#2a1a52", "#3b4a8c", "#3f7d93", "#5fae87", "#b3d266", "#fbe55c")
# "95 %", not "95%", wherever the reader's program can be told so.
LOCALE = {
    "decimal": ".",
    "thousands": ",",
    "grouping": [3],
    "currency": ["$", ""],
    "percent": "\u202f%",
}
# A state has a colour, a shape and (in words, elsewhere) a name; green is for a pass
# alone. A dot is a number that nobody judged.
STATES: Mapping[str, tuple[str, str]] = {
    "pass": (LIGHT["good"], "circle"),
    "fail": (LIGHT["bad"], "cross"),
    "undecided": (LIGHT["warn"], "diamond"),
    "none": (LIGHT["plain"], "square"),
    "dot": (LIGHT["one"], "circle"),
}
_ROLES = {colour: role for role, colour in LIGHT.items()}
_HEX = re.compile("|".join(_ROLES))


def configuration() -> dict[str, Any]:
    """The theme as the ``config`` of a Vega-Lite spec, in light colours.

    >>> configuration()["axis"]["labelColor"] == LIGHT["soft"]
    True
    """
    text = {"font": FONT, "fontSize": 11}
    return {
        "background": "transparent",
        "font": FONT,
        "padding": 4,
        "view": {"stroke": None},
        "axis": {
            "labelColor": LIGHT["soft"],
            "titleColor": LIGHT["soft"],
            "gridColor": LIGHT["line"],
            "domainColor": LIGHT["line"],
            "tickColor": LIGHT["line"],
            "titleFontWeight": "normal",
            "titleFontSize": 12,
            "labelFontSize": 11,
            "labelLimit": 240,
            "titlePadding": 8,
        },
        "axisX": {"tickCount": 6, "labelFlush": False},
        "axisY": {"titleAnchor": "end", "titleAngle": 0, "titleAlign": "left", "titleY": -10},
        "legend": {
            "labelColor": LIGHT["ink"],
            "titleColor": LIGHT["soft"],
            "titleFontWeight": "normal",
            "labelFontSize": 11,
            "titleFontSize": 11,
            "orient": "bottom",
            "tickCount": 4,
        },
        "title": {"color": LIGHT["ink"], "fontSize": 12, "anchor": "start"},
        "header": {"labelColor": LIGHT["ink"], "titleColor": LIGHT["soft"]},
        "mark": {"color": LIGHT["one"], "tooltip": None},
        "text": {**text, "color": LIGHT["ink"]},
        "rule": {"color": LIGHT["soft"], "strokeWidth": 1.5},
        "line": {"strokeWidth": 2},
        "point": {"filled": True, "size": 60, "opacity": 1},
        "style": {
            "limit": {"color": LIGHT["bad"]},
            "limit-text": {"color": LIGHT["bad"]},
            "guide-text": {"color": LIGHT["soft"]},
            "guide": {"stroke": LIGHT["soft"], "strokeDash": [4, 4], "strokeWidth": 1},
        },
        "range": {"category": list(CATEGORIES), "heatmap": list(SEQUENTIAL)},
    }


def recoloured(text: str, mode: Mode) -> str:
    """Text in which every role's light colour has become that of another mode.

    Parameters
    ----------
    text
        A spec as JSON, or an SVG drawing.
    mode
        ``"light"`` changes nothing; ``"dark"`` puts the dark values; ``"page"`` puts variables
        of the page's stylesheet (`variables`), with the light value where there is none.

    Returns
    -------
    str

    >>> recoloured('fill="#1c2024"', "dark"), recoloured('fill="#1c2024"', "page")
    ('fill="#e6e9ec"', 'fill="var(--chart-ink, #1c2024)"')
    """
    if mode == "light":
        return text
    if mode == "dark":
        return _HEX.sub(lambda found: DARK[_ROLES[found.group()]], text)
    return _HEX.sub(lambda found: f"var(--chart-{_ROLES[found.group()]}, {found.group()})", text)


def variables(mode: Literal["light", "dark"]) -> str:
    """The declarations of a stylesheet that `recoloured` with ``"page"`` refers to.

    >>> variables("dark").split(";")[0]
    '--chart-ink: #e6e9ec'
    """
    colours = LIGHT if mode == "light" else DARK
    return " ".join(f"--chart-{role}: {colour};" for role, colour in colours.items())
