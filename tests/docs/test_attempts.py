"""Every test that the table of attempts names is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "tests").rglob("test_*.py"))
ROWS = [
    line
    for line in (ROOT / "docs" / "attempts.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and "test_" in line
]


def test_there_are_rows() -> None:
    assert len(ROWS) >= 40


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:40])
def test_the_tests_of_an_attempt_are_there(row: str) -> None:
    last = row.rstrip().rstrip("|").rsplit("|", 1)[-1]
    names = re.findall(r"`([^`]+)`", last)
    assert names
    file = ""
    for name in names:
        place, _, test = name.partition("::")
        file = file if place == "…" else place
        places = [path for path in FILES if path.name == file]
        assert places, f"no file {file}"
        if test:
            trees = [ast.parse(path.read_text(encoding="utf-8")) for path in places]
            known = {n.name for t in trees for n in ast.walk(t) if isinstance(n, ast.FunctionDef)}
            assert test in known, f"no test {test} in {file}"
