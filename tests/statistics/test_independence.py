"""Tests of dependence: levels in worlds without any, and what they find where there is some."""

import numpy as np
import pytest
from scipy.stats import binom

from fireassay.statistics import intraclass_test, near_duplicates, size_rate_test
from fireassay.statistics.grouped_share import GroupCounts

LEVEL = 0.05


def counts(rng, sizes, rates):
    return GroupCounts(rng.binomial(sizes, rates), np.asarray(sizes))


def test_intraclass_test_keeps_its_level_and_finds_correlation():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 30, 30)
    null = [intraclass_test(counts(rng, sizes, 0.1), i)[1] <= LEVEL for i in range(300)]
    assert sum(null) <= binom.ppf(0.999, 300, LEVEL)
    assert sum(null) >= binom.ppf(0.001, 300, LEVEL)
    rates = rng.beta(0.1 * 4, 0.9 * 4, 30)  # correlation 0.2
    correlation, p = intraclass_test(counts(rng, sizes, rates))
    assert p < 0.01
    assert correlation > 0.05
    assert intraclass_test(GroupCounts(np.zeros(3, int), np.full(3, 4))) == (0.0, 1.0)


@pytest.mark.parametrize("p", [0.02, 0.08])
def test_sizes_and_rates_that_are_unrelated_are_not_called_related(p):
    rng = np.random.default_rng(1)
    s = 1 / 0.2 - 1
    rejected = 0
    for _ in range(500):
        sizes = rng.integers(1, 61, 40)
        rates = rng.beta(p * s, (1 - p) * s, 40)
        rejected += size_rate_test(counts(rng, sizes, rates))[1] <= LEVEL
    assert rejected <= binom.ppf(0.999, 500, LEVEL)


def test_large_groups_with_more_hits_are_found():
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(100):
        sizes = rng.integers(1, 61, 40)
        found += size_rate_test(counts(rng, sizes, np.where(sizes > 30, 0.24, 0.03)))[1] <= LEVEL
    assert found > 90


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_are_only_alike_are_no_near_duplicates(seed):
    rng = np.random.default_rng(seed)
    correlated = rng.normal(size=(400, 8)) @ rng.normal(size=(8, 8))
    angle = rng.uniform(0, 7, 800)  # a surface in three dimensions
    roll = np.column_stack([angle * np.cos(angle), rng.uniform(0, 9, 800), angle * np.sin(angle)])
    few_values = rng.integers(0, 3, (500, 3))
    for rows in (correlated, roll, few_values):
        assert not near_duplicates(rows).many
    burst = np.repeat(correlated[:40], 10, axis=0) + rng.normal(0, 1e-4, (400, 8))
    assert near_duplicates(burst).many
    assert not near_duplicates(burst, groups=np.repeat(np.arange(40), 10)).many


def test_rows_of_very_many_columns_are_compared_by_mixtures():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 20, 20)).astype(np.float32)
    assert near_duplicates(rows).count == 0
    repeated = np.concatenate([rows, rows[:30] + 1e-3 * rng.normal(size=(30, 20, 20))])
    found = near_duplicates(repeated)
    assert (found.count, found.looked_at, found.many) == (60, 230, True)


def test_one_wide_row_over_and_over_repeats_itself():
    assert near_duplicates(np.ones((50, 400))).many
