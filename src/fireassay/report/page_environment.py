"""Templates of pages: everything that came from a user is escaped, a number keeps its unit."""

import re
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from fireassay.report.sample_view import groups_by_reason, sparkline

if TYPE_CHECKING:
    from jinja2 import Environment

# Each state has a word, a shape and a colour; green is for a pass alone.
SHAPES = {
    "pass": "✓",
    "fail": "✗",
    "not enough evidence": "?",
    "undecided": "?",
    "no limits set": "○",
}
COLOURS = {"pass": "good", "fail": "bad", "no limits set": "plain"}
_PER_CENT = re.compile(r"(\d) %")


def page_environment() -> "Environment":
    """What renders a page of this package, with the filters that all pages share."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("fireassay.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=together,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        sparkline=sparkline,
        by_reason=groups_by_reason,
        sure=lambda share: "–" if share is None else f"{100 * share:.0f} %",
    )
    environment.globals.update(shapes=SHAPES, colours=COLOURS)
    return environment


def together(value: Any) -> Any:
    """Text in which a number is not parted from its per cent sign at the end of a line.

    >>> together("95 %") == "95\\N{NO-BREAK SPACE}%"
    True
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return _PER_CENT.sub("\\1\N{NO-BREAK SPACE}%", value)
