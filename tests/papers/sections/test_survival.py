"""Survival: claims follow the archived table and the campaign."""

import pytest

from fireassay.papers.sections import survival


@pytest.mark.parametrize(
    ("claim", "change", "becomes"),
    [
        ("More epochs", {"effects__epochs__low": 0.001, "effects__epochs__high": 0.002}, "refuted"),
        ("More epochs", {"effects__epochs__low": -0.2, "effects__epochs__high": -0.1},
         "reproduced"),
        ("More accuracy", {"effects__accuracy__low": 0.1, "effects__accuracy__high": 0.2},
         "refuted"),
        ("Deeper models", {"without_query_time__layers__low": -0.2,
                           "without_query_time__layers__high": -0.1}, "refuted"),
        ("… because", {"effects__layers__low": 0.1, "effects__layers__high": 0.2}, "refuted"),
        ("Training time", {"effects__train_time__low": -1.0}, "reproduced"),
        ("Training time", {}, "refuted"),
        ("Every model is broken:", {}, "refuted"),
        ("Table I, AIC", {}, "refuted"),
    ],
)  # fmt: skip
def test_claims_of_survival_follow_the_archive(claim, change, becomes, stored, changed, told):
    found = stored("survival_archive")
    for path, value in change.items():
        part, name, end = path.split("__")
        found[part][name][end] = value
    section = survival.section(changed(survival_archive=found))
    assert told(section, claim).word == becomes


def test_a_table_that_maximum_likelihood_allows_is_not_refuted(stored, changed, told):
    found = stored("survival_archive")
    for row in found["printed"].values():
        row["aic"] = row["bic"] = None
    section = survival.section(changed(survival_archive=found))
    assert told(section, "Table I, AIC").word == "reproduced"


def test_cheap_attacks_everywhere_break_every_model(stored, changed, told):
    found = stored("survival_archive")
    for row in found["cost"]:
        row |= {"ratio": 5.0, "low": 4.0, "high": 6.0}
    found["unchanged"] = 0
    section = survival.section(changed(survival_archive=found))
    for claim in ("Every model is broken:", "… at least", "What is counted"):
        assert told(section, claim).word == "reproduced"


def test_a_defence_that_helps_on_clean_inputs_is_seen(stored):
    found = stored("survival_cifar10")
    claims = {claim.text: claim.verdict for claim in survival.campaign_claims(found)}
    assert claims["… in accuracy on clean inputs either."].because.startswith("holds")
    assert "does not hold" in str(claims["Noise on the output does worse than no defence."])
    at = found["accuracy"]["columns"].index("benign_accuracy_low")
    for row in found["accuracy"]["data"]:  # one of each attack
        if "fsq" in row:
            row[at] = 0.9
    assert survival.clean(found["accuracy"], "").word == "refuted"
