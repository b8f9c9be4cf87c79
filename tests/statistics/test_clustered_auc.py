"""The clustered AUC against brute force, DeLong, and simulated patients."""

import numpy as np
import pytest
from scipy.special import stdtrit

from fireassay.core import DataError
from fireassay.statistics import delong, mann_whitney_auc
from fireassay.statistics.clustered_auc import clustered_auc


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
    for _ in range(20):
        scores, positive, cluster = draw(rng)
        left = np.array(
            [brute_force(scores[cluster != c], positive[cluster != c]) for c in range(8)]
        )
        error = np.sqrt(7 / 8 * ((left - left.mean()) ** 2).sum())
        found = clustered_auc(scores, positive, cluster)
        assert found.auc == pytest.approx(brute_force(scores, positive))
        high = found.auc - stdtrit(7, 0.025) * error
        assert found.high == pytest.approx(min(1.0, high))


def test_every_row_its_own_cluster_is_close_to_delong():
    rng = np.random.default_rng(1)
    scores, positive = rng.normal(size=400), rng.random(400) < 0.5
    scores = scores + 0.7 * positive
    found = clustered_auc(scores, positive, np.arange(400))
    _, covariance = delong(scores, positive)
    half = -stdtrit(399, 0.025) * np.sqrt(covariance[0, 0])
    assert found.high - found.auc == pytest.approx(half, rel=0.02)
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
