"""Clustered intervals: exact for a linear model, and valid in simulation."""

import numpy as np
import pandas as pd
import pytest

from fireassay import survival
from fireassay.core.errors import AssumptionWarning
from fireassay.survival.fit_numbers import group_variance


def linear_parts(seed=0, n_groups=8, per=5):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), per)
    X = np.column_stack([np.ones(len(group)), rng.normal(size=(len(group), 2))])
    y = rng.normal(size=len(group)) + rng.normal(size=n_groups)[group]
    residual = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
    scores = np.array([X[group == g].T @ residual[group == g] for g in range(n_groups)])
    information = np.array([X[group == g].T @ X[group == g] for g in range(n_groups)])
    return X, y, group, residual, scores, information


def test_cr3_of_least_squares_is_the_jackknife():
    X, y, group, _, scores, information = linear_parts()
    robust = group_variance(X.T @ X, scores, information, correction="cr3")
    beta = np.linalg.lstsq(X, y, rcond=None)[0]
    left_out = np.array(
        [np.linalg.lstsq(X[group != g], y[group != g], rcond=None)[0] for g in range(8)]
    )
    expected = (left_out - beta).T @ (left_out - beta)
    np.testing.assert_allclose(robust.covariance, expected, rtol=1e-8)


@pytest.mark.slow
def test_cr2_of_least_squares_is_unbiased_for_independent_rows():
    rng = np.random.default_rng(1)
    X, _, group, _, _, information = linear_parts()
    hat = np.eye(len(X)) - X @ np.linalg.inv(X.T @ X) @ X.T
    found = []
    for _ in range(2000):
        residual = hat @ rng.normal(size=len(X))
        scores = np.array([X[group == g].T @ residual[group == g] for g in range(8)])
        found.append(group_variance(X.T @ X, scores, information, correction="cr2").covariance)
    np.testing.assert_allclose(np.mean(found, axis=0), np.linalg.inv(X.T @ X), rtol=0.07, atol=3e-3)


def test_degrees_of_freedom_of_two_equal_groups_are_those_of_a_t_test():
    n_groups, per = 10, 4
    group = np.repeat(np.arange(n_groups), per)
    X = np.column_stack([np.ones(len(group)), group % 2])
    information = np.array([X[group == g].T @ X[group == g] for g in range(n_groups)])
    robust = group_variance(X.T @ X, np.zeros((n_groups, 2)), information, correction="cr2")
    assert robust.degrees_of_freedom(np.array([0.0, 1.0])) == pytest.approx(n_groups - 2)


def test_every_row_a_cluster_of_its_own_gives_nearly_the_naive_error():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=1500), "row": np.arange(1500)})
    frame["duration"] = np.exp(0.5 * frame["x"]) * rng.weibull(1.4, 1500)
    frame["event"] = 1
    table = survival.fit(frame, "weibull", ["x"], groups="row").coefficients
    assert table.at["x", "cluster_se"] == pytest.approx(table.at["x", "se"], rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("n_models", [6, 12])
def test_intervals_cover_between_few_models_and_naive_ones_do_not(n_models):
    rng = np.random.default_rng(n_models)
    covered, naive = [], []
    for _ in range(300):
        model = np.repeat(np.arange(n_models), 30)
        treated = model % 2
        shift = 0.5 * rng.normal(size=n_models)[model]
        time = np.exp(1.0 + 0.4 * treated + shift + 0.6 * rng.normal(size=len(model)))
        frame = pd.DataFrame({"treated": treated, "model_id": model})
        frame["lower"] = np.minimum(np.floor(time * 2) / 2, 12.0)
        frame["upper"] = np.where(time > 12.0, np.inf, frame["lower"] + 0.5)
        if n_models < 10:
            with pytest.warns(AssumptionWarning, match="groups"):
                fit = survival.fit(frame, "lognormal", ["treated"], groups="model_id")
        else:
            fit = survival.fit(frame, "lognormal", ["treated"], groups="model_id")
        row = fit.coefficients.loc["treated"]
        covered.append(row["low"] <= 0.4 <= row["high"])
        naive.append(abs(row["coef"] - 0.4) <= 1.96 * row["se"])
    # 300 simulations of a coverage of .95 fall below .92 once in two hundred times.
    assert np.mean(covered) >= 0.92
    assert np.mean(naive) < 0.6


@pytest.mark.slow
def test_grouped_log_rank_and_rmst_keep_their_level():
    rng = np.random.default_rng(3)
    rejected, covered, plain = [], [], []
    for _ in range(200):
        model = np.repeat(np.arange(12), 25)
        time = np.exp(0.5 * rng.normal(size=12)[model] + 0.5 * rng.normal(size=300))
        frame = pd.DataFrame({"duration": time, "event": 1, "model_id": model, "arm": model % 2})
        rejected.append(
            survival.log_rank(frame, "arm", groups="model_id", n_permutations=99).p < 0.05
        )
        plain.append(survival.log_rank(frame, "arm").p < 0.05)
        table = survival.rmst(frame, by="arm", horizon=1.0, groups="model_id").frame()
        covered.append(table["difference_low"].iloc[1] <= 0 <= table["difference_high"].iloc[1])
    assert np.mean(rejected) <= 0.09
    assert np.mean(plain) > 0.3
    assert np.mean(covered) >= 0.91


@pytest.mark.slow
def test_log_rank_keeps_its_level_where_one_model_alone_is_in_both_groups():
    # The hardest design of studies/survival_log_rank.py: scores of groups alone reject .09.
    rng = np.random.default_rng(4)
    rejected = []
    model = np.repeat(np.arange(8), 16)
    arm = np.where(model == 0, np.arange(128) % 2, model % 2)
    for _ in range(300):
        time = np.ceil(5 * np.exp(0.8 * rng.normal(size=8)[model]) * rng.exponential(size=128))
        frame = pd.DataFrame({"duration": time, "event": 1, "model_id": model, "arm": arm})
        rejected.append(survival.log_rank(frame, "arm", groups="model_id").p <= 0.05)
    # 300 tests at .05 reject more than .08 once in a hundred times.
    assert np.mean(rejected) <= 0.08


def test_twelve_null_covariates_rarely_give_a_claim():
    # With single intervals 1 - .95 ** 12 = 46 % of such campaigns claimed an effect.
    rng = np.random.default_rng(7)
    single = claimed = 0
    for _ in range(60):
        table = pd.DataFrame(rng.normal(size=(300, 12)), columns=[f"x{j}" for j in range(12)])
        names = list(table.columns)
        table = table.assign(duration=rng.exponential(size=300), event=1)
        effects = survival.fit(table, "weibull", names).coefficients.drop(index="Intercept")
        single += bool(((effects["low"] > 0) | (effects["high"] < 0)).any())
        clear = (effects["simultaneous_low"] > 0) | (effects["simultaneous_high"] < 0)
        claimed += bool(clear.any())
    assert single > 15
    assert claimed <= 60 * 0.05 + 3 * np.sqrt(60 * 0.05 * 0.95)


def test_simultaneous_intervals_see_a_real_effect():
    rng = np.random.default_rng(8)
    table = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    table["duration"] = np.exp(0.5 * table["a"]) * rng.exponential(size=300)
    found = survival.fit(table.assign(event=1), "weibull", list("abcde"))
    assert [c.text for c in found.evidence().claims] == ["a: longer survival"]
