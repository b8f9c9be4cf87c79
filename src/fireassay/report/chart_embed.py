"""Charts in a page: live under a strict content security policy, a drawing where nothing runs.

How to use it in a page of one's own::

    styles = page_css + chart_styles()          # <style>…</style>
    script = chart_script()                     # <script type="module">…</script>, once, at the end
    policy = f"default-src 'none'; img-src data:; style-src {csp_hash(styles)}; " \\
             f"script-src {csp_hash(script)}"   # no eval, nothing inline besides these two
    figure = chart_figure(chart, "accuracy-0")  # HTML of one chart; the key is unique in the page

A server sends `chart_script` and `chart_styles` as files instead (``script-src 'self'``).
The colours follow the reader's light or dark mode by themselves (variables of the stylesheet).
"""

import base64
import functools
import hashlib
import json
import os
import re
import sys
from html import escape
from importlib import resources
from importlib.metadata import version
from pathlib import Path

from fireassay.core import Chart
from fireassay.core.chart import VEGA_LITE
from fireassay.core.chart_theme import LOCALE, configuration, recoloured, variables
from fireassay.core.files import write_text

_ID = re.compile(r"(\bid=\"|url\(#|href=\"#)([A-Za-z_][\w-]*)")
_EXPORTED = "window.vegaEmbed = vegaEmbed;"
_STYLES = """
.chart { margin: .5rem 0; max-width: 100%; overflow-x: auto; }
.chart svg { display: block; max-width: 100%; height: auto; }
#vg-tooltip-element { visibility: hidden; position: fixed; z-index: 1000; padding: .4rem .6rem;
  border: 1px solid var(--chart-line); border-radius: .3rem; background: var(--chart-paper);
  color: var(--chart-ink); font: 13px/1.35 system-ui, sans-serif; pointer-events: none; }
#vg-tooltip-element.visible { visibility: visible; }
#vg-tooltip-element td { border: 0; padding: 0 .35rem; vertical-align: top; }
#vg-tooltip-element td.key { color: var(--chart-soft); text-align: right; }
"""


def chart_styles() -> str:
    """The stylesheet that charts need: colours for light and dark, and the label at the pointer.

    >>> "prefers-color-scheme: dark" in chart_styles()
    True
    """
    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {variables('dark')} }} }}"
    return f":root {{ {variables('light')} }}\n{dark}{_STYLES}"


@functools.cache
def chart_script() -> str:
    """What draws charts live: Vega, Vega-Lite, and a few lines of ours; no ``</script`` in it.

    Made once per installation (some seconds) and kept in the user's cache folder.
    """
    theme = recoloured(json.dumps(configuration()), "page")
    ours = resources.files("fireassay.report").joinpath("static/charts.js").read_text("utf-8")
    named = f"const THEME = {theme};\nconst LOCALE = {json.dumps(LOCALE)};\n"
    return f"{_libraries()}\n{named}{ours}"


def chart_figure(chart: Chart, key: str, *, drawn: bool = True) -> str:
    """One chart as HTML: its drawing, its data for the script, its caption; all escaped.

    Parameters
    ----------
    chart
        Any chart.
    key
        Unique in the page; letters, digits and hyphens.
    drawn
        Whether the drawing stands in the page; a page that needs its script anyway does without.

    Returns
    -------
    str
        A ``<figure>``.

    >>> from fireassay.core.drawing import bars
    >>> chart_figure(Chart(bars([("<b>", 1.0)], "n"), "Rows", "Bars."), "rows-0")[:22]
    '<figure class="figure"'
    """
    drawing = f'<div class="chart-still">{still(chart, key)}</div>' if drawn else ""
    return (
        f'<figure class="figure"><div class="chart" data-chart="{key}" role="img" '
        f'aria-label="{escape(chart.alternative)}">'
        f'{drawing}<script type="application/json">{chart_data(chart)}</script></div>'
        f"<figcaption>{escape(chart.caption)}</figcaption></figure>"
    )


def chart_data(chart: Chart) -> str:
    """The chart as JSON for the script, in the colours of the page; no ``<`` in it.

    >>> from fireassay.core.drawing import bars
    >>> "<" in chart_data(Chart(bars([("<b>", 1.0)], "n")))
    False
    """
    return recoloured(chart.text(), "page").replace("<", "\\u003c")


def still(chart: Chart, key: str) -> str:
    """The drawing to stand in a page: colours of the page, ids that no other drawing has.

    >>> from fireassay.core.drawing import bars
    >>> still(Chart(bars([("a", 1.0)], "n")), "rows-0")[:4]
    '<svg'
    """
    return _ID.sub(lambda found: f"{found[1]}{key}-{found[2]}", chart.svg("page"))


def csp_hash(text: str) -> str:
    """The source expression that allows exactly this inline script or stylesheet.

    >>> csp_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _libraries() -> str:
    """Vega and Vega-Lite as one script, read from the cache if it is whole."""
    import vl_convert

    made_by = version("vl-convert-python")
    stem = f"vega-lite-{VEGA_LITE}-vl-convert-{made_by}"
    for path in sorted(_cache_folder().glob(f"{stem}-*.js")):
        text = path.read_text("utf-8")
        if path.stem == f"{stem}-{_short_hash(text)}":
            return text
    made: str = vl_convert.javascript_bundle(_EXPORTED, VEGA_LITE)
    if "</script" in made.lower():
        made = re.sub("</script", r"<\\/script", made, flags=re.IGNORECASE)
    try:
        write_text(_cache_folder() / f"{stem}-{_short_hash(made)}.js", made)
    except OSError:
        return made  # a folder that cannot be written costs seconds the next time, nothing else
    return made


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def _cache_folder() -> Path:
    """Where programs of this user keep what they can make again."""
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"]) / "fireassay"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "fireassay" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fireassay"
    return Path.home() / ".cache" / "fireassay"
