"""A verdict and a whole report in a notebook: the first screen, as on the page."""

from collections.abc import Mapping, Sequence

from fireassay.core import Evidence
from fireassay.report.document import About
from fireassay.report.first_screen import first_screen
from fireassay.report.page import page_environment, screen_html
from fireassay.report.verdict import Verdict

# The notebook's own text colour and paper: it may be light or dark.
_COLOURS = """
.fireassay { --ink: currentColor; --soft: color-mix(in srgb, currentColor 72%, transparent);
  --paper: transparent; --card: rgba(128,128,128,.1); --line: rgba(128,128,128,.35);
  --edge: #808890; --accent: #2f7fd1; --good: #2a8a46; --bad: #cc4b44; --warn: #b07d1a; }
.fireassay .good { color: var(--good); } .fireassay .bad { color: var(--bad); }
.fireassay .warn { color: var(--warn); } .fireassay table { border-collapse: collapse; }
.fireassay .tag { font-weight: 600; } .fireassay .soft { color: var(--soft); }
"""


def report_html(
    parts: Sequence[Evidence],
    title: str,
    verdict: Verdict,
    accepted: Mapping[str, str] | None = None,
    about: About | None = None,
) -> str:
    """The first screen under its title, with its own style; `to_html` writes the whole page."""
    from markupsafe import escape

    styles = page_environment().get_template("first_screen.css").render()
    screen = first_screen(parts, verdict, accepted, about)
    shown = screen_html(screen, parts, {"part": ""})
    head = f"<p><strong>{escape(title)}</strong></p>" if title else ""
    scoped = f".fireassay {{ {styles} }}{_COLOURS}"
    return f'<div class="fireassay first"><style>{scoped}</style>{head}{shown}</div>'


def verdict_html(verdict: Verdict) -> str:
    """The verdict alone: every limit with its state, and what would settle it."""
    return report_html((), "", verdict)
