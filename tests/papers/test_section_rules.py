"""Rules of single claims, each fed with what must make it come out one way or the other."""

from pathlib import Path

import numpy as np
import pytest

from fireassay.papers.sections import ambiguity, discovery, supervision, survival
from fireassay.papers.sections.section import Claim, Results, Row, Section
from fireassay.papers.verdicts import near
from fireassay.statistics.clopper_pearson import clopper_pearson

ROOT = Path(__file__).resolve().parents[2]
STORED = Results(ROOT / "studies" / "results", ROOT / "benchmarks" / "results")


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
    model = {"one_shot": {"adversarial-distance": one}, "precision": 0.8}
    found = {"bias": [model]}
    assert discovery.finds_more(found, "x").because.startswith(rate)
    assert discovery.more_than_random(found, "x").because.startswith(random)


def test_claims_on_the_biased_classifier_and_on_random_search_follow_the_curves():
    def model(errors, weld):
        curves = {"adversarial-distance": 3.0, "bansal-weld": weld, "random": 1.0}
        return {
            "curves": {name: {"sdr": [value] * 50} for name, value in curves.items()},
            "one_shot": {
                "adversarial-distance": {"errors": errors, "asked": 50, "expected": 10.0}
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


def test_facility_location_cannot_lead():
    found = {kind: [STORED(f"discovery/{kind}-0")] for kind in discovery.KINDS}
    for models in found.values():
        models[0]["curves"]["facility-location"]["sdr"] = [99.0] * 50
        models[0]["curves"]["adversarial-distance"]["sdr"] = [9.0] * 50
    assert discovery.leads(found, "sdr", ("adversarial-distance",), "").word == "reproduced"


def test_a_defence_that_helps_on_clean_inputs_is_seen():
    found = STORED("survival_cifar10")
    claims = {claim.text: claim.verdict for claim in survival.campaign_claims(found)}
    assert claims["… in accuracy on clean inputs either."].because.startswith("holds")
    assert "does not hold" in str(claims["Noise on the output does worse than no defence."])
    at = found["accuracy"]["columns"].index("benign_accuracy_low")
    for row in found["accuracy"]["data"]:  # one of each attack
        if "fsq" in row:
            row[at] = 0.9
    assert survival.clean(found["accuracy"], "").word == "refuted"


def test_a_difference_that_many_rows_share_is_told_once():
    section = discovery.section(STORED)
    lines = section.markdown(ROOT / "docs")
    assert sum(section.settings[0] in line for line in lines) == 1
    assert sum("; setting A" in line for line in lines) > 10


@pytest.mark.parametrize(("top1", "held"), [(0.5, "holds"), (0.9, "does not hold"), (0.7, "open")])
def test_more_ambiguous_than_the_baseline_is_judged_by_its_intervals(top1, held):
    parts = []
    for run in range(5):
        for made, numbers in (
            ("mnist", {"top1": top1, "top2": 0.99, "entropy": 1.2}),
            (ambiguity.BASELINE, {"top1": 0.7, "top2": 0.9, "entropy": 0.9}),
        ):
            shaken = {
                name: value + 0.01 * ((run + len(made)) % 3) for name, value in numbers.items()
            }
            parts.append(
                {"made": made, "training": "mixed", "model": "MLP", "run": run, made: shaken}
            )
    assert ambiguity.beats_baseline(parts, "").because.startswith(held)


@pytest.mark.parametrize(
    ("precision", "held"), [(0.5, "holds"), (0.9, "does not hold"), (0.8, "open")]
)
def test_overconfidence_is_judged_over_the_rows_predicted(precision, held):
    model = {"images": 1_000, "precision": precision, "expected_error": 0.2}
    assert discovery.overconfident({"bias": [model]}, "x").because.startswith(held)


@pytest.mark.parametrize(
    ("worst", "word"), [(0.7, "reproduced"), (0.9, "refuted"), (0.79, "not decided")]
)
def test_a_supervisor_that_may_be_good_at_everything_leaves_it_open(worst, word):
    cells = {(data, "dsa", kind): (0.95, 0.93, 0.97)
             for data in supervision.TITLES for kind in supervision.KINDS}  # fmt: skip
    cells["mnist", "dsa", "ambiguous"] = (worst, worst - 0.02, worst + 0.02)
    assert supervision.nobody_alone(cells, "").word == word


def test_a_row_like_the_one_above_does_not_repeat_what_it_shows(tmp_path):
    rows = [Row(f"Table {i}", shows, "studies/one.py", "1", "1", near(1, 1, 0.1, (1, 1)))
            for i, shows in enumerate(("AUROC", "AUROC", "entropy"))]  # fmt: skip
    lines = [line for line in Section("One", rows, []).markdown(tmp_path) if "Table" in line]
    assert ["AUROC" in line for line in lines] == [True, False, False]
    assert ["studies/one.py" in line for line in lines] == [True, False, True]
    assert "| Table 1 | ″ | ″ |" in lines[1]


def test_another_number_in_another_setting_is_not_called_open():
    claim = Claim("…", near(0.98, 0.49, 0.05, (0.97, 0.99), "our own autoencoder"), {})
    assert claim.belief.startswith("Another number in our setting")
