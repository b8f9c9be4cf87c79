"""The clustered AUC against brute force, DeLong, and simulated patients."""

import numpy as np
import pytest
from scipy.special import logit, stdtrit
from scipy.stats import norm

from fireassay.core import DataError
from fireassay.statistics import delong, mann_whitney_auc
from fireassay.statistics.clustered_auc import clustered_auc, simultaneous_clustered_aucs


def brute_force(scores, positive):
    pairs = np.subtract.outer(scores[positive], scores[~positive])
    return float(((pairs > 0) + 0.5 * (pairs == 0)).mean())


def draw(rng, n_groups=8, most=12):
    cluster = np.repeat(np.arange(n_groups), rng.integers(1, most, size=n_groups))
    scores = np.round(rng.random(n_groups)[cluster] + rng.random(len(cluster)), 1)
    positive = rng.random(len(cluster)) < 0.6
    return scores, positive, cluster


def test_equals_the_jackknife_by_brute_force():
    rng = np.random.default_rng(0)
    checked = 0
    for _ in range(20):
        scores, positive, cluster = draw(rng, most=30)
        left = np.array(
            [brute_force(scores[cluster != c], positive[cluster != c]) for c in range(8)]
        )
        found = clustered_auc(scores, positive, cluster)
        auc = brute_force(scores, positive)
        assert found.auc == pytest.approx(auc)
        # Groups are mixed (or hold one class by chance): the error on the logit scale.
        error = np.sqrt(7 / 8 * ((logit(left) - logit(auc)) ** 2).sum())
        plain = np.sqrt(7 / 8 * ((left - auc) ** 2).sum()) / (auc * (1 - auc))
        kinds = [(np.any(positive[cluster == c]), np.all(positive[cluster == c])) for c in range(8)]
        if len(set(kinds)) == 1:
            reach = -stdtrit(7, 0.025) * max(error, plain)
            assert logit(found.high) == pytest.approx(logit(auc) + reach)
            checked += 1
    assert checked >= 3


def test_every_row_its_own_cluster_is_close_to_delong():
    rng = np.random.default_rng(1)
    scores, positive = rng.normal(size=400), rng.random(400) < 0.5
    scores = scores + 0.7 * positive
    found = clustered_auc(scores, positive, np.arange(400))
    _, covariance = delong(scores, positive)
    half = -stdtrit(399, 0.025) * np.sqrt(covariance[0, 0])
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.02)
    assert found.auc == pytest.approx(mann_whitney_auc(scores, positive).auc)


def test_copies_of_a_patient_add_nothing():
    rng = np.random.default_rng(2)
    scores, positive, cluster = draw(rng, 12)
    once = clustered_auc(scores, positive, cluster)
    often = clustered_auc(*(np.tile(a, 5) for a in (scores, positive, cluster)))
    assert often.p_value == pytest.approx(once.p_value, rel=1e-6)
    plain = mann_whitney_auc(np.tile(scores, 5), np.tile(positive, 5))
    assert plain.high - plain.low < often.high - often.low


def test_no_spread_is_no_evidence():
    # All positives in one cluster: leaving it out leaves no AUC.
    found = clustered_auc([1, 2, 3, 4], [1, 1, 0, 0], [0, 0, 1, 2])
    assert (found.p_value, found.low, found.high) == (1.0, 0.0, 1.0)
    with pytest.raises(DataError, match="at least three groups"):
        clustered_auc([1, 2, 3], [0, 1, 1], [0, 0, 1])


@pytest.mark.slow
@pytest.mark.parametrize(("n_groups", "size"), [(6, 40), (10, 30), (40, 10)])
def test_level_with_patients_of_unequal_size(n_groups, size):
    rng = np.random.default_rng(3)
    rejected = 0
    for _ in range(1000):
        cluster = np.repeat(
            np.arange(n_groups), rng.integers(size // 2, 3 * size // 2, size=n_groups)
        )
        scores = rng.random(n_groups)[cluster] + 0.5 * rng.random(len(cluster))
        right = np.clip(0.75 + 0.15 * rng.normal(size=n_groups), 0, 1)[cluster]
        positive = rng.random(len(cluster)) < right
        rejected += clustered_auc(scores, positive, cluster).p_value <= 0.05
    # 5 % and three binomial standard errors of 1,000 draws.
    assert rejected <= 71


def patients(rng, n_groups, auc, correlation=0.3, size=25):
    """Half of the patients are sick; their rows share a random shift."""
    cluster = np.repeat(np.arange(n_groups), size)
    positive = (np.arange(n_groups) % 2 == 0)[cluster]
    shift = np.sqrt(correlation) * rng.normal(size=n_groups)[cluster]
    noise = np.sqrt(1 - correlation) * rng.normal(size=len(cluster))
    return shift + noise + np.sqrt(2) * norm.ppf(auc) * positive, positive, cluster


def test_interval_near_one_covers_with_twelve_patients():
    # On the plain scale with t(11) it covered .75 here.
    rng = np.random.default_rng(1)
    found = [clustered_auc(*patients(rng, 12, 0.99)) for _ in range(300)]
    covered = np.mean([e.low <= 0.99 <= e.high for e in found])
    assert covered >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 300)


@pytest.mark.parametrize("n_groups", [4, 6])
def test_few_patients_keep_the_level(n_groups):
    # With one degree of freedom less than groups it rejected 9.5 % with four patients.
    rng = np.random.default_rng(1)
    rejected = np.mean(
        [clustered_auc(*patients(rng, n_groups, 0.5)).p_value < 0.05 for _ in range(400)]
    )
    assert rejected <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.slow
def test_best_of_many_scores_over_patients_keeps_its_interval():
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(100):
        base, positive, cluster = patients(rng, 20, 0.7)
        scores = np.stack([base + 0.5 * rng.normal(size=len(base)) for _ in range(15)])
        found = simultaneous_clustered_aucs(scores, positive, cluster)
        best = max(found, key=lambda e: e.value)
        truth = norm.cdf(norm.ppf(0.7) / np.sqrt(1.25))
        missed += not best.low <= truth <= best.high
        alone = clustered_auc(scores[0], positive, cluster)
        assert found[0].high - found[0].low >= 0.99 * (alone.high - alone.low)
    assert missed <= 5 + 3 * np.sqrt(100 * 0.05 * 0.95)
