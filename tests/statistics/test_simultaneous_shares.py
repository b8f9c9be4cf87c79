"""Shares of many sets at once, and the mean of costs: exact where they say so."""

import numpy as np
import pytest
from scipy import stats

from fireassay.core import DataError
from fireassay.statistics import cheapest_threshold, mean_cost, simultaneous_shares

SLICES, WORLDS = 20, 2000


def test_each_interval_is_the_exact_one_at_its_share_of_the_error():
    rng = np.random.default_rng(0)
    members = np.eye(4, dtype=bool)[rng.integers(0, 3, 300)]  # the fourth set is empty
    hit = rng.random(300) < 0.2
    found = simultaneous_shares(hit, members, 0.9)
    for i in range(3):
        hits, n = int(hit[members[:, i]].sum()), int(members[:, i].sum())
        exact = stats.binomtest(hits, n).proportion_ci(1 - 0.1 / 3, method="exact")
        assert (found[i].low, found[i].high) == pytest.approx((exact.low, exact.high), rel=1e-9)
        assert found[i].method == "Clopper-Pearson, simultaneous over 3"
        assert found[i].confidence == 0.9
    assert np.isnan(found[3].value)
    upper = simultaneous_shares(hit, members, 0.9, "upper")
    exact = stats.binomtest(
        int(hit[members[:, 0]].sum()), int(members[:, 0].sum()), alternative="less"
    )
    assert upper[0].high == pytest.approx(exact.proportion_ci(1 - 0.1 / 3).high, rel=1e-9)


@pytest.mark.parametrize("bad", [[[2, 0]], [0, 1]])
def test_memberships_are_yes_or_no(bad):
    with pytest.raises(DataError, match="members"):
        simultaneous_shares([1], bad)


@pytest.mark.slow
def test_with_groups_all_at_once_miss_no_more_than_promised():
    rng, missed = np.random.default_rng(5), 0
    for _ in range(300):
        rates = rng.beta(0.08 * 2.33, 0.92 * 2.33, (4, 25))  # correlation .3 within 25 groups
        hit = rng.random((4, 25, 8)) < rates[:, :, None]
        members = np.repeat(np.eye(4, dtype=bool), 200, axis=0)
        found = simultaneous_shares(hit.ravel(), members, groups=np.repeat(np.arange(100), 8))
        missed += any(not e.low <= 0.08 <= e.high for e in found)
    assert missed <= stats.binom.ppf(0.999, 300, 0.05)


def worlds_of_costs(rng, n):
    """A rare costly mistake beside a frequent cheap one."""
    kind = rng.choice(3, n, p=[0.89, 0.1, 0.01])
    return np.array([0.0, 1.0, 50.0])[kind], 0.1 + 0.5


def test_the_mean_cost_is_covered_where_the_normal_interval_is_not():
    rng, missed, normal = np.random.default_rng(2), 0, 0
    for _ in range(400):
        costs, truth = worlds_of_costs(rng, 150)
        found = mean_cost(costs, (0, 50))
        missed += not found.low <= truth <= found.high
        half = 1.96 * costs.std(ddof=1) / np.sqrt(150)
        normal += not costs.mean() - half <= truth <= costs.mean() + half
    assert missed <= stats.binom.ppf(0.999, 400, 0.05)
    assert normal > stats.binom.ppf(0.999, 400, 0.05)


def test_the_order_of_the_file_does_not_decide():
    costs = np.array([0.0] * 95 + [50.0] * 5)
    found = mean_cost(costs, (0, 50), seed=3)
    again = mean_cost(costs[::-1], (0, 50), seed=3)
    assert found.value == again.value
    assert found.low < 2.5 < found.high < 10
    with pytest.raises(DataError, match="bounds"):
        mean_cost(costs, (0, 10), groups=np.arange(100))


def test_groups_make_the_interval_of_the_cost_wider():
    rng, missed, wider = np.random.default_rng(4), 0, []
    for _ in range(150):
        rates = rng.beta(0.3, 2.7, 40)
        costs = 10.0 * (rng.random((40, 15)) < rates[:, None]).ravel()
        groups = np.repeat(np.arange(40), 15)
        found = mean_cost(costs, (0, 10), groups=groups)
        missed += not found.low <= 1.0 <= found.high
        plain = mean_cost(costs, (0, 10))
        wider.append((found.high - found.low) / (plain.high - plain.low))
    assert missed <= stats.binom.ppf(0.999, 150, 0.05)
    assert np.mean(wider) > 1.3


def test_the_cheapest_threshold_is_the_brute_force_one():
    rng = np.random.default_rng(1)
    for _ in range(20):
        p = rng.integers(0, 11, 40) / 10
        above, below = rng.integers(0, 3, 40), rng.integers(0, 3, 40)
        found = cheapest_threshold(p, above, below)
        cost = np.where(p >= found, above, below).sum()
        tried = [np.where(p >= t, above, below).sum() for t in np.linspace(0.001, 0.999, 400)]
        assert cost == min(tried)


def test_for_true_probabilities_it_is_the_ratio_of_the_costs():
    rng = np.random.default_rng(8)
    p = rng.random(20_000)
    sick = rng.random(20_000) < p
    found = cheapest_threshold(p, np.where(sick, 0, 1), np.where(sick, 9, 0))
    assert found == pytest.approx(1 / 10, abs=0.03)
