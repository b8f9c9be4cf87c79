"""Discovery: what searches found is judged over the rows they asked."""

import numpy as np
import pytest

from fireassay.papers.sections import discovery
from fireassay.statistics.clopper_pearson import clopper_pearson


def test_searches_that_find_nothing_do_not_hold(stored, changed, told):
    found = stored("discovery/bias-0")
    for curve in found["curves"].values():
        curve["sdr"] = [0.5] * 50
    found["cloud"]["log_mae"] = [-value for value in found["cloud"]["log_mae"]]
    section = discovery.section(changed(discovery_bias_0=found))
    assert "does not hold" in told(section, "Fig. 1").because
    assert "does not hold" in told(section, "Fig. 3").because
    words = {part.verdict.word for part in (*section.rows, *section.claims)}
    assert words <= {"other setting", "not decided"}


@pytest.mark.parametrize(("hits", "holds"), [(45, "holds"), (25, "open"), (5, "does not hold")])
def test_light_superpixels_are_counted(hits, holds, changed, told):
    model = {"kind": "bias", "seed": 0, "errors": 50, "lighter than the median candidate": 30}
    model["heaviest superpixel lighter than its image"] = hits
    found = changed(discovery_superpixels={"models": [model]})
    text = told(discovery.section(found), "Figs. 8, 9, errors").because
    assert text.startswith(f"{holds}, lighter in {hits} of 50")


@pytest.mark.parametrize(
    ("errors", "expected", "rate", "random"),
    [
        (30, 5.0, "holds", "holds"),
        (0, 20.0, "does not hold", "does not hold"),
        (11, 10.0, "open", "open"),
    ],
)
def test_what_a_search_finds_is_judged_over_the_rows_it_asked(errors, expected, rate, random):
    one = {"errors": errors, "asked": 50, "expected": expected}
    model = {"one_shot": {discovery.OWN: one}, "precision": 0.8}
    found = {"bias": [model]}
    assert discovery.finds_more(found, discovery.OWN, "x").because.startswith(rate)
    assert discovery.more_than_random(found, "x").because.startswith(random)


def test_claims_on_the_biased_classifier_and_on_random_search_follow_the_curves():
    def model(errors, weld):
        curves = {discovery.OWN: 3.0, "bansal-weld": weld, "random": 1.0}
        return {
            "curves": {name: {"sdr": [value] * 50} for name, value in curves.items()},
            "one_shot": {
                discovery.OWN: {"errors": errors, "asked": 50, "expected": 10.0}
            },
            "validation accuracy": 0.8, "test accuracy": 0.8,
        }  # fmt: skip

    good, poor = {"bias": [model(40, 1.1)]}, {"bias": [model(5, 1.9)]}
    for found, word in ((good, "reproduced"), (poor, "refuted")):
        assert discovery.twice_on_bias(found, "").word == word
        assert discovery.like_random(found, "").word == word
    assert discovery.twice_on_bias({"bias": [model(20, 1.0)]}, "").word == "not decided"
    assert discovery.near_accuracies(good, "").word == "reproduced"
    poor["bias"][0]["test accuracy"] = 0.5
    assert "bias, test 0.5" in discovery.near_accuracies(poor, "x").because


def test_rows_that_are_not_equally_hard_stay_within_the_interval():
    rng = np.random.default_rng(0)
    chances = np.repeat([0.02, 0.1, 0.5, 0.9], [30, 10, 6, 4])
    draws = (rng.random((2_000, len(chances))) < chances).sum(axis=1)
    inside = [low <= chances.mean() <= high
              for low, high in (clopper_pearson(int(k), len(chances)) for k in draws)]  # fmt: skip
    assert np.mean(inside) >= 0.95


def test_facility_location_cannot_lead(stored):
    found = {kind: [stored(f"discovery/{kind}-0")] for kind in discovery.KINDS}
    for models in found.values():
        models[0]["curves"]["facility-location"]["sdr"] = [99.0] * 50
        models[0]["curves"][discovery.OWN]["sdr"] = [9.0] * 50
    assert discovery.leads(found, "sdr", (discovery.OWN,), "").word == "reproduced"


@pytest.mark.parametrize(
    ("precision", "held"), [(0.5, "holds"), (0.9, "does not hold"), (0.8, "open")]
)
def test_overconfidence_is_judged_over_the_rows_predicted(precision, held):
    model = {"images": 1_000, "precision": precision, "expected_error": 0.2}
    assert discovery.overconfident({"bias": [model]}, "x").because.startswith(held)
