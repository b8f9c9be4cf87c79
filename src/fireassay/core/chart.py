"""A chart: one Vega-Lite spec, shown in report, app, notebook, print and docs."""

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fireassay.core.memory import DRAWING_GB, need_addresses

Mode = Literal["light", "dark", "page"]

# The fonts that vl-convert carries, and their equals of the same widths elsewhere.
FONT = "Liberation Sans, Arimo, Arial, Helvetica, sans-serif"
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

# Role -> its colour on light paper, and on dark paper.
_COLOURS = {
    "ink": ("#1c2024", "#e6e9ec"),
    "soft": ("#5b6570", "#a4adb7"),
    "line": ("#d9dde2", "#363d45"),
    "paper": ("#fffffe", "#14171a"),
    "accent": ("#0b5cad", "#7db9f5"),
    "good": ("#17692f", "#8ad8a0"),
    "bad": ("#a3211c", "#ff9d97"),
    "warn": ("#7a4d00", "#f3c46f"),
    "plain": ("#4a5561", "#b4bdc7"),
    "one": ("#1f6fb4", "#6db3f2"),
    "two": ("#b3541e", "#f0915c"),
    "three": ("#0d7f66", "#54c9a8"),
    "four": ("#9a4f8c", "#d795c9"),
    "five": ("#8a6d00", "#d9be52"),
    "six": ("#c2255c", "#ff85ad"),
    "seven": ("#6b6b6c", "#b5b5b6"),
}
LIGHT: Mapping[str, str] = {role: light for role, (light, _) in _COLOURS.items()}
DARK: Mapping[str, str] = {role: dark for role, (_, dark) in _COLOURS.items()}
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
# A state has a colour, a shape and a name; green is a pass alone, a dot is not judged.
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
    """The theme as the ``config`` of a Vega-Lite spec, in light colours."""
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
    """Text in which every role's light colour has become that of another mode."""
    if mode == "light":
        return text
    if mode == "dark":
        return _HEX.sub(lambda found: DARK[_ROLES[found.group()]], text)
    return _HEX.sub(lambda found: f"var(--chart-{_ROLES[found.group()]}, {found.group()})", text)


def variables(mode: Literal["light", "dark"]) -> str:
    """The declarations of a stylesheet that `recoloured` with ``"page"`` refers to."""
    colours = LIGHT if mode == "light" else DARK
    return " ".join(f"--chart-{role}: {colour};" for role, colour in colours.items())


VEGA_LITE = "6.4"  # of the versions that vl-convert carries
# Notebooks draw version 5 themselves; these specs mean the same in both.
_MIME = "application/vnd.vegalite.v5+json"
_UNDRAWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_SUSPECT = re.compile(r"\\(?:u00|[bf])|" + _UNDRAWABLE.pattern)  # of them, as JSON has them
_NOTEBOOK_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


@dataclass(frozen=True)
class Chart:
    """A chart as a plain dictionary, with what is said under it and instead of it.

    Attributes:
        body: Vega-Lite without theme (see `fireassay.core.drawing`), in the light colours.
        caption: What is shown under it.
        alternative: What is said to those who cannot see it.

    >>> from fireassay.core.drawing import intervals, IntervalRow
    >>> chart = Chart(intervals([IntervalRow("cat", 0.9, 0.8, 0.95)]), "Recall", "A dot per class.")
    >>> chart.spec["description"], "config" in chart.spec
    ('A dot per class.', True)
    """

    body: Mapping[str, Any]
    caption: str = ""
    alternative: str = ""

    @property
    def spec(self) -> dict[str, Any]:
        """The whole Vega-Lite spec with the theme, in light colours."""
        return self.themed("light")

    def shown_first(self) -> "Chart":
        """The same chart, which the page does not fold away."""
        meta = {**self.body.get("usermeta", {}), "first": True}
        return Chart({**self.body, "usermeta": meta}, self.caption, self.alternative)

    @property
    def is_first(self) -> bool:
        """Whether the page shows it without being asked."""
        return bool(self.body.get("usermeta", {}).get("first"))

    def themed(self, mode: Mode) -> dict[str, Any]:
        """The whole spec in the colours of a mode (``"page"``: variables of a stylesheet)."""
        return dict(json.loads(recoloured(self._text(), mode)))

    def svg(self, mode: Mode = "light") -> str:
        """A drawing, made without a browser; equal specs give equal bytes."""
        return recoloured(drawn(self._text()), mode)

    def png(self, mode: Mode = "light", scale: float = 2.0) -> bytes:
        """A bitmap on the paper of the mode."""
        vl_convert = _drawer()
        themed = self.themed(mode)
        themed["background"] = json.loads(recoloured('"#fffffe"', mode))
        drawn: bytes = vl_convert.vegalite_to_png(
            themed, vl_version=VEGA_LITE, scale=scale, allowed_base_urls=[], format_locale=LOCALE
        )
        return drawn

    def text(self) -> str:
        """The spec without theme as JSON, in light colours."""
        body = {"description": self.alternative, **self.body}
        found = json.dumps(body, ensure_ascii=False, allow_nan=False, default=dict)
        if _SUSPECT.search(found):  # seldom, and looked at leaf by leaf
            found = json.dumps(_drawable(body), ensure_ascii=False, allow_nan=False)
        return found

    def _text(self) -> str:
        config = json.dumps(configuration(), ensure_ascii=False)
        return f'{{"$schema": "{SCHEMA}", {self.text()[1:-1]}, "config": {config}}}'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Live in notebooks that know Vega-Lite, a drawing in others."""
        del include, exclude
        return {
            _MIME: {**self.spec, "$schema": _NOTEBOOK_SCHEMA},
            "image/svg+xml": self.svg(),
            "text/plain": self.caption or self.alternative,
        }


def _drawable(value: Any) -> Any:
    """Without the characters that no drawing can hold; a NUL would end the whole process."""
    if isinstance(value, str):
        return _UNDRAWABLE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {key: _drawable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_drawable(item) for item in value]
    return value


def _drawer() -> Any:
    need_addresses(DRAWING_GB, "A chart")
    import vl_convert

    return vl_convert


@functools.lru_cache(maxsize=256)
def drawn(spec: str) -> str:
    """A whole spec as SVG."""
    svg: str = _drawer().vegalite_to_svg(
        spec, vl_version=VEGA_LITE, allowed_base_urls=[], format_locale=LOCALE
    )
    return svg
