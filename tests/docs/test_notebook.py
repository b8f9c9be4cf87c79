"""The example notebook runs, and shows what it is committed with."""

import json
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PATH = EXAMPLES / "first_report.ipynb"


@pytest.mark.slow
def test_every_cell_runs_and_shows_what_stands_in_the_file():
    execute = runpy.run_path(str(EXAMPLES / "execute_notebook.py"))["execute"]
    made, kept = execute(PATH), json.loads(PATH.read_text())
    assert len(made["cells"]) == len(kept["cells"])
    for new, old in zip(made["cells"], kept["cells"], strict=True):
        shown = [set(output["data"]) for output in new.get("outputs", [])]
        assert shown == [set(output["data"]) for output in old.get("outputs", [])]
    html = [
        output["data"]["text/html"]
        for cell in kept["cells"]
        for output in cell.get("outputs", [])
        if "text/html" in output["data"]
    ]
    for words, shown in zip(
        ("nothing here is a pass", "Do next", "Right on", "interval"), html,
        strict=True,
    ):  # fmt: skip
        assert words in shown
        assert "<script" not in shown
