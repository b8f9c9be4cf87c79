"""Simulations with a known truth: intervals contain it, tests reject a true null rarely.

A simulation fails only when it misses more often than an exact method would in 999 of 1,000 runs.
"""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

import fireassay.statistics as st

pytestmark = [pytest.mark.slow, pytest.mark.long]
ALPHA = 0.05


def proportion(function, n, p, **options):
    def experiment(rng):
        truth = rng.random() if p is None else p
        return *function(int(rng.binomial(n, truth)), n, **options), truth

    return experiment


def garwood(rng):
    return *st.poisson_interval(int(rng.poisson(12.0))), 12.0


def hoeffding_bentkus(rng):
    return 0.0, st.hoeffding_bentkus_upper((rng.random(80) < 0.1).mean(), 80, 1 - ALPHA), 0.1


def betting(draw, truth, alternative):
    return lambda rng: (*st.betting_interval(draw(rng), alternative=alternative), truth)


def betting_at_all_times(draw, truth):
    def experiment(rng):
        low, high = st.betting_sequence(draw(rng))
        return low.max(), high.min(), truth

    return experiment


def bootstrap_of_rows(rng):
    found = st.bootstrap(np.mean, rng.normal(size=20), n_resamples=300, seed=seed(rng))
    return found.low, found.high, 0.0


def bootstrap_of_clusters(rng):
    clusters = np.repeat(np.arange(30), 4)
    values = rng.normal(size=30)[clusters] + rng.normal(size=120)
    found = st.bootstrap(np.mean, values, groups=clusters, n_resamples=300, seed=seed(rng))
    return found.low, found.high, 0.0


def auc(function, shift, n_positive, n_negative):
    positive = np.arange(n_positive + n_negative) < n_positive

    def experiment(rng):
        found = function(rng.normal(size=len(positive)) + shift * positive, positive)
        return found.low, found.high, float(ndtr(shift / np.sqrt(2)))

    return experiment


def calibration(n, share):
    def experiment(rng):
        stated = rng.uniform(0.5, 1.0, n)
        wrong = (rng.random(n) >= 0.5 + share * (stated - 0.5)).astype(int)
        table = np.column_stack([stated, 1 - stated])
        found = st.expected_calibration_error(table, wrong, seed=seed(rng))
        return found.low, found.high, (1 - share) / 4

    return experiment


def seed(rng):
    return int(rng.integers(2**31))


def rare(rng):
    return (rng.random(150) < 0.05).astype(float)


def skewed(rng):
    return rng.beta(0.5, 4.5, 150)


INTERVALS = {
    "clopper_pearson": (proportion(st.clopper_pearson, 60, 0.1), 10_000),
    "clopper_pearson upper": (
        proportion(st.clopper_pearson, 299, 0.01, alternative="upper"),
        10_000,
    ),
    "clopper_pearson lower": (proportion(st.clopper_pearson, 40, 0.8, alternative="lower"), 10_000),
    "wilson, on average over shares": (proportion(st.wilson, 50, None), 10_000),
    "poisson": (garwood, 10_000),
    "hoeffding_bentkus": (hoeffding_bentkus, 1200),
    "betting, rare": (betting(rare, 0.05, "two-sided"), 1500),
    "betting, skewed": (betting(skewed, 0.1, "two-sided"), 1000),
    "betting, rare, upper": (betting(rare, 0.05, "upper"), 2000),
    "betting, rare, lower": (betting(rare, 0.05, "lower"), 2000),
    "betting sequence, rare": (betting_at_all_times(rare, 0.05), 400),
    "betting sequence, skewed": (betting_at_all_times(skewed, 0.1), 400),
    "bootstrap": (bootstrap_of_rows, 600),
    "bootstrap of clusters": (bootstrap_of_clusters, 400),
    "mann_whitney_auc": (auc(st.mann_whitney_auc, 1.0, 25, 40), 1500),
    "delong": (auc(st.delong_interval, 1.0, 25, 40), 3000),
    "delong, few positives, near 1": (auc(st.delong_interval, 3.0, 10, 150), 3000),
    "calibration, calibrated": (calibration(300, 1.0), 800),
    "calibration, over-confident": (calibration(300, 0.5), 800),
}


@pytest.mark.filterwarnings("ignore::fireassay.core.errors.AssumptionWarning")
@pytest.mark.parametrize("name", INTERVALS)
def test_intervals_contain_the_truth(name):
    experiment, runs = INTERVALS[name]
    rng = np.random.default_rng(20_240_601)
    ends = (experiment(rng) for _ in range(runs))
    misses = sum(not low <= truth <= high for low, high, truth in ends)
    assert misses <= binom.ppf(0.999, runs, ALPHA)


def product(x, y):
    return float(x @ y)


def null_mann_whitney(rng):
    return st.mann_whitney_auc(rng.integers(0, 5, 50).astype(float), np.arange(50) < 20).p_value


def null_delong(rng):
    positive = np.arange(80) < 40
    signal = rng.normal(size=80) + positive
    return st.delong_test(signal + rng.normal(size=80), signal + rng.normal(size=80), positive)


def null_spearman(rng):
    return st.spearman(rng.normal(size=30), rng.integers(0, 6, 30))[1]


def null_permutation(rng):
    x, y = rng.exponential(size=15), rng.exponential(size=15)
    return st.permutation_test(product, x, y, 99, seed=seed(rng))


def null_groups(rng):
    groups = np.repeat(np.arange(12), [3, 5] * 6)
    x = rng.normal(size=12)[groups] + rng.normal(size=48)
    return st.permutation_test(
        product, x, rng.normal(size=12)[groups], 99, "greater", groups, seed(rng)
    )


NULLS = {
    "mann_whitney_auc": (null_mann_whitney, 1500),
    "delong_test": (null_delong, 3000),
    "spearman": (null_spearman, 3000),
    "permutation_test": (null_permutation, 1500),
    "permutation_test of groups": (null_groups, 1500),
}


@pytest.mark.parametrize("name", NULLS)
def test_tests_reject_a_true_null_rarely(name):
    experiment, runs = NULLS[name]
    rng = np.random.default_rng(20_240_602)
    rejections = sum(experiment(rng) <= ALPHA for _ in range(runs))
    assert rejections <= binom.ppf(0.999, runs, ALPHA)


def test_ignoring_clusters_is_caught_by_this_kind_of_simulation():
    """The check has power: rows resampled apart miss far more often than allowed."""
    rng = np.random.default_rng(0)
    misses = 0
    for _ in range(200):
        values = rng.normal(size=30)[np.repeat(np.arange(30), 4)] + rng.normal(size=120)
        found = st.bootstrap(np.mean, values, n_resamples=200, seed=seed(rng))
        misses += not found.low <= 0 <= found.high
    assert misses > binom.ppf(0.999, 200, ALPHA)
