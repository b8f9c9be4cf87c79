"""Against R 4.2.2 with survival 3.5-3 (oracles/make_r.R has the calls, r.json what R said)."""

import json
from pathlib import Path

import numpy as np
import pytest

from fireassay import survival

NAMES = {"(Intercept)": "Intercept", "ecog.ps": "ecog_ps", "ph.karno": "karno"}
LUNG = ["age", "sex", "karno"]


@pytest.fixture(scope="module")
def r():
    return json.loads((Path(__file__).parent / "oracles" / "r.json").read_text())


@pytest.fixture
def tables(lung, ovarian, diabetes):
    return {"lung": lung, "ovarian": ovarian, "diabetes": diabetes}


@pytest.mark.parametrize(
    ("name", "covariates", "families"),
    [
        # survreg(Surv(futime, fustat) ~ ecog.ps + rx, ovarian, dist = …)
        ("ovarian", ["ecog_ps", "rx"], ["exponential", "weibull", "lognormal", "loglogistic"]),
        # survreg(Surv(time, status) ~ age + sex + ph.karno, lung, dist = …)
        ("lung", LUNG, ["exponential", "weibull", "lognormal", "loglogistic"]),
        # survreg(Surv(lower, upper, type = "interval2") ~ male, diabetes, dist = …)
        ("diabetes", ["male"], ["weibull", "lognormal", "loglogistic"]),
    ],
)
def test_parametric_fits_are_those_of_survreg(r, tables, name, covariates, families):
    for family in families:
        theirs = r[name][family]
        fit = survival.fit(tables[name], family, covariates, min_events_per_covariate=6)
        for their_name, value in theirs["coef"].items():
            row = fit.coefficients.loc[NAMES.get(their_name, their_name)]
            assert row["coef"] == pytest.approx(value, rel=1e-6, abs=1e-7)
            assert row["se"] == pytest.approx(theirs["se"][their_name], rel=1e-6)
        assert float(fit.scale) == pytest.approx(theirs["scale"], rel=1e-6)
        assert fit.log_likelihood == pytest.approx(theirs["log_likelihood"], rel=1e-9)


@pytest.mark.parametrize("name", ["ovarian", "lung"])
def test_generalised_gamma_is_where_rs_optim_ends(r, tables, name):
    theirs = r["gengamma"][name]
    fit = survival.fit(tables[name], "gengamma")
    assert fit.coefficients.at["Intercept", "coef"] == pytest.approx(theirs["mu"], abs=2e-5)
    assert float(fit.scale) == pytest.approx(theirs["sigma"], rel=2e-5)
    assert float(fit.shape) == pytest.approx(theirs["shape"], abs=5e-5)
    assert fit.log_likelihood == pytest.approx(theirs["log_likelihood"], rel=1e-9)
    assert fit.log_likelihood >= theirs["log_likelihood"] - 1e-7


def test_plain_sandwich_is_that_of_survreg_and_coxph(r, lung):
    # survreg(… + cluster(g)), coxph(…, cluster = g) with g = (row - 1) %% 20
    rows = lung.assign(g=np.arange(len(lung)) % 20)
    for family, theirs in (("weibull", r["cluster_se"]), ("cox", r["cox"]["cluster_se"])):
        fit = survival.fit(rows, family, LUNG, "g", correction="cr0")
        for name, value in theirs.items():
            found = fit.coefficients.at[NAMES.get(name, name), "cluster_se"]
            assert found == pytest.approx(value, rel=1e-3)


def test_cox_is_that_of_coxph(r, lung):
    # coxph(Surv(time, status) ~ age + sex + ph.karno, lung), Efron's ties; concordance(fit)
    theirs = r["cox"]
    fit = survival.fit(lung, "cox", LUNG)
    drift = fit.proportionality["chi_square"]
    assert drift["all together"] == pytest.approx(theirs["proportionality"]["GLOBAL"], rel=1e-6)
    for name, value in theirs["coef"].items():
        row = fit.coefficients.loc[NAMES.get(name, name)]
        assert row["coef"] == pytest.approx(value, rel=1e-6)
        assert row["se"] == pytest.approx(theirs["se"][name], rel=1e-6)
        # cox.zph(fit, transform = "rank")
        found = drift[NAMES.get(name, name)]
        assert found == pytest.approx(theirs["proportionality"][name], rel=1e-6)
    assert fit.log_likelihood == pytest.approx(theirs["log_likelihood"], rel=1e-9)
    assert fit.concordance == pytest.approx(theirs["concordance"], abs=1e-9)


def test_curve_band_and_restricted_mean_are_those_of_survfit(r, lung):
    # survfit(Surv(time, status) ~ 1, lung, conf.type = "log-log"); summary(…, rmean = 500)
    theirs = r["curve"]
    curve = survival.kaplan_meier(lung)
    for k, time in enumerate(theirs["times"]):
        found = curve.at(time)
        expected = (theirs["survival"][k], theirs["low"][k], theirs["high"][k])
        assert (found.value, found.low, found.high) == pytest.approx(expected, abs=1e-9)
    assert curve.medians.at["all", "median"] == theirs["median"]
    mean = survival.rmst(lung, horizon=500).estimate()
    assert mean.value == pytest.approx(theirs["rmst_500"], rel=1e-9)
    by_sex = survival.rmst(lung, by="sex", horizon=500).frame()["rmst"]
    np.testing.assert_allclose(by_sex, theirs["rmst_500_by_sex"], rtol=1e-9)


def test_log_rank_is_that_of_survdiff(r, lung):
    # survdiff(Surv(time, status) ~ sex, lung), and ~ ph.karno (six groups)
    two = survival.log_rank(lung, "sex")
    assert two.statistic == pytest.approx(r["log_rank"]["sex"], rel=1e-9)
    np.testing.assert_allclose(two.table["expected"], r["log_rank"]["sex_expected"], rtol=1e-9)
    many = survival.log_rank(lung, "karno")
    assert many.statistic == pytest.approx(r["log_rank"]["karno"], rel=1e-9)
