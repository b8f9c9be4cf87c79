"""Tables in pages of the docs, between two marks, written from what was measured."""

from pathlib import Path


def refresh(page: Path, mark: str, table: str) -> None:
    """Put a table between ``<!-- mark: start -->`` and ``<!-- mark: end -->``."""
    start, end = f"<!-- {mark}: start -->", f"<!-- {mark}: end -->"
    before, rest = page.read_text().split(start)
    _, after = rest.split(end)
    page.write_text(f"{before}{start}\n{table}\n{end}{after}")
