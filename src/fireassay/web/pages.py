"""Templates and shipped files. Everything from data is escaped by the templates."""

import math
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fireassay.core import Chart
from fireassay.core.estimate import Estimate
from fireassay.report.chart_embed import chart_figure
from fireassay.report.html import label_of
from fireassay.report.page_environment import COLOURS, SHAPES
from fireassay.version import __version__

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@cache
def environment() -> Environment:
    """The templates: names, ids and labels are text, whatever they contain."""
    found = Environment(
        loader=PackageLoader("fireassay.web"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(number=number, estimate=estimate, cell=cell, share=share)
    found.filters.update(kappa=kappa, three=three, figure=figure)
    found.filters.update(range_text=range_text, label_of=label_of)
    found.globals.update(version=__version__, shapes=SHAPES, colours=COLOURS)
    return found


def render(template: str, **values: Any) -> str:
    """A page as text."""
    return environment().get_template(template).render(**values)


@cache
def static_files() -> dict[str, tuple[bytes, str]]:
    """The shipped scripts and styles by name, with their types: read once, never by a request."""
    folder = files("fireassay.web") / "static"
    return {
        entry.name: (entry.read_bytes(), _TYPES["." + entry.name.rsplit(".", 1)[-1]])
        for entry in folder.iterdir()
        if entry.is_file()
    }


def number(value: float | str | None) -> str:
    """A number for people; a text as it is."""
    if isinstance(value, str):
        return value
    if value is None or not math.isfinite(value):
        return "∞" if value is None or value > 0 else ("−∞" if value < 0 else "–")
    return f"{value:.4g}"


def estimate(value: Estimate) -> str:
    """A number with its interval."""
    if math.isnan(value.value):
        return "not estimable"
    if value.kind != "interval":
        return number(value.value)
    return f"{number(value.value)} [{number(value.low)}, {number(value.high)}]"


def kappa(value: Estimate) -> str:
    """An agreement with its interval."""
    return f"{value.value:.2f} [{value.low:.2f}, {value.high:.2f}]"


def three(value: float) -> str:
    """Three digits, as the script writes them."""
    return f"{value:.3g}" if math.isfinite(value) else number(value)


def share(value: float) -> str:
    """A share in percent."""
    return f"{100 * value:.3g} %"


def range_text(value: str) -> str:
    """A filter's value for people: the ends of a range with three digits, else as it is.

    >>> range_text("0.949999988..1"), range_text("cat")
    ('0.95 to 1', 'cat')
    """
    low, separator, high = value.partition("..")
    try:
        return f"{float(low):.3g} to {float(high):.3g}" if separator else value
    except ValueError:
        return value


def cell(value: Any) -> str:
    """A table's cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)


def figure(chart: Chart, key: str) -> Markup:
    """A chart, drawn by the script that the report has, too; what came from users is escaped."""
    return Markup(chart_figure(chart, key, drawn=False))  # noqa: S704
