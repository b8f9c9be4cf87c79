"""A sample report to click in the docs: the demo's page, where somebody has made it.

Docs are published with ``FIREASSAY_SAMPLE=demo make docs``, where ``demo`` is the folder that
``fireassay demo --output demo`` wrote. Without it the docs say how to make one: a demo takes half a
minute, which is too long for every build.
"""

import os
from pathlib import Path
from typing import Any

MARK = "<!-- sample report -->"
NAME = "sample-report.html"
HOW = "`fireassay demo` makes such a page in half a minute, on built-in data."


def made() -> Path | None:
    """The page of the demo, if the builder has named its folder."""
    folder = os.environ.get("FIREASSAY_SAMPLE")
    return None if not folder else Path(folder) / "report.html"


def on_files(files: Any, config: Any) -> Any:
    """Called by mkdocs once: the page joins the files of the docs."""
    page = made()
    if page is not None:
        from mkdocs.structure.files import File

        files.append(File.generated(config, NAME, content=page.read_bytes()))
    return files


def current(markdown: str) -> str:
    """A page with a link to the sample, or with how to make one."""
    return markdown.replace(MARK, HOW if made() is None else f"[A sample report]({NAME}). {HOW}")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for every page."""
    return current(markdown)
