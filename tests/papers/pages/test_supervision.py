"""Supervision: claims about sixteen supervisors follow their AUROCs."""

import pytest

from fireassay.papers.pages import supervision, supervision_claims


@pytest.fixture
def found(stored):
    """The stored AUROCs, each with an interval of ± .01."""
    table = stored("supervision_table2")
    table["summary"] = [row | {"arm": 0.01} for row in table["summary"] if "mean" in row]
    return table


def test_claims_on_supervisors_can_be_refuted(found):
    for row in found["summary"]:
        row["mean"] = 0.3 if row["supervisor"] in supervision_claims.SOFTMAX else 0.95
        if row["supervisor"] == "dsa" and row["set"] == "corrupted":
            row["mean"] = 0.6
    cells = supervision.auroc(found["summary"])
    theirs, ours = (supervision_claims.claims(cells, {}, own) for own in ("", "our own rows"))
    for start in ("Softmax-based", "DSA, LSA", "No single", "On corrupted", "… and no better"):
        same, other = (next(c for c in own if c.text.startswith(start)) for own in (theirs, ours))
        assert same.verdict.finding == "differs", start
        assert other.verdict.setting == "ours", start


def test_a_sentence_that_repeats_one_number_is_not_judged_by_that_number(stored, told):
    section = supervision.section(stored)
    assert told(section, "The autoencoder is nearly").setting == "ours"
    assert told(section, "On corrupted").setting == "theirs, as printed"
    assert told(section, "Section 7.3, stab").finding == "agrees"


def test_softmax_that_is_better_everywhere_contradicts_the_paper(found, changed, told):
    for row in found["summary"]:
        row["mean"] = 0.9 if row["supervisor"] in supervision_claims.SOFTMAX else 0.2
    section = supervision.section(changed(supervision_table2=found))
    assert told(section, "Softmax-based supervisors find", here=True).finding == "agrees"
    assert told(section, "On adversarial", here=True).finding == "differs"
    assert told(section, "Table 2, MNIST, ambiguous").setting == "ours"


def test_fewer_architectures_are_another_setting(found, changed, told):
    for row in found["summary"]:
        row |= {"architectures": 2, "mean": 0.95}
    section = supervision.section(changed(supervision_table2=found))
    assert "2 of 4 architectures" in told(section, "DSA, LSA", here=True).differs


def test_spreads_over_trainings_are_those_that_the_tables_print(found, changed, told):
    for part in found["parts"]:
        for record in part["records"]:
            record["auroc"] = 0.4 + 0.1 * part["run"]
    spreads = supervision.spreads(found["parts"])
    assert len(spreads) == 488
    assert all(own == pytest.approx((0.158, 0.6), abs=1e-3) for own in spreads.values())
    section = supervision.section(changed(supervision_table2=found))
    assert "share above 0.05 1, printed 0.0594" in told(section, "Tables 8–11, standard").because
    assert told(section, "Tables 8–11, standard").setting == "ours"
    assert (
        told(section, "Where trainings differ much", here=True).finding == "agrees"
    )  # their means are .6
    for part in found["parts"]:
        for record in part["records"]:
            record["auroc"] += 0.4
    section = supervision.section(changed(supervision_table2=found))
    assert told(section, "Where trainings differ much", here=True).finding == "differs"


@pytest.mark.parametrize(("worst", "word"), [(0.7, "agrees"), (0.9, "differs"), (0.79, "open")])
def test_a_supervisor_that_may_be_good_at_everything_leaves_it_open(worst, word):
    cells = good_at_everything("dsa")
    cells["mnist", "dsa", "ambiguous"] = (worst, worst - 0.02, worst + 0.02)
    assert supervision_claims.nobody_alone(cells, "").finding == word


def test_another_supervisor_than_the_best_may_be_good_at_everything():
    cells = good_at_everything("dsa") | good_at_everything("lsa")
    cells["mnist", "dsa", "ambiguous"] = (0.75, 0.74, 0.76)
    cells["mnist", "lsa", "ambiguous"] = (0.70, 0.50, 0.90)
    assert supervision_claims.nobody_alone(cells, "").finding == "open"


def good_at_everything(name):
    return {(data, name, kind): (0.95, 0.93, 0.97)
            for data in supervision_claims.TITLES for kind in supervision_claims.KINDS}  # fmt: skip


@pytest.mark.parametrize(
    ("over", "perhaps", "word"),
    [(2, 0, "agrees"), (1, 1, "agrees"), (1, 2, "open"), (3, 0, "differs")],
)
def test_barely_any_is_no_more_than_in_their_own_table(over, perhaps, word):
    above, open_, under = (0.7, 0.6, 0.8), (0.5, 0.4, 0.6), (0.3, 0.2, 0.4)
    every = [above] * over + [open_] * perhaps + [under] * (8 - over - perhaps)
    values = {str(i): value for i, value in enumerate(every)}
    assert supervision_claims.barely_any(values, 0.5, 2, "").finding == word


def test_tables_by_architecture_with_means_of_their_own_agree(stored, changed, told):
    printed = stored("supervision_appendix")
    assert told(supervision.section(stored), "Tables 8–11, means").finding == "differs"
    for rows in printed["tables"].values():
        rows["dsa"][0] += 0.01
    section = supervision.section(changed(supervision_appendix=printed))
    assert told(section, "Tables 8–11, means").finding == "agrees"
