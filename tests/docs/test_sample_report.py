"""The sample report of the docs: there where it was made, and told how to make otherwise."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

DOCS = Path(__file__).parents[2] / "docs"
hook = SimpleNamespace(**runpy.run_path(str(DOCS / "sample_report.py")))


def test_without_a_demo_the_page_says_how_to_make_one(monkeypatch):
    monkeypatch.delenv("FIREASSAY_SAMPLE", raising=False)
    shown = hook.current((DOCS / "report.md").read_text())
    assert "`fireassay demo` makes such a page" in shown
    assert "sample-report.html" not in shown
    assert hook.on_files([], None) == []


def test_with_a_demo_its_page_is_a_file_of_the_docs(monkeypatch, tmp_path):
    build = pytest.importorskip("mkdocs.commands.build", reason="needs mkdocs (extra 'dev')").build
    from mkdocs.config import load_config

    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "report.html").write_text("<p>made</p>")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Home\n\n{hook.MARK}\n")
    settings = f"site_name: x\nstrict: true\nhooks: [{DOCS / 'sample_report.py'}]\n"
    (tmp_path / "mkdocs.yml").write_text(settings)
    monkeypatch.setenv("FIREASSAY_SAMPLE", str(tmp_path / "demo"))
    build(load_config(str(tmp_path / "mkdocs.yml"), site_dir=str(tmp_path / "site")))
    assert (tmp_path / "site" / "sample-report.html").read_text() == "<p>made</p>"
    assert 'href="sample-report.html"' in (tmp_path / "site" / "index.html").read_text()


def test_the_picture_of_the_first_screen_is_small():
    assert 10_000 < (DOCS / "images" / "verdict.png").stat().st_size <= 150_000
