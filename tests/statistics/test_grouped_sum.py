"""Mean recalls and mean costs of groups: neither too short nor several times too wide."""

import numpy as np
import pytest
from scipy.stats import binom

from fireassay.assessment.class_recalls import class_recalls
from fireassay.assessment.halves import random_half, whole_groups
from fireassay.statistics import grouped_share, mean_cost
from fireassay.statistics.grouped_sum import grouped_sum


def test_one_share_is_at_least_its_own_interval():
    rng = np.random.default_rng(0)
    hit, who = rng.random(200) < 0.1, np.repeat(np.arange(20), 10)
    alone = grouped_share(hit, who)[0]
    value, low, high = grouped_sum([3.0], [hit], [np.ones(200, dtype=bool)], who, 0.95)
    assert value == pytest.approx(3 * alone.value)
    assert low <= 3 * alone.low + 1e-12
    assert high >= 3 * alone.high - 1e-12


def test_signs_turn_the_ends_around():
    rng = np.random.default_rng(1)
    hit, who = rng.random(200) < 0.1, np.repeat(np.arange(20), 10)
    rows = [np.ones(200, dtype=bool)]
    value, low, high = grouped_sum([2.0], [hit], rows, who, 0.95)
    assert grouped_sum([-2.0], [hit], rows, who, 0.95) == pytest.approx((-value, -high, -low))


def test_a_group_that_has_a_whole_class_leaves_nothing_known():
    hit, who = np.array([1, 0, 1, 0], dtype=bool), np.array([0, 0, 1, 1])
    only = np.array([1, 1, 0, 0], dtype=bool)
    assert grouped_sum([1.0], [hit], [only], who, 0.95)[1:] == (-np.inf, np.inf)
    found = class_recalls(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0]), range(2), 0.95, who)
    assert (found.balanced.low, found.balanced.high) == (0.0, 1.0)


def test_a_cost_that_did_not_occur_is_still_possible():
    who = np.repeat(np.arange(40), 5)
    found = mean_cost(np.zeros(200), (0, 50), groups=who)
    assert found.value == 0
    assert 50 * grouped_share(np.zeros(200), who)[0].high <= found.high + 1e-9


@pytest.mark.slow
def test_grouped_costs_and_recalls_cover_and_are_not_far_too_wide():
    worlds, missed, wide = 100, np.zeros(2), np.zeros(2)
    for seed in range(worlds):
        rng = np.random.default_rng(seed)
        who = np.repeat(np.arange(60), 10)
        wrong = rng.random(600) < rng.beta(0.05 * 4, 0.95 * 4, 60)[who]
        cost = mean_cost(wrong * np.where(rng.random(600) < 0.2, 5.0, 1.0), (0, 5), groups=who)
        labels = who % 2
        recall = class_recalls(labels, np.where(wrong, 1 - labels, labels), range(2), 0.95, who)
        truths, found = (0.05 * 1.8, 0.95), (cost, recall.balanced)
        missed += [not e.low <= t <= e.high for e, t in zip(found, truths, strict=True)]
        wide += [e.high - e.low for e in found]
    assert (missed <= binom.ppf(0.999, worlds, 0.05)).all()
    spread = np.sqrt(0.05 * 0.95 * (1 + 9 * 0.2) / 600)
    assert wide[1] / worlds < 1.6 * 2 * 1.96 * spread  # the mean of simultaneous ends was 2.2
    assert wide[0] / worlds < 2.0 * 2 * 1.96 * spread * 2.4  # root mean square cost 2.4


@pytest.mark.parametrize("seed", range(5))
def test_no_group_is_on_both_sides(seed):
    rng = np.random.default_rng(seed)
    who = rng.integers(0, 12, 100)
    first = random_half(100, who, seed, "a test")
    assert not set(who[first]) & set(who[~first])
    assert 20 < first.sum() < 80
    order, count = whole_groups(rng.permutation(100), who, 30)
    assert sorted(order) == list(range(100))
    assert not set(who[order[:count]]) & set(who[order[count:]])
    assert random_half(100, None, seed, "a test").sum() == 50


def test_the_value_counts_every_part_also_where_one_group_has_all_rows_of_one():
    right = np.array([1, 0, 1, 1, 0, 1], dtype=bool)
    first, second = np.arange(6) < 2, np.arange(6) >= 2
    value, low, high = grouped_sum(
        [0.5, 0.5], [right, right], [first, second], [0, 0, 1, 1, 2, 2], 0.95
    )
    assert value == pytest.approx(0.5 * 0.5 + 0.5 * 0.75)
    assert (low, high) == (-np.inf, np.inf)
