"""Files for programs are made from the docs and the commands."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_files_are_current():
    pytest.importorskip("yaml", reason="PyYAML is not installed")
    spec = importlib.util.spec_from_file_location("docs_agents", DOCS / "agents.py")
    agents = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(agents)
    stale = [file.name for file, text in agents.written().items() if file.read_text() != text]
    assert not stale, "python docs/agents.py --write"
    assert "fireassay judge" in (DOCS.parent / "AGENTS.md").read_text()
    assert "(docs/judge.md)" in (DOCS.parent / "llms.txt").read_text()
