"""Coefficients and likelihoods against lifelines, closed forms and themselves."""

import numpy as np
import pandas as pd
import pytest

from fireassay import survival

THREE = ("weibull", "lognormal", "loglogistic")


@pytest.mark.parametrize("family", THREE)
def test_right_censored_fit_is_that_of_lifelines(lung, oracle, family):
    theirs = oracle["lung"][family]
    fit = survival.fit(lung, family, ["age", "sex", "karno"])
    for name, value in theirs["coef"].items():
        assert fit.coefficients.at[name, "coef"] == pytest.approx(value, abs=1e-3, rel=1e-3)
        assert fit.coefficients.at[name, "se"] == pytest.approx(theirs["se"][name], rel=2e-2)
    assert np.log(float(fit.scale)) == pytest.approx(theirs["log_scale"], abs=1e-3)
    assert fit.log_likelihood >= theirs["log_likelihood"] - 1e-6
    assert fit.log_likelihood == pytest.approx(theirs["log_likelihood"], abs=1e-2)
    assert fit.aic == pytest.approx(theirs["aic"], abs=2e-2)
    assert fit.concordance == pytest.approx(theirs["concordance"], abs=2e-3)


@pytest.mark.parametrize("family", THREE)
def test_interval_censored_fit_is_that_of_lifelines(diabetes, oracle, family):
    theirs = oracle["diabetes"][family]
    fit = survival.fit(diabetes, family, ["male"])
    for name, value in theirs["coef"].items():
        assert fit.coefficients.at[name, "coef"] == pytest.approx(value, abs=1e-3)
        assert fit.coefficients.at[name, "se"] == pytest.approx(theirs["se"][name], rel=1e-2)
    assert np.log(float(fit.scale)) == pytest.approx(theirs["log_scale"], abs=1e-3)
    assert fit.log_likelihood >= theirs["log_likelihood"] - 1e-6


def test_generalised_gamma_is_that_of_lifelines(lung, oracle):
    theirs = oracle["lung"]["gengamma"]
    fit = survival.fit(lung, "gengamma")
    assert fit.coefficients.at["Intercept", "coef"] == pytest.approx(theirs["mu"], abs=2e-3)
    assert float(fit.shape) == pytest.approx(theirs["shape"], abs=1e-2)
    assert fit.log_likelihood >= theirs["log_likelihood"] - 1e-6


def test_bic_counts_every_parameter(lung):
    fit = survival.fit(lung, "weibull", ["age", "sex", "karno"])
    # Intercept, three slopes and the scale.
    assert fit.n_parameters == 5
    assert fit.bic == pytest.approx(-2 * fit.log_likelihood + 5 * np.log(len(lung)))


def test_left_censoring_uses_the_known_end():
    # S(u) for an exponential with all rows failed before u or censored at u has a closed form.
    frame = pd.DataFrame({"lower": [0.0] * 30 + [2.0] * 70, "upper": [2.0] * 30 + [np.inf] * 70})
    fit = survival.fit(frame, "exponential")
    rate = -np.log(0.7) / 2.0
    assert fit.coefficients.at["Intercept", "coef"] == pytest.approx(-np.log(rate), rel=1e-6)


def test_ridge_pulls_slopes_but_not_the_intercept_to_zero(lung):
    free = survival.fit(lung, "weibull", ["age", "sex", "karno"])
    tight = survival.fit(lung, "weibull", ["age", "sex", "karno"], ridge=1e5)
    slopes = tight.coefficients["coef"].drop("Intercept")
    assert (slopes.abs() < 1e-3 * free.coefficients["coef"].drop("Intercept").abs().max()).all()
    alone = survival.fit(lung, "weibull")
    assert tight.coefficients.at["Intercept", "coef"] == pytest.approx(
        alone.coefficients.at["Intercept", "coef"], abs=5e-3
    )
    assert tight.log_likelihood == pytest.approx(alone.log_likelihood, abs=0.1)


@pytest.mark.parametrize("family", ["exponential", *THREE, "gengamma"])
def test_units_of_time_and_covariates_do_not_matter(lung, family):
    fit = survival.fit(lung, family, ["age", "sex"])
    other = lung.assign(duration=lung["duration"] / 7.0, age=lung["age"] * 12.0 + 5.0)
    same = survival.fit(other, family, ["age", "sex"])
    assert same.coefficients.at["age", "coef"] * 12 == pytest.approx(
        fit.coefficients.at["age", "coef"], rel=1e-4, abs=1e-7
    )
    np.testing.assert_allclose(
        same.expected_time(other.head(3)) * 7.0, fit.expected_time(lung.head(3)), rtol=1e-4
    )


def test_level_against_reference_equals_the_dummy_made_by_hand(lung):
    text = lung.assign(who=np.where(lung["sex"] == 2, "woman", "man"))
    by_text = survival.fit(text, "weibull", ["who"])
    by_hand = survival.fit(lung.assign(woman=(lung["sex"] == 2) * 1), "weibull", ["woman"])
    assert by_text.coefficients.at["who[woman]", "coef"] == pytest.approx(
        by_hand.coefficients.at["woman", "coef"], rel=1e-6
    )
    turned = survival.fit(text, "weibull", ["who"], reference={"who": "woman"})
    assert turned.coefficients.at["who[man]", "coef"] == pytest.approx(
        -by_hand.coefficients.at["woman", "coef"], rel=1e-6
    )


def test_signs_are_labelled_for_both_kinds_of_model(lung):
    aft = survival.fit(lung, "weibull", ["sex"])
    cox = survival.fit(lung, "cox", ["sex"])
    assert aft.coefficients.at["sex", "coef"] > 0 > cox.coefficients.at["sex", "coef"]
    assert aft.coefficients.at["sex", "effect"] == "longer"
    assert cox.coefficients.at["sex", "effect"] == "longer"


def test_a_saved_fit_predicts_the_same(lung, tmp_path):
    fit = survival.fit(lung, "gengamma", ["age", "sex"])
    again = type(fit).load(fit.save(tmp_path / "fit.npz"))
    np.testing.assert_array_equal(again.survival(lung, [100]), fit.survival(lung, [100]))
    assert again.concordance == fit.concordance
