"""Tables of measured figures are written from the stored results, and are those of today."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("writer", "page", "command"),
    [
        ("table", ROOT / "benchmarks/README.md", "python benchmarks/table.py"),
        ("strength_table", ROOT / "docs/attacks.md", "python benchmarks/strength_table.py --write"),
    ],
)
def test_a_page_shows_the_stored_results(monkeypatch, writer, page, command):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    assert page.read_text() == importlib.import_module(writer).page(), f"Run {command}."
