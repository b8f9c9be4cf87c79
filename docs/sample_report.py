"""A sample report to click in the docs: the demo's page.

``make docs`` makes it (half a minute, once for each state of the code) and names its folder in
FIREASSAY_SAMPLE. Without that (``mkdocs serve``) the docs say how to make one.
"""

import os
from pathlib import Path
from typing import Any

MARK = "<!-- sample report -->"
NAME = "sample-report.html"
HOW = "`fireassay demo` makes such a page in half a minute, on built-in data."
LINK = f"**[Click through a whole report]({NAME})**, offline and in one file. {HOW}"


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
    return markdown.replace(MARK, HOW if made() is None else LINK)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for every page."""
    return current(markdown)
