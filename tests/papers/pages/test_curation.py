"""Curation: the printed cells, and claims that follow them."""

import pytest

from fireassay.papers.pages import curation


def test_one_cell_of_table_three_is_enough(stored, changed, told):
    found = stored("curation_case_studies")
    assert told(curation.section(stored), "Table III").finding == "agrees"
    found["cells"][5]["authors_rho"] += 0.01
    found["sizes"]["spam"][0] += 1
    section = curation.section(changed(curation_case_studies=found))
    assert told(section, "Table III").finding == told(section, "Table I,").finding == "differs"


def test_table_two_leaves_out_a_valid_cell_of_table_three(stored, changed, told):
    assert "71 of 72" in told(curation.section(stored), "Table II,").because
    found = stored("curation_case_studies")
    for cell in found["cells"]:
        if (cell["case"], cell["labeler"], cell["approach"]) in curation.DASHES:
            cell["authors_p"] = 0.2
    section = curation.section(changed(curation_case_studies=found))
    assert told(section, "Table II,").finding == "agrees"


@pytest.mark.parametrize(
    ("claim", "change", "becomes"),
    [
        ("On real medical", {"authors_rho": -0.9}, "agrees"),
        ("On real medical", {"authors_rho": 0.9, "authors_p": 0.01}, "differs"),
        ("Twelve of 18", {"authors_p": 0.9}, "differs"),
        ("Each of the three", {"authors_rho": -0.9}, "differs"),
        ("Fig. 3", {}, "agrees"),
    ],
)
def test_claims_of_curation_follow_the_cells(claim, change, becomes, stored, changed, told):
    found = stored("curation_case_studies")
    for cell in found["cells"]:
        cell.update(change)
    assert told(curation.section(changed(curation_case_studies=found)), claim).finding == becomes


def test_lines_that_part_refute_the_figure(stored, changed, told):
    found = stored("curation_case_studies")
    for cell in found["cells"]:
        if cell["case"] == "spam" and cell["approach"] == "ours":
            cell["authors_accuracy"] = [0.1] * 10
    assert (
        told(curation.section(changed(curation_case_studies=found)), "Fig. 3").finding == "differs"
    )


def test_the_interval_of_the_text_is_not_that_of_table_three(stored):
    coded, ties, *_ = curation.section(stored).ladders
    assert "72 of 72 by the interval of their program" in str(coded)
    assert "2 of the 36 that use an interval by the formula of Section IV-C" in str(coded)
    assert "0 of 18 as printed → 0 rerun → 1 with ties averaged" in str(ties)


def test_the_level_and_the_count_of_other_approaches_follow_the_cells(stored, changed, told):
    found = stored("curation_case_studies")
    few = "The other approaches give at least"
    assert "ci_lb_all 11, ours 12" in told(curation.section(stored), few).because
    assert told(curation.section(stored), "An order with p").finding == "differs"
    found["random_orders"]["valid"] = 80
    for cell in found["cells"]:
        if cell["approach"] == "ours":
            cell["authors_p"] = 0.9
    section = curation.section(changed(curation_case_studies=found))
    assert told(section, few).finding == told(section, "An order with p").finding == "agrees"
