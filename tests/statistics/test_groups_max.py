"""Shares of rows that come in groups: limits that are known, and coverage in simulated worlds."""

import numpy as np
import pytest
from scipy.stats import binom

from fireassay.statistics import clopper_pearson, share
from fireassay.statistics.groups.group_counts import GroupCounts, intraclass_correlation
from fireassay.statistics.groups.groups_max import groups_max_upper


def world(rng, sizes, p, correlation):
    """Counts of groups whose rates are beta distributed: mean p, the given correlation."""
    sizes = np.asarray(sizes)
    if correlation == 0:
        return GroupCounts(rng.binomial(sizes, p), sizes)
    s = 1 / correlation - 1
    return GroupCounts(rng.binomial(sizes, rng.beta(p * s, (1 - p) * s, len(sizes))), sizes)


WORLDS = {
    "40 x 25, correlation .1": (lambda rng: [25] * 40, 0.08, 0.1),
    "40 x 25, correlation .3": (lambda rng: [25] * 40, 0.08, 0.3),
    "40 x 25, correlation .9": (lambda rng: [25] * 40, 0.08, 0.9),
    "100 x 10, correlation .3": (lambda rng: [10] * 100, 0.08, 0.3),
    "20 x 50, correlation .1": (lambda rng: [50] * 20, 0.08, 0.1),
    "sizes 1 to 60, correlation .2": (lambda rng: rng.integers(1, 61, 40), 0.08, 0.2),
    "three giants": (lambda rng: [300] * 3 + [5] * 40, 0.08, 0.2),
    "p = .01": (lambda rng: [25] * 40, 0.01, 0.1),
}


@pytest.mark.parametrize(("k", "n"), [(0, 40), (7, 100), (99, 100), (100, 100)])
def test_one_row_per_group_is_the_exact_interval(k, n):
    hit = np.arange(n) < k
    found = share(hit, groups=np.arange(n))
    assert (found.low, found.high) == pytest.approx(clopper_pearson(k, n))
    by_max = groups_max_upper(GroupCounts.of(hit, np.arange(n)), 0.025)
    assert by_max == pytest.approx(found.high, rel=0.006)


def test_the_answer_does_not_depend_on_the_order_of_rows_or_on_names():
    rng = np.random.default_rng(0)
    hit, groups = rng.random(200) < 0.2, np.repeat(np.arange(20), 10)
    order = rng.permutation(200)
    renamed = np.array([f"patient {99 - g}" for g in groups])
    assert share(hit, groups=groups) == share(hit[order], groups=renamed[order])


def test_groups_half_right_are_not_counted_as_wholly_wrong():
    counts = world(np.random.default_rng(3), [10] * 200, 0.5, 0.3)
    assert groups_max_upper(counts, 0.025) < 0.62  # .95 once: every group with an error counted


def test_copies_of_one_row_count_once():
    counts = GroupCounts(np.array([25] * 4 + [0] * 36), np.full(40, 25))
    assert intraclass_correlation(counts) == pytest.approx(1.0)
    # Forty rows, four of them wrong: the exact bound of these, and not of a thousand.
    assert groups_max_upper(counts, 0.025) >= clopper_pearson(4, 40)[1] * 0.95


def test_ungrouped_rows_lose_at_most_a_tenth():
    rng = np.random.default_rng(1)
    bounds = [groups_max_upper(world(rng, [25] * 40, 0.08, 0), 0.025) for _ in range(100)]
    rng = np.random.default_rng(1)
    rows = [world(rng, [25] * 40, 0.08, 0).hits.sum() for _ in range(100)]
    plain = clopper_pearson(np.array(rows), 1000, 0.975, "upper")[1]
    assert np.mean(bounds) <= 1.1 * np.mean(plain)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", WORLDS)
def test_misses_stay_within_chance(name):
    sizes, p, correlation = WORLDS[name]
    rng = np.random.default_rng(list(WORLDS).index(name))
    runs = 1000
    missed = sum(
        groups_max_upper(world(rng, sizes(rng), p, correlation), 0.025) < p for _ in range(runs)
    )
    assert missed <= binom.ppf(0.999, runs, 0.025)


@pytest.mark.parametrize("size", [2, 3])
def test_pairs_are_not_counted_as_single_rows(size):
    """Two rows of a pair fill it by chance: the bound must not jump to one row per pair."""
    rng, wide, best, missed, worlds = np.random.default_rng(size), 0.0, 0.0, 0, 60
    for _ in range(worlds):
        rates = rng.beta(0.08 * 7 / 3, 0.92 * 7 / 3, 300)
        hit = rng.random((300, size)) < rates[:, None]
        counts = GroupCounts.of(hit.ravel(), np.repeat(np.arange(300), size))
        upper = groups_max_upper(counts, 0.025)
        n = 300 * size / (1 + (size - 1) * 0.3)
        wide += upper - 0.08
        best += float(clopper_pearson(hit.mean() * n, n, 0.975, "upper")[1]) - 0.08
        missed += upper < 0.08
    assert missed <= 6  # binom.ppf(.999, 60, .025)
    assert wide < 1.3 * best
