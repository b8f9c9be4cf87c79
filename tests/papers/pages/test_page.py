"""The page of the five papers: made from what is stored, complete, told once."""

from pathlib import Path

from fireassay.papers.pages import discovery
from fireassay.papers.pages.page import headline, left, page, sections, tables
from fireassay.papers.pages.section import Claim, Results, Row, Section
from fireassay.papers.verdicts import near

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_is_made_from_the_stored_results(stored):
    assert page(stored, ROOT / "docs") == (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_the_rows_of_tables_are_made_from_the_stored_results(stored):
    shown = (ROOT / "docs" / "papers" / "tables.md").read_text(encoding="utf-8")
    assert tables(stored, ROOT / "docs") == shown
    assert shown.count("| Table 5: ") == 6
    assert "| model_layers | +0.00595 ± 0.00016 |" in shown  # published_weibull_summary.csv


def test_most_rows_are_in_the_authors_setting_and_the_others_have_a_price(stored):
    every = [part for s in sections(stored) for part in (*s.rows, *s.claims)]
    ours = [part for part in every if part.verdict.setting == "ours"]
    assert len(every) - len(ours) >= 75
    assert len(ours) <= 45
    for section in sections(stored):
        lines = [line for line in section.markdown(ROOT / "docs") if "| ours: " in line]
        assert all("(theirs: " in line for line in lines)
        assert "no price known" not in " ".join(lines)


def test_every_claim_that_differs_shows_a_figure_and_every_claim_a_belief(stored):
    for section in sections(stored):
        for claim in section.claims:
            assert claim.belief
            if claim.verdict.finding == "differs":
                assert any(character.isdigit() for character in claim.verdict.because)


def test_without_results_nothing_is_decided(tmp_path):
    for section in sections(Results(tmp_path)):
        words = {part.verdict.finding for part in (*section.rows, *section.claims)}
        assert words <= {"open"}
        assert {verdict.setting for verdict in section.verdicts} <= {"ours"}


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
    assert sum("ours: setting A" in line for line in lines) > 10


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


def test_another_setting_says_nothing_on_theirs():
    claim = Claim("…", "Table 2", near(0.98, 0.49, 0.05, (0.97, 0.99), "our own autoencoder"), {})
    assert claim.belief == "Not in our setting; theirs was not repeated."


def test_the_headline_counts_the_authors_own_setting_alone():
    rows = [Row("Table 1", "", "one.py", "1", "1", verdict)
            for verdict in (near(1, 1, 0.1, (1, 1)), near(2, 1, 0.1, (2, 2)),
                            near(1, 1, 0.1, (1, 1), "fewer rows"))]  # fmt: skip
    told = headline([Section("One", rows, [])])
    assert "2 rows, of which 1 agree, 1 differ, 0 are open" in told
    assert "The other 1 of 3 rows" in told


def test_every_claim_says_where_it_stands(stored):
    for section in sections(stored):
        assert all("Section" in claim.where for claim in section.claims)
