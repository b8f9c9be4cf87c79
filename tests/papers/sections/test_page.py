"""The page of the five papers: made from what is stored, complete, told once."""

from pathlib import Path

from fireassay.papers.sections import discovery
from fireassay.papers.sections.page import left, page, sections
from fireassay.papers.sections.section import Claim, Results, Row, Section
from fireassay.papers.verdicts import near

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_is_made_from_the_stored_results(stored):
    assert page(stored, ROOT / "docs") == (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_every_refuted_claim_shows_a_figure_and_every_claim_a_belief(stored):
    for section in sections(stored):
        for claim in section.claims:
            assert claim.belief
            if claim.verdict.word == "refuted":
                assert any(character.isdigit() for character in claim.verdict.because)


def test_without_results_nothing_is_decided(tmp_path):
    for section in sections(Results(tmp_path)):
        words = {part.verdict.word for part in (*section.rows, *section.claims)}
        assert words <= {"not decided", "no public data"}


def test_what_is_left_is_what_is_smaller_than_the_paper(tmp_path, stored, changed):
    assert len(left(Results(tmp_path))) == 8
    table = stored("ambiguity_table1")
    table["parts"] = [part for part in table["parts"] if part["model"] == "MLP"]
    cells = stored("reliability_mnist") | {"cells": 4_000}
    waiting = left(changed(ambiguity_table1=table, reliability_mnist=cells, survival_cifar10={}))
    for name in ("ambiguity_table1.py`", "reliability_latent.py mnist", "survival_cifar10"):
        assert name in " ".join(waiting)
        assert name not in " ".join(left(stored))


def test_a_difference_that_many_rows_share_is_told_once(stored):
    section = discovery.section(stored)
    lines = section.markdown(ROOT / "docs")
    assert sum(section.settings[0] in line for line in lines) == 1
    assert sum("; setting A" in line for line in lines) > 10


def test_what_rows_share_is_told_once(tmp_path):
    shown = (("AUROC", "one.py"), ("AUROC", "one.py"), ("entropy", "other.py"))
    rows = [Row(f"Table {i}", *both, "1", "1", near(1, 1, 0.1, (1, 1)))
            for i, both in enumerate(shown)]  # fmt: skip
    lines = Section("One", rows, []).markdown(tmp_path)
    assert [line.split("|")[1:3] for line in lines if line.startswith("| Table")] == [
        [" Table 0 ", " AUROC "],
        [" Table 1 ", " ″ "],
        [" Table 2, `other.py` ", " entropy "],
    ]
    assert sum("one.py" in line for line in lines) == 1


def test_another_number_in_another_setting_is_not_called_open():
    claim = Claim("…", near(0.98, 0.49, 0.05, (0.97, 0.99), "our own autoencoder"), {})
    assert claim.belief.startswith("Another number in our setting")
