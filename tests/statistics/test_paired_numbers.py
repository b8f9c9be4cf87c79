"""Paired differences: what is known exactly, and coverage in worlds with a known truth."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, ttest_rel

from fireassay.statistics import (
    expected_calibration_error,
    paired_auc_difference,
    paired_calibration_difference,
    paired_difference,
    paired_mean_difference,
    paired_ratio_difference,
    share,
)

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from paired_worlds import ROWS


def test_no_row_differs():
    found = paired_difference([1] * 90 + [0] * 10, [1] * 90 + [0] * 10)
    assert (found.value, -found.low) == (0, found.high)
    assert (1 - found.high) ** 100 == pytest.approx(0.025)  # a larger share would have been seen


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
@pytest.mark.parametrize("row", ROWS, ids=[f"{row.method}: {row.setting}" for row in ROWS])
def test_the_change_is_covered(row):
    rng, runs = np.random.default_rng(2), 120 if "groups" in row.method else 300
    misses = sum(row.world(rng)[0] for _ in range(runs))
    assert misses <= binom.ppf(0.999, runs, 0.05)


def test_precisions_of_the_same_answers_differ_by_what_could_have_been_seen():
    said, right = np.arange(100) < 40, np.arange(100) % 10 > 0
    found = paired_ratio_difference((right, said), (right, said))
    assert (found.value, -found.low) == (0, found.high)
    assert (1 - found.high) ** 40 == pytest.approx(0.025)


def test_pairing_makes_precision_sharper_than_two_samples():
    rng = np.random.default_rng(3)
    sick = rng.random(2000) < 0.4
    first = sick ^ (rng.random(2000) < 0.1)
    second = np.where(rng.random(2000) < 0.05, sick, first)
    found = paired_ratio_difference((sick, first), (sick, second))
    apart = [share(int((sick & s).sum()), int(s.sum())) for s in (first, second)]
    assert found.value == pytest.approx(apart[1].value - apart[0].value)
    assert found.high - found.low < 0.7 * np.hypot(*(e.high - e.low for e in apart))
    whole = paired_ratio_difference((sick, first), (sick, second), groups=np.arange(2000))
    assert whole.high - whole.low == pytest.approx(found.high - found.low, rel=0.1)


def test_few_groups_make_a_calibration_difference_uncertain():
    right = np.arange(400) % 5 > 0
    first, second = (np.full(400, 0.95), right), (np.full(400, 0.8), right)
    wide = {
        many: paired_calibration_difference(first, second, groups=np.arange(400) % many)
        for many in (1, 3, 200)
    }
    assert (wide[1].low, wide[1].high) == (-1.0, 1.0)
    spans = {many: found.high - found.low for many, found in wide.items()}
    assert spans[3] > 1.4 * spans[200]


def test_calibration_errors_are_paired():
    rng = np.random.default_rng(4)
    right = rng.random(1000) < 0.8
    same = (np.full(1000, 0.9), right)
    none = paired_calibration_difference(same, same)
    assert (none.low, none.value, none.high) == (0, 0, 0)
    found = paired_calibration_difference((np.full(1000, 0.95), right), same)
    assert found.value == pytest.approx(-0.05)
    alone = expected_calibration_error(np.tile([0.9, 0.1], (1000, 1)), (~right).astype(int))
    # The same answers: what is left of the noise is far below that of one model alone.
    assert found.high - found.low < 0.1 * (alone.high - alone.low)
    who = np.repeat(np.arange(20), 50)
    other = (np.full(1000, 0.95), rng.random(1000) < np.repeat(rng.beta(8, 2, 20), 50))
    rows, groups = (paired_calibration_difference(same, other, groups=g) for g in (None, who))
    assert groups.high - groups.low > rows.high - rows.low
