"""Tests of dependence: levels in worlds without any, and what they find where there is some."""

import numpy as np
import pytest
from scipy.stats import binom

from fireassay.statistics import intraclass_test
from fireassay.statistics.groups.group_counts import GroupCounts

LEVEL = 0.05


def counts(rng, sizes, rates):
    return GroupCounts(rng.binomial(sizes, rates), np.asarray(sizes))


@pytest.mark.slow
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
