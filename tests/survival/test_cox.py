"""Cox's model against lifelines and against the data it was made from."""

import numpy as np
import pandas as pd
import pytest

from fireassay import survival


def test_coefficients_and_scores_are_those_of_lifelines(lung, oracle):
    theirs = oracle["lung"]["cox"]
    fit = survival.fit(lung, "cox", ["age", "sex", "karno"])
    for name, value in theirs["coef"].items():
        assert fit.coefficients.at[name, "coef"] == pytest.approx(value, rel=1e-5)
        assert fit.coefficients.at[name, "se"] == pytest.approx(theirs["se"][name], rel=1e-5)
    assert fit.log_likelihood == pytest.approx(theirs["log_likelihood"], rel=1e-8)
    assert fit.concordance == pytest.approx(theirs["concordance"], abs=1e-6)
    found = fit.survival(lung.head(5), [300])[:, 0]
    np.testing.assert_allclose(found, theirs["survival_300"], atol=5e-3)


def test_plain_sandwich_is_that_of_lifelines(lung, oracle):
    rows = lung.assign(group=np.arange(len(lung)) % 20)
    fit = survival.fit(rows, "cox", ["age", "sex", "karno"], "group", correction="cr0")
    for name, value in oracle["lung"]["cox"]["cluster_se"].items():
        assert fit.coefficients.at[name, "cluster_se"] == pytest.approx(value, rel=0.02)


@pytest.mark.extras
def test_efron_ties_are_those_of_statsmodels():
    duration = pytest.importorskip("statsmodels.duration.hazard_regression")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    time = np.ceil(5 * rng.exponential(np.exp(-X @ [0.5, -0.3])))
    event = rng.random(120) < 0.7
    theirs = duration.PHReg(time, X, status=event, ties="efron").fit(disp=0)
    frame = pd.DataFrame({"duration": time, "event": event * 1, "a": X[:, 0], "b": X[:, 1]})
    ours = survival.fit(frame, "cox", ["a", "b"]).coefficients
    np.testing.assert_allclose(ours["coef"], theirs.params, rtol=1e-5)
    np.testing.assert_allclose(ours["se"], theirs.bse, rtol=1e-4)


def test_changing_effects_are_seen_and_constant_ones_are_not():
    rng = np.random.default_rng(2)
    x = np.repeat([0, 1], 400)
    same = rng.weibull(1.5, 800) * np.exp(-0.5 * x)
    crossing = np.where(x == 1, rng.weibull(0.5, 800), rng.weibull(3.0, 800))
    p = {}
    for name, time in (("same", same), ("crossing", crossing)):
        frame = pd.DataFrame({"duration": time, "event": 1, "x": x})
        p[name] = survival.fit(frame, "cox", ["x"]).proportionality.at["x", "p"]
    assert p["crossing"] < 1e-6 < 0.01 < p["same"]


def test_cox_does_not_extrapolate(lung):
    fit = survival.fit(lung, "cox", ["sex"])
    with pytest.raises(ValueError, match="latest observed time"):
        fit.expected_time(lung, horizon=np.inf)
    assert (fit.expected_time(lung) < lung["duration"].max()).all()
