"""Intervals for whatever was chosen because it looked best."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from fireassay.statistics import delong, simultaneous_aucs, worse_than_best
from fireassay.statistics.simultaneous import largest_z


def test_independent_statistics_have_the_sidak_quantile():
    expected = norm.ppf((1 + 0.95 ** (1 / 20)) / 2)
    assert largest_z(np.eye(20), 0.95) == pytest.approx(expected, abs=0.03)
    # Twenty copies of one statistic are one statistic.
    assert largest_z(np.ones((20, 20)), 0.95) == pytest.approx(1.96, abs=0.03)


def test_statistics_without_variance_are_left_out():
    assert largest_z(np.zeros((3, 3)), 0.95) == 0.0


def many_scores(rng, m=12, n=150, shift=1.0):
    """Scores of equal quality that share most of their noise."""
    positive = np.arange(n) < n // 3
    common = rng.standard_normal(n) * 0.7
    return common + rng.standard_normal((m, n)) * 0.7 + shift * positive, positive


@pytest.mark.slow
def test_the_best_of_twelve_keeps_its_interval_and_nothing_equal_is_called_worse():
    rng = np.random.default_rng(0)
    truth = norm.cdf(1.0 / np.sqrt(2 * (0.49 + 0.49)))
    runs, missed, called = 120, 0, 0
    for _ in range(runs):
        scores, positive = many_scores(rng)
        found = simultaneous_aucs(scores, positive)
        best = max(found, key=lambda estimate: estimate.value)
        missed += not best.low <= truth <= best.high
        called += any(worse_than_best(*delong(scores, positive)))
    assert missed <= binom.ppf(0.999, runs, 0.05)
    assert called <= binom.ppf(0.999, runs, 0.05)


def test_a_clearly_worse_score_is_called_worse():
    rng = np.random.default_rng(1)
    scores, positive = many_scores(rng, m=3, n=400, shift=2.0)
    scores[1] = rng.standard_normal(400)
    assert worse_than_best(*delong(scores, positive)) == [False, True, False]


def test_perfect_separation_is_not_certainty():
    scores = np.arange(20.0)[None, :].repeat(2, axis=0)
    found = simultaneous_aucs(scores, np.arange(20) >= 10)
    assert all(estimate.value == 1.0 and estimate.low < 0.9 for estimate in found)
