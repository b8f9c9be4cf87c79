"""Tables of the docs are those of the code."""

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("docs_tables", DOCS / "tables.py")
tables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tables)


def test_a_table_follows_its_registry():
    mark = "<!-- registry: fireassay.ambiguity:PRESETS -->\n"
    old = f"before\n\n{mark}| preset | what it is |\n|---|---|\n| `slow` | gone |\n\nafter\n"
    new = tables.current(old)
    assert re.findall(r"^\| `(\w+)`", new, re.MULTILINE) == ["fast", "paper"]
    assert new.startswith("before\n")
    assert new.endswith("|\n\nafter\n")
    assert tables.current(new) == new
    assert (
        tables.current(f"{mark}\nafter\n") == f"{mark}{new.split(mark)[1].split('after')[0]}after\n"
    )


@pytest.mark.parametrize("page", tables.pages(), ids=lambda page: page.stem)
def test_tables_are_current(page):
    assert tables.current(page.read_text()) == page.read_text(), "python docs/tables.py --write"
