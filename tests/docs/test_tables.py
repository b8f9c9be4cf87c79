"""Tables of the docs are made from the code when the docs are built."""

import importlib.util
import re
from pathlib import Path

import pytest

from fireassay import ambiguity, attacks, curation, discovery, supervision, survival
from fireassay.classifiers.adapters import every_kind
from fireassay.core import ParameterError
from fireassay.data import CORRUPTIONS

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("docs_tables", DOCS / "tables.py")
tables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tables)

SHOWN = {
    "attacks": attacks.ATTACKS,
    "survival": survival.DEFENCES,
    "supervision": supervision.SUPERVISORS,
    "curation": curation.LABELERS,
    "discovery": discovery.SEARCHES,
    "ambiguity": ambiguity.PRESETS,
}


@pytest.mark.parametrize("page", SHOWN)
def test_a_page_shows_every_row_of_its_registry(page):
    text = tables.on_page_markdown((DOCS / f"{page}.md").read_text())
    for row in SHOWN[page].values():
        assert re.search(rf"^\| `{re.escape(row.name)}` \| .*{re.escape(row.summary)}", text, re.M)


def test_a_row_that_is_added_is_in_the_page_without_touching_it():
    class Extra:
        name, summary = "extra", "only for this test"

    CORRUPTIONS.register(Extra)
    try:
        text = tables.on_page_markdown((DOCS / "supervision.md").read_text())
    finally:
        CORRUPTIONS.unregister("extra")
    assert "| `extra` | only for this test |" in text
    with pytest.raises(ParameterError):
        CORRUPTIONS["extra"]


def test_models_that_can_be_read_are_on_their_page():
    text = tables.on_page_markdown((DOCS / "models.md").read_text())
    for row in every_kind():
        assert row.summary in text


def test_every_mark_is_understood():
    for page in DOCS.rglob("*.md"):
        assert "<!-- registry:" not in tables.on_page_markdown(page.read_text()), page
