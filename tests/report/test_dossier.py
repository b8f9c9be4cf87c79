"""Guidelines filled from a report: nothing is invented, nothing marked is hidden."""

import re
from dataclasses import replace

import pytest

from fireassay.core import (
    Assumption,
    Claim,
    Estimate,
    Evidence,
    Measure,
    ParameterError,
    Table,
)
from fireassay.report import Report
from fireassay.report.document import About, DataFacts
from fireassay.report.dossier import SOURCES, Case, dossier, guidelines

SENSITIVITY = Estimate(0.892, 0.844, 0.93, 0.95, 223, "Clopper-Pearson")
ACCURACY = Evidence(
    "accuracy",
    "Right on 85 %.",
    estimates={"sensitivity[sepsis]": SENSITIVITY},
    measures=(Measure("sensitivity[sepsis]", "Sensitivity, sepsis", "share", "high", ""),),
    assumptions=(Assumption("Rows are independent.", "untestable", "", id="independent-rows"),),
)
ABOUT = About("net.onnx", (DataFacts("test.csv", 1640, labelled=True, groups=1604),), 0)


def case(part=ACCURACY, declared=None):
    report = Report([part], "Sepsis alarm", about=ABOUT)
    return Case(report, report.verdict({"min": {"sensitivity[sepsis]": 0.85}}), declared or {})


def item(filled, number):
    return next(one for one in filled.items if one.number == number)


def test_guidelines_number_their_items_once_and_use_known_sources():
    assert set(guidelines()) == {"stard", "tripod", "annex-iv", "pas8800"}
    for name, guideline in guidelines().items():
        numbers = [one["number"] for one in guideline["items"]]
        assert len(set(numbers)) == len(numbers), name
        for one in guideline["items"]:
            assert one["owner"], (name, one["number"])
            assert one.get("from") or one.get("about"), (name, one["number"])
            assert all(source.split()[0] in SOURCES for source in one.get("from", ()))
            assert len(one["asks"].split()) <= 20, one["asks"]


def test_every_item_of_stard_2015_is_there():
    numbers = {one["number"] for one in guidelines()["stard"]["items"]}
    plain = {re.sub("[ab]$", "", number) for number in numbers if not number.startswith("AI")}
    assert plain == {str(number) for number in range(1, 31)}


def test_every_item_of_tripod_is_there():
    numbers = {one["number"].rstrip("abcdefg") for one in guidelines()["tripod"]["items"]}
    assert numbers == {str(number) for number in range(1, 28)}


def test_a_number_stands_with_its_interval_n_and_method():
    said = item(dossier("stard", case()), "24").lines
    assert said == ("Sensitivity, sepsis: 89.2 % [84.4, 93.0], n = 223, Clopper-Pearson",)


def test_what_only_people_know_names_its_owner_until_it_is_declared():
    empty = item(dossier("stard", case()), "3")
    assert empty.state == "owner"
    assert "owner clinical lead" in empty.left[0]
    told = item(dossier("stard", case(declared={"intended_use": "Triage on wards."})), "3")
    assert told.state == "filled"
    assert told.lines == ("Intended use: Triage on wards.",)


def test_what_a_run_could_say_and_does_not_is_open_with_the_command():
    lacking = item(dossier("stard", case()), "AI-7")
    assert lacking.state == "open"
    assert "fireassay run --only survival" in lacking.left[0]


@pytest.mark.parametrize("mark", ["stale", "partial"])
def test_a_stale_or_partial_number_says_so(mark):
    marked = replace(ACCURACY, **{mark: "another model"})
    said = item(dossier("stard", case(marked)), "24").lines[0]
    assert f"[{mark}" in said


def test_a_contradicted_number_says_so():
    broken = Assumption("Rows are independent.", "contradicted", "", id="independent-rows")
    rests = replace(SENSITIVITY, rests_on=("independent-rows",))
    part = replace(ACCURACY, assumptions=(broken,), estimates={"sensitivity[sepsis]": rests})
    assert "not to be relied on" in item(dossier("stard", case(part)), "24").lines[0]


def test_no_name_breaks_out_of_the_page():
    declared = {"intended_use": "<script>alert(1)</script> ![x](y)"}
    filled = dossier("stard", case(declared=declared))
    assert "<script>" not in filled.html()
    assert "![x]" not in filled.markdown()


def test_indeterminate_answers_are_said_where_a_matrix_shows_them():
    assert item(dossier("stard", case()), "15").state == "open"
    table = {"confusion": Table(("truth", "none", "sepsis"), (("none", 1, 2),), "")}
    plain = replace(ACCURACY, tables=table)
    assert "none is indeterminate" in item(dossier("stard", case(plain)), "15").lines[0]
    told = replace(plain, claims=(Claim("12 indeterminate answers count as wrong."),))
    assert item(dossier("stard", case(told)), "15").lines[0].startswith("12 indeterminate")


def test_an_unknown_guideline_is_refused_with_the_known_ones():
    with pytest.raises(ParameterError, match="stard"):
        dossier("consort", case())
