"""Curation: the printed cells, and claims that follow them."""

import pytest

from fireassay.papers.sections import curation


def test_one_cell_of_table_three_is_enough(stored, changed, told):
    found = stored("curation_case_studies")
    assert told(curation.section(stored), "Table III").word == "reproduced"
    found["cells"][5]["authors_rho"] += 0.01
    found["sizes"]["spam"][0] += 1
    section = curation.section(changed(curation_case_studies=found))
    assert told(section, "Table III").word == told(section, "Table I,").word == "refuted"


def test_table_two_leaves_out_a_valid_cell_of_table_three(stored, changed, told):
    assert "71 of 72" in told(curation.section(stored), "Table II,").because
    found = stored("curation_case_studies")
    for cell in found["cells"]:
        if (cell["case"], cell["labeler"], cell["approach"]) in curation.DASHES:
            cell["authors_p"] = 0.2
    section = curation.section(changed(curation_case_studies=found))
    assert told(section, "Table II,").word == "reproduced"


@pytest.mark.parametrize(
    ("claim", "change", "becomes"),
    [
        ("Their approach never", {"verdict": "none", "definition_3": "none"}, "reproduced"),
        ("Their approach never", {"verdict": "increasing"}, "refuted"),
        ("Twelve of 18", {"authors_p": 0.9}, "refuted"),
        ("Each of the three", {"authors_rho": -0.9}, "refuted"),
        ("The verdicts are", {"rho": -0.9, "p_value": 0.0, "paper_rho": 0.9}, "refuted"),
        ("Fig. 3", {}, "reproduced"),
    ],
)
def test_claims_of_curation_follow_the_cells(claim, change, becomes, stored, changed, told):
    found = stored("curation_case_studies")
    for cell in found["cells"]:
        cell.update(change)
    assert told(curation.section(changed(curation_case_studies=found)), claim).word == becomes


def test_lines_that_part_refute_the_figure(stored, changed, told):
    found = stored("curation_case_studies")
    for cell in found["cells"]:
        if cell["case"] == "spam" and cell["approach"] == "ours":
            cell["authors_accuracy"] = [0.1] * 10
    assert told(curation.section(changed(curation_case_studies=found)), "Fig. 3").word == "refuted"
