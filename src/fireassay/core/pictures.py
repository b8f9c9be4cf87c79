"""Matplotlib figures as SVG text for the report, the same bytes every time."""

import io
from typing import TYPE_CHECKING

from fireassay.core.evidence import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def picture(figure: "Figure", caption: str, alternative: str) -> Picture:
    """A matplotlib figure as a `Picture`; ``alternative`` is the text for screen readers."""
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "fireassay", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    return Picture(buffer.getvalue(), caption, alternative)
