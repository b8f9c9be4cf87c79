"""Charts of the docs, drawn from what the examples find when the docs are built.

A page says which chart of which result of which example stands where:

    <!-- chart: examples/reliability.py result labels -->
    <!-- chart: docs/pictures.py of_pages attempts -->

An example without such a name at its top has a ``main()`` that returns the result: then the name
is ``main``.
"""

import contextlib
import functools
import io
import re
import runpy
from html import escape
from pathlib import Path
from typing import Any

from fireassay.core.chart import variables
from fireassay.report.page_charts import still

ROOT = Path(__file__).parents[1]
MARK = re.compile(r"<!-- chart: ((?:examples|docs)/\w+\.py) (\w+) ([\w ]+?) -->\n")
_STYLE = (
    f"<style>:root {{ {variables('light')} }} "
    f"[data-md-color-scheme=slate] {{ {variables('dark')} }} "
    "figure.chart svg { max-width: 100%; height: auto; }</style>"
)


@functools.cache
def _found(example: Path) -> dict[str, Any]:
    with contextlib.redirect_stdout(io.StringIO()):
        names = runpy.run_path(str(example))
        if "main" in names:
            names["main"] = names["main"]()
    return names


def current(text: str, root: Path = ROOT) -> str:
    """A page with every marked chart as the example gives it now."""

    def figure(marked: re.Match[str]) -> str:
        example, result, name = marked.groups()
        chart = _found(root / example)[result].charts()[name]
        drawn = still(chart, re.sub(r"\W+", "-", f"{Path(example).stem}-{name}"))
        source = f" (<code>{example}</code>)" if example.startswith("examples/") else ""
        caption = f"<figcaption>{escape(chart.caption)}{source}</figcaption>"
        label = f'role="img" aria-label="{escape(chart.alternative)}"'
        return f'<figure class="chart" {label}>{_STYLE}{drawn}{caption}</figure>\n'

    return MARK.sub(figure, text)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for every page: charts are drawn while the docs are built."""
    return current(markdown)
