"""Help in plain words, the usual short options, a page on paper, and refused comparisons."""

import re

import pytest
from typer.testing import CliRunner

from fireassay import judge
from fireassay.cli.main import QUESTIONS, VERBS, app
from fireassay.core import FireassayError, ParameterError
from fireassay.report import compare_reports
from fireassay.report.exports import print_pdf

PYTHON = re.compile(r"<(list|tuple|dict|str|Path|int|float|bool)\b|list\[|None\b")


@pytest.mark.parametrize("command", [*VERBS, *QUESTIONS])
def test_help_has_no_python_types_and_fits_80_columns(command):
    shown = CliRunner().invoke(app, [command, "-h"], env={"COLUMNS": "80"})
    assert shown.exit_code == 0
    assert not PYTHON.search(shown.stdout)
    assert max(map(len, shown.stdout.splitlines())) <= 80


def test_the_usual_short_options():
    assert CliRunner().invoke(app, ["-V"]).stdout.startswith("fireassay ")
    assert "Commands:" in CliRunner().invoke(app, ["-h"]).stdout
    assert "--install-completion" in CliRunner().invoke(app, ["-h"]).stdout


def test_runs_of_different_tasks_are_not_called_better():
    two = judge([0, 1] * 50, [0.1, 0.9] * 50)
    three = judge(["x", "y", "z"] * 50, answers=["x", "y", "z"] * 50)
    assert compare_reports(two, two).differences
    with pytest.raises(ParameterError, match="different classes: 0, 1 and x, y, z"):
        compare_reports(two, three)


def test_without_a_browser_a_pdf_says_how(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    page = tmp_path / "report.html"
    with pytest.raises(FireassayError, match=r"needs a Chromium.*open .*report.html in a browser"):
        print_pdf(page, tmp_path / "report.pdf")
