"""Survival: claims follow the archived table and the campaign."""

import pytest

from fireassay.papers.pages import survival


@pytest.mark.parametrize(
    ("claim", "name", "coefficient", "becomes"),
    [
        ("Deeper models", "model_layers", [0.006, 0.0002], "agrees"),
        ("Deeper models", "model_layers", [-0.006, 0.0002], "differs"),
        ("Fig. 3", "model_layers", [0.0001, 0.0002], "differs"),
        ("Fig. 3", "model_layers", [0.006, 0.0002], "agrees"),
        ("… which is driven", "model_layers", [0.0, 0.0002], "agrees"),
        ("… which is driven", "model_layers", [0.006, 0.0002], "open"),
        ("More epochs raise the failure rate.", "Epochs", [0.01, 0.001], "differs"),
        ("More accuracy", "accuracy", [-0.1, 0.01], "agrees"),
        ("Training time", "train_time", [1e-9, 1e-6], "agrees"),
        ("Training time", "train_time", [1e-3, 1e-6], "open"),
    ],
)
def test_claims_of_survival_follow_the_pooled_fits(
    claim, name, coefficient, becomes, stored, changed, told
):
    found = stored("authors_archives")
    found["survival"]["fits"]["weibull"][name] = coefficient
    verdict = told(survival.section(changed(authors_archives=found)), claim)
    assert (verdict.finding, verdict.setting) == (becomes, "theirs")


def test_noise_that_shortens_survival_in_every_family_agrees(stored, changed, told):
    found = stored("authors_archives")
    assert "4 of 4 families" in told(survival.section(stored), "Noise on the output (").because
    for family, fit in found["survival"]["fits"].items():
        fit["Def: Gauss-out"] = [1.0 if family == "cox" else -1.0, 0.01]
    section = survival.section(changed(authors_archives=found))
    assert told(section, "Noise on the output (").finding == "agrees"


def test_table_one_is_held_against_the_repository(stored, changed, told):
    found = stored("authors_archives")
    assert "0.20, printed 0.02" in told(survival.section(stored), "Table I, all").because
    for row in found["survival"]["scores"].values():
        row["BIC"] = None if row["BIC"] is None else row["BIC"] + 9
    section = survival.section(changed(authors_archives=found))
    assert told(section, "Table I, BIC").finding == "agrees"
    assert told(survival.section(stored), "Table I, BIC").finding == "differs"


def test_a_piecewise_exponential_is_not_nested(stored):
    steps = " ".join(survival.section(stored).ladders[0].steps)
    assert "piecewise with 2 rates" in steps


def test_cheap_attacks_everywhere_break_every_model(stored, changed, told):
    found = stored("survival_archive")
    for row in found["cost"]:
        row |= {"ratio": 5.0, "low": 4.0, "high": 6.0}
    section = survival.section(changed(survival_archive=found))
    assert told(section, "Every configuration").finding == "agrees"
    assert told(survival.section(stored), "Every configuration").finding == "differs"
    assert told(section, "Every configuration").setting == "ours"


def test_a_defence_that_helps_on_clean_inputs_is_seen(stored):
    found = stored("survival_cifar10")
    claims = {claim.text: claim.verdict for claim in survival.campaign_claims(found)}
    assert claims["… in accuracy on clean inputs either."].finding == "agrees"
    assert claims["Noise on the output does worse than no defence."].finding == "differs"
    at = found["accuracy"]["columns"].index("benign_accuracy_low")
    for row in found["accuracy"]["data"]:  # one of each attack
        if "fsq" in row:
            row[at] = 0.9
    assert survival.clean(found["accuracy"], "").finding == "differs"


@pytest.mark.parametrize(("low", "becomes"), [(-0.0146, "open"), (-0.0090, "differs")])
def test_one_of_many_effects_is_judged_with_all_of_them(low, becomes, stored, changed, told):
    found = stored("survival_archive")
    row = found["effects"]["layers"]
    row |= {"low": low, "high": 2 * row["coef"] - low}
    verdict = told(survival.section(changed(survival_archive=found)), "Fig. 3, 961 rows")
    assert (verdict.finding, verdict.setting) == (becomes, "ours")


def test_sentences_on_table_one_are_held_against_it(stored, changed, told):
    section = survival.section(stored)
    assert told(section, "Log-logistic and exponential").finding == "differs"
    assert told(section, "Concordance is identical").finding == "differs"
    assert told(section, "ICI and E50").finding == "agrees"
    found = stored("survival_archive")
    found["printed"]["weibull"] |= {"aic": 2e5, "test_ici": 0.2}
    found["printed"]["gengamma"]["test_concordance"] = 0.51
    section = survival.section(changed(survival_archive=found))
    assert told(section, "Log-logistic and exponential").finding == "agrees"
    assert told(section, "Concordance is identical").finding == "agrees"
    assert told(section, "ICI and E50").finding == "differs"


def test_a_defence_that_helps_in_every_fit_would_be_seen(stored, changed, told):
    name = "No defence consistently"
    verdict = told(survival.section(stored), name)
    assert (verdict.finding, verdict.setting) == ("agrees", "theirs")
    assert told(survival.section(stored), name, here=True).finding == "differs"
    found = stored("authors_archives")
    for family, fit in found["survival"]["fits"].items():
        fit["Def: Conf"] = [-2.0 if family == "cox" else 2.0, 0.01]
    assert told(survival.section(changed(authors_archives=found)), name).finding == "differs"
