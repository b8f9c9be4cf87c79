"""Discovery: what searches found is judged over the rows they asked."""

import numpy as np
import pytest

from fireassay.papers.pages import discovery, discovery_claims
from fireassay.statistics.counts import clopper_pearson


def test_searches_that_find_nothing_do_not_hold(stored, changed, told):
    found = stored("discovery/bias-0")
    for curve in found["curves"].values():
        curve["sdr"] = [0.5] * 50
    found["cloud"]["log_mae"] = [-value for value in found["cloud"]["log_mae"]]
    section = discovery.section(changed(discovery_bias_0=found))
    assert told(section, "Fig. 1").finding == "differs"
    assert told(section, "Fig. 3").finding == "differs"
    assert {verdict.setting for verdict in section.verdicts} == {"ours"}


@pytest.mark.parametrize(("hits", "holds"), [(45, "agrees"), (25, "open"), (5, "differs")])
def test_light_superpixels_are_counted(hits, holds, changed, told):
    model = {"kind": "bias", "seed": 0, "errors": 50, "lighter than the median candidate": 30}
    model["heaviest superpixel lighter than its image"] = hits
    found = changed(discovery_superpixels={"models": [model]})
    verdict = told(discovery.section(found), "Figs. 8, 9, errors")
    assert str(verdict).startswith(f"{holds}: lighter in {hits} of 50")


@pytest.mark.parametrize(
    ("errors", "expected", "rate", "random"),
    [
        (30, 5.0, "agrees", "agrees"),
        (0, 20.0, "differs", "differs"),
        (11, 10.0, "open", "open"),
    ],
)
def test_what_a_search_finds_is_judged_over_the_rows_it_asked(errors, expected, rate, random):
    one = {"errors": errors, "asked": 50, "expected": expected}
    model = {"one_shot": {discovery_claims.OWN: one}, "precision": 0.8}
    found = {"bias": [model]}
    assert discovery_claims.finds_more(found, discovery_claims.OWN, "x").finding == rate
    assert discovery_claims.more_than_random(found, "x").finding == random


def test_claims_on_the_biased_classifier_and_on_random_search_follow_the_curves():
    def model(errors, weld):
        curves = {discovery_claims.OWN: 3.0, "bansal-weld": weld, "random": 1.0}
        return {
            "curves": {name: {"sdr": [value] * 50} for name, value in curves.items()},
            "one_shot": {
                discovery_claims.OWN: {"errors": errors, "asked": 50, "expected": 10.0}
            },
            "validation accuracy": 0.8, "test accuracy": 0.8,
        }  # fmt: skip

    good, poor = {"bias": [model(40, 1.1)]}, {"bias": [model(5, 1.9)]}
    for found, word in ((good, "agrees"), (poor, "differs")):
        assert discovery_claims.twice_on_bias(found, "").finding == word
        assert discovery_claims.like_random(found, "").finding == word
    assert discovery_claims.twice_on_bias({"bias": [model(20, 1.0)]}, "").finding == "open"
    assert discovery_claims.near_accuracies(good, "").finding == "agrees"
    poor["bias"][0]["test accuracy"] = 0.5
    assert "bias, test 0.5" in discovery_claims.near_accuracies(poor, "x").because


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
        models[0]["curves"][discovery_claims.OWN]["sdr"] = [9.0] * 50
    assert discovery_claims.leads(found, "sdr", (discovery_claims.OWN,), "").finding == "agrees"


def test_the_default_search_is_a_line_of_its_own(stored):
    found = {"bias": [stored("discovery/bias-0")]}
    (small,) = discovery.default_search(found, stored("discovery_regret"))
    assert "adversarial-distance 1.0 ± 0.3 → low-confidence" in str(small)
    curves = found["bias"][0]["curves"]
    curves["twin-trees"] = {"errors": [7.0] * 50, "sdr": [99.0] * 50}
    large, _ = discovery.default_search(found, stored("discovery_regret"))
    assert "bias, the networks above" in str(large)
    assert str(large).endswith("twin-trees 7.0.")
    assert discovery.default_search(found, [])[0] == large


@pytest.mark.parametrize(("precision", "held"), [(0.5, "agrees"), (0.9, "differs"), (0.8, "open")])
def test_overconfidence_is_judged_over_the_rows_predicted(precision, held):
    model = {"images": 1_000, "precision": precision, "expected_error": 0.2}
    assert discovery_claims.overconfident({"bias": [model]}, "x").finding == held


@pytest.mark.parametrize(("errors", "becomes"), [(40, "agrees"), (15, "open"), (2, "differs")])
def test_the_early_file_is_judged_over_the_rows_asked(errors, becomes, stored, changed, told):
    found = stored("authors_archives")
    found["discovery"]["scaled"]["errors of 50"]["adversarial distance"] = errors
    section = discovery.section(changed(authors_archives=found))
    row = told(section, "Fig. 4, cats and dogs, scaled")
    assert (row.finding, row.setting) == (becomes, "ours")
