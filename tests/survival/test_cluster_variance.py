"""Clustered intervals: exact for a linear model, and valid in simulation."""

import numpy as np
import pandas as pd
import pytest

from fireassay import survival
from fireassay.core.errors import AssumptionWarning
from fireassay.survival.cluster_variance import cluster_variance


def linear_parts(seed=0, n_clusters=8, per=5):
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), per)
    X = np.column_stack([np.ones(len(cluster)), rng.normal(size=(len(cluster), 2))])
    y = rng.normal(size=len(cluster)) + rng.normal(size=n_clusters)[cluster]
    residual = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
    scores = np.array([X[cluster == g].T @ residual[cluster == g] for g in range(n_clusters)])
    information = np.array([X[cluster == g].T @ X[cluster == g] for g in range(n_clusters)])
    return X, y, cluster, residual, scores, information


def test_cr3_of_least_squares_is_the_jackknife():
    X, y, cluster, _, scores, information = linear_parts()
    robust = cluster_variance(X.T @ X, scores, information, correction="cr3")
    beta = np.linalg.lstsq(X, y, rcond=None)[0]
    left_out = np.array(
        [np.linalg.lstsq(X[cluster != g], y[cluster != g], rcond=None)[0] for g in range(8)]
    )
    expected = (left_out - beta).T @ (left_out - beta)
    np.testing.assert_allclose(robust.covariance, expected, rtol=1e-8)


@pytest.mark.slow
def test_cr2_of_least_squares_is_unbiased_for_independent_rows():
    rng = np.random.default_rng(1)
    X, _, cluster, _, _, information = linear_parts()
    hat = np.eye(len(X)) - X @ np.linalg.inv(X.T @ X) @ X.T
    found = []
    for _ in range(2000):
        residual = hat @ rng.normal(size=len(X))
        scores = np.array([X[cluster == g].T @ residual[cluster == g] for g in range(8)])
        found.append(cluster_variance(X.T @ X, scores, information, correction="cr2").covariance)
    np.testing.assert_allclose(np.mean(found, axis=0), np.linalg.inv(X.T @ X), rtol=0.07, atol=3e-3)


def test_degrees_of_freedom_of_two_equal_groups_are_those_of_a_t_test():
    n_clusters, per = 10, 4
    cluster = np.repeat(np.arange(n_clusters), per)
    X = np.column_stack([np.ones(len(cluster)), cluster % 2])
    information = np.array([X[cluster == g].T @ X[cluster == g] for g in range(n_clusters)])
    robust = cluster_variance(X.T @ X, np.zeros((n_clusters, 2)), information, correction="cr2")
    assert robust.degrees_of_freedom(np.array([0.0, 1.0])) == pytest.approx(n_clusters - 2)


def test_every_row_a_cluster_of_its_own_gives_nearly_the_naive_error():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=1500), "row": np.arange(1500)})
    frame["duration"] = np.exp(0.5 * frame["x"]) * rng.weibull(1.4, 1500)
    frame["event"] = 1
    table = survival.fit(frame, "weibull", ["x"], cluster="row").coefficients
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
            with pytest.warns(AssumptionWarning, match="clusters"):
                fit = survival.fit(frame, "lognormal", ["treated"], cluster="model_id")
        else:
            fit = survival.fit(frame, "lognormal", ["treated"], cluster="model_id")
        row = fit.coefficients.loc["treated"]
        covered.append(row["low"] <= 0.4 <= row["high"])
        naive.append(abs(row["coef"] - 0.4) <= 1.96 * row["se"])
    # 300 simulations of a coverage of .95 fall below .92 once in two hundred times.
    assert np.mean(covered) >= 0.92
    assert np.mean(naive) < 0.6


@pytest.mark.slow
def test_clustered_log_rank_and_rmst_keep_their_level():
    rng = np.random.default_rng(3)
    rejected, covered, plain = [], [], []
    for _ in range(200):
        model = np.repeat(np.arange(12), 25)
        time = np.exp(0.5 * rng.normal(size=12)[model] + 0.5 * rng.normal(size=300))
        frame = pd.DataFrame({"duration": time, "event": 1, "model_id": model, "arm": model % 2})
        rejected.append(
            survival.log_rank(frame, "arm", cluster="model_id", n_permutations=99).p < 0.05
        )
        plain.append(survival.log_rank(frame, "arm").p < 0.05)
        table = survival.rmst(frame, by="arm", horizon=1.0, cluster="model_id").frame()
        covered.append(table["difference_low"].iloc[1] <= 0 <= table["difference_high"].iloc[1])
    assert np.mean(rejected) <= 0.09
    assert np.mean(plain) > 0.3
    assert np.mean(covered) >= 0.91


@pytest.mark.slow
def test_log_rank_keeps_its_level_where_one_model_alone_is_in_both_groups():
    # The hardest design of studies/survival_log_rank.py: scores of clusters alone reject .09.
    rng = np.random.default_rng(4)
    rejected = []
    model = np.repeat(np.arange(8), 16)
    arm = np.where(model == 0, np.arange(128) % 2, model % 2)
    for _ in range(300):
        time = np.ceil(5 * np.exp(0.8 * rng.normal(size=8)[model]) * rng.exponential(size=128))
        frame = pd.DataFrame({"duration": time, "event": 1, "model_id": model, "arm": arm})
        rejected.append(survival.log_rank(frame, "arm", cluster="model_id").p <= 0.05)
    # 300 tests at .05 reject more than .08 once in a hundred times.
    assert np.mean(rejected) <= 0.08
