"""A chart: one Vega-Lite spec, shown in report, app, notebook, print and docs."""

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fireassay.core.chart_theme import LOCALE, SCHEMA, Mode, configuration, recoloured

VEGA_LITE = "6.4"  # of the versions that vl-convert carries
# Notebooks draw version 5 themselves; these specs mean the same in both.
_MIME = "application/vnd.vegalite.v5+json"
_UNDRAWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_NOTEBOOK_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


@dataclass(frozen=True)
class Chart:
    """A chart as a plain dictionary, with what is said under it and instead of it.

    Attributes
    ----------
    body
        Vega-Lite without the theme: data, marks, encodings (see `fireassay.core.drawing`). Its
        colours are the light ones of `fireassay.core.chart_theme`.
    caption
        What is shown under it.
    alternative
        What is said to those who cannot see it.

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
        """The same chart, which the page does not fold away.

        >>> Chart({}).shown_first().is_first
        True
        """
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
        return recoloured(_svg(self._text()), mode)

    def png(self, mode: Mode = "light", scale: float = 2.0) -> bytes:
        """A bitmap on the paper of the mode."""
        import vl_convert

        themed = self.themed(mode)
        themed["background"] = json.loads(recoloured('"#fffffe"', mode))
        drawn: bytes = vl_convert.vegalite_to_png(
            themed, vl_version=VEGA_LITE, scale=scale, allowed_base_urls=[], format_locale=LOCALE
        )
        return drawn

    def text(self) -> str:
        """The spec without theme as JSON, in light colours."""
        body = {"description": self.alternative, **self.body}
        return json.dumps(_drawable(body), ensure_ascii=False, allow_nan=False)

    def _text(self) -> str:
        whole = {"$schema": SCHEMA, **json.loads(self.text()), "config": configuration()}
        return json.dumps(whole, ensure_ascii=False, allow_nan=False)

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


@functools.lru_cache(maxsize=256)
def _svg(spec: str) -> str:
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(
        spec, vl_version=VEGA_LITE, allowed_base_urls=[], format_locale=LOCALE
    )
    return drawn
