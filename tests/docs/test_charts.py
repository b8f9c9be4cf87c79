"""Charts of the docs are drawn from the examples when the docs are built."""

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("docs_charts", DOCS / "charts.py")
charts = importlib.util.module_from_spec(spec)
spec.loader.exec_module(charts)

EXAMPLE = """
from fireassay.core import Chart
from fireassay.core.drawing import bars

class Result:
    def charts(self):
        return {"my bars": Chart(bars([("one", 1.0)], "n"), "A <caption>", "Bars.")}

def main():
    print("what a reader sees in a terminal")
    return Result()

at_the_top = Result()
"""


@pytest.mark.parametrize("name", ["main", "at_the_top"])
def test_a_mark_becomes_a_drawing_in_the_colours_of_the_page(tmp_path, capsys, name):
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "one.py").write_text(EXAMPLE)
    page = f"Before\n\n<!-- chart: examples/one.py {name} my bars -->\n\nAfter\n"
    drawn = charts.current(page, tmp_path)
    assert drawn.startswith("Before\n\n<figure")
    assert "var(--chart-one, " in drawn
    assert "A &lt;caption&gt;" in drawn
    (block,) = re.findall("<figure.*</figure>\n", drawn)  # one line: Markdown leaves it alone
    assert "<svg" in block
    assert capsys.readouterr().out == ""


def test_marks_of_the_pages_name_examples_that_are_there():
    marks = [
        mark
        for page in DOCS.rglob("*.md")
        for mark in re.findall("<!-- chart: .*\n", page.read_text())
    ]
    assert marks
    for mark in marks:
        found = charts.MARK.fullmatch(mark)
        assert found, mark
        text = (charts.ROOT / found[1]).read_text()
        assert f"\n{found[2]} = " in text or f"def {found[2]}(" in text


WITHOUT = {"dossier.md", "judge.md", "pairs.md", "upgrade.md"}  # tables from the first line on


@pytest.mark.parametrize(
    "page", [p for p in sorted(DOCS.glob("*.md")) if p.name not in WITHOUT], ids=lambda p: p.stem
)
def test_a_picture_stands_on_the_first_screen(page):
    first = "\n".join(page.read_text().splitlines()[:24])
    picture = re.search(r"!\[[^]]{10,}\]\(([^)]+)\)", first)
    assert picture or charts.MARK.search(first + "\n")
    assert picture is None or (DOCS / picture[1]).is_file()
