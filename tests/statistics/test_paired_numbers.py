"""Paired differences: what is known exactly, and coverage in worlds with a known truth."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, ttest_rel

from fireassay.statistics import (
    paired_auc_difference,
    paired_difference,
    paired_mean_difference,
)

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from paired_worlds import ROWS


def test_no_row_differs():
    found = paired_difference([1] * 90 + [0] * 10, [1] * 90 + [0] * 10)
    assert (found.value, -found.low) == (0, found.high)
    assert (1 - found.high) ** 100 == pytest.approx(0.05)  # a larger share would have been seen


def test_means_are_students():
    rng = np.random.default_rng(0)
    a, b = rng.exponential(size=(2, 30))
    low, high = ttest_rel(b, a).confidence_interval(0.95)
    found = paired_mean_difference(a, b)
    assert (found.low, found.high) == pytest.approx((low, high))
    alone = paired_mean_difference(a, b, groups=np.arange(30))
    assert (alone.low, alone.high) == pytest.approx((low, high))
    twice = paired_mean_difference(
        np.repeat(a, 2), np.repeat(b, 2), groups=np.repeat(np.arange(30), 2)
    )
    assert (twice.low, twice.high) == pytest.approx((low, high))


def test_the_same_order_has_the_same_auc():
    scores = np.random.default_rng(1).normal(size=40)
    found = paired_auc_difference(scores, np.exp(scores), np.arange(40) < 15)
    assert (found.low, found.value, found.high) == (0, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=[f"{r[0]}: {r[1]}" for r in ROWS])
def test_the_change_is_covered(row):
    rng, runs = np.random.default_rng(2), 120 if "groups" in row[0] else 400
    found = np.array([row[2](rng) for _ in range(runs)])
    misses = ((found[:, 2] < found[:, 0]) | (found[:, 2] > found[:, 1])).sum()
    assert misses <= binom.ppf(0.999, runs, 0.05)
