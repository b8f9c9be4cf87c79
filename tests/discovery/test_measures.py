"""Every number of discovery is described, and says which assumptions it rests on."""

import pytest

from fireassay import discovery
from fireassay.core.measure import find_measure


@pytest.fixture(scope="module")
def answers(corner):
    def search(name, **settings):
        begun = discovery.Search(
            name, model=corner.model, X=corner.X, scores=corner.scores, budget=10, **settings
        )
        return begun.run(lambda row: corner.y[row])

    compared = discovery.compare(
        corner.model, corner.X, corner.y, ["random", "score"], budget=3, subset=50, replications=2,
        workers=1, scores=corner.scores, progress=False,
    )  # fmt: skip
    return [search("weighted"), search("bansal-weld", matched_share=0.2), compared]


def test_every_number_has_a_measure(answers):
    for answer in answers:
        evidence = answer.evidence()
        assert evidence.measures == discovery.MEASURES
        for name in evidence.estimates:
            assert find_measure(name, evidence.measures) is not None, name


def test_every_number_rests_on_assumptions_that_are_there(answers):
    for answer in answers:
        evidence = answer.evidence()
        ids = [assumption.id for assumption in evidence.assumptions]
        assert all(ids)
        assert len(set(ids)) == len(ids)
        for estimate in evidence.estimates.values():
            assert set(estimate.rests_on) <= set(ids)


def test_counts_are_counts_and_sums_are_points(answers):
    estimates = answers[0].evidence().estimates
    assert estimates["errors_found"].kind == "count"
    assert estimates["errors_found"].value == answers[0].errors
    assert estimates["errors_expected"].kind == "point"
    assert estimates["sdr"].kind == estimates["pool_error_rate"].kind == "interval"


def test_a_result_prints_what_was_found(answers):
    text = str(answers[0])
    assert "confident error" in text
    assert "Standardised discovery ratio" in text
    assert "Largest mean ratio" in str(answers[2])
