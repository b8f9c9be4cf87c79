"""The bound for groups against closed forms, and its edges."""

import numpy as np
import pytest
from scipy.stats import binom

from fireassay.core.errors import DataError
from fireassay.statistics.groups.group_bound import (
    effective_groups,
    group_lower,
    group_mean,
    group_upper,
    groups_needed,
    log_capital,
)

ALPHA = 0.025


@pytest.mark.parametrize("groups", [5, 40, 72, 368, 5_000])
def test_without_an_error_it_is_the_lowest_that_any_bound_can_be(groups):
    found = group_upper([0] * groups, [7] * groups, ALPHA)
    assert found == pytest.approx(1 - ALPHA ** (1 / groups), rel=1e-9)


def test_groups_needed_is_where_a_limit_can_first_be_kept():
    for limit in (0.05, 0.01, 0.3):
        needed = groups_needed(limit)
        assert group_upper([0] * needed, [3] * needed, ALPHA) <= limit
        assert group_upper([0] * (needed - 1), [3] * (needed - 1), ALPHA) > limit


def test_the_capital_rises_with_the_mean_so_no_scan_is_needed():
    rng = np.random.default_rng(0)
    for _ in range(50):
        sizes = rng.integers(1, 30, 60)
        hits = rng.binomial(sizes, rng.beta(0.2, 1.0, 60))
        means = np.linspace(0.001, 0.999, 300)
        cap = sizes.max()
        capital = [log_capital(m, hits / cap, (sizes - hits) / cap, ALPHA, 60) for m in means]
        assert (np.diff(capital) >= -1e-9).all()


def test_lower_and_upper_mirror_each_other_and_order_does_not_matter():
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 20, 80)
    hits = rng.binomial(sizes, 0.2)
    mixed = rng.permutation(80)
    upper = group_upper(hits, sizes, ALPHA)
    assert group_upper(hits[mixed], sizes[mixed], ALPHA) == pytest.approx(upper, abs=1e-12)
    assert group_lower(sizes - hits, sizes, ALPHA) == pytest.approx(1 - upper, abs=1e-12)
    # Differences in [-1, 1] are shares on another scale.
    difference = group_upper(2 * hits - sizes, sizes, ALPHA, lowest=-1.0)
    assert difference == pytest.approx(2 * upper - 1, abs=1e-12)


def test_edges():
    assert group_upper([5, 5], [5, 5], ALPHA) == 1.0
    assert group_lower([0, 0], [5, 5], ALPHA) == 0.0
    assert 0.97 < group_upper([0], [5], ALPHA) < 1.0
    assert group_upper([0, 0, 0], [5, 0, 5], ALPHA) == group_upper([0, 0], [5, 5], ALPHA)
    many = np.tile([0.25, 0.5], 3_000)
    assert 0.375 < group_upper(many, np.ones(6_000), ALPHA) < 0.4
    giants = group_upper([0] * 43, [10] * 40 + [300] * 3, ALPHA)
    assert giants > 0.5
    assert effective_groups([10] * 40 + [300] * 3) == pytest.approx(1_300 / 300)
    with pytest.raises(DataError, match="declared 4"):
        group_upper([0], [5], ALPHA, largest_group=4)
    with pytest.raises(DataError, match="bounds"):
        group_mean([0.0, 2.0], ["a", "b"])
    with pytest.raises(DataError, match="sum of each group"):
        group_upper([6.0], [5.0], ALPHA)


def test_costs_have_bounds_of_their_own():
    cost = np.array([0.0, 0.0, 50.0, 1.0] * 50)
    patient = np.arange(200) // 2
    found = group_mean(cost, patient, highest=50.0)
    share = group_mean(cost / 50.0, patient)
    assert (found.low, found.high) == pytest.approx((50 * share.low, 50 * share.high))


def test_one_row_per_group_is_never_shorter_than_the_exact_interval():
    from scipy.stats import beta

    for k, n in ((0, 50), (3, 50), (20, 200)):
        upper = group_upper([1] * k + [0] * (n - k), [1] * n, ALPHA)
        assert upper >= beta.ppf(1 - ALPHA, k + 1, n - k) - 1e-9


def test_it_misses_no_more_than_it_says_where_sizes_go_with_rates():
    rng = np.random.default_rng(2)
    bad = rng.random((1_000, 40)) < 0.1
    sizes = np.where(bad, 30, 3)
    hits = rng.binomial(sizes, np.where(bad, 0.6, 0.02))
    truth = (0.1 * 30 * 0.6 + 0.9 * 3 * 0.02) / (0.1 * 30 + 0.9 * 3)
    missed = sum(group_upper(k, m, ALPHA, 30) < truth for k, m in zip(hits, sizes, strict=True))
    assert missed <= binom.ppf(0.9999, 1_000, ALPHA)
