import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fireassay.core import AssumptionWarning, DataError, ParameterError
from fireassay.statistics import (
    betting_interval,
    betting_sequence,
    clopper_pearson,
    hoeffding_bentkus_upper,
)


def rejected(values, mean, alpha, side, running):
    """The gambler's story told value by value: is ``mean`` ruled out after the last one?"""
    total, squares, wealth, richest = 0.5, 0.25, 1.0, 1.0
    for t, x in enumerate(values, start=1):
        variance = squares / t
        scale = t * math.log(t + 1) if running else len(values)
        bet = math.sqrt(2 * math.log(1 / alpha) / (variance * scale))
        if side == "low":
            wealth *= 1 + min(bet, 0.75 / mean) * (x - mean)
        else:
            wealth *= 1 - min(bet, 0.75 / (1 - mean)) * (x - mean)
        richest = max(richest, wealth)
        total += x
        squares += (x - total / (t + 1)) ** 2
    return richest >= 1 / alpha


@pytest.mark.parametrize("kind", ["rare", "even", "narrow"])
def test_ends_are_where_the_value_by_value_capital_stops_rejecting(kind):
    rng = np.random.default_rng(3)
    values = {
        "rare": (rng.random(150) < 0.06).astype(float),
        "even": (rng.random(80) < 0.5).astype(float),
        "narrow": rng.beta(20, 60, 60),
    }[kind]
    low, high = betting_interval(values, 0.9)
    last_low, last_high = (ends[-1] for ends in betting_sequence(values, 0.9))
    for (a, b), running in (((low, high), False), ((last_low, last_high), True)):
        assert rejected(values, a - 1e-6, 0.05, "low", running)
        assert not rejected(values, a + 1e-6, 0.05, "low", running)
        assert rejected(values, b + 1e-6, 0.05, "high", running)
        assert not rejected(values, b - 1e-6, 0.05, "high", running)
    upper = betting_interval(values, 0.9, alternative="upper")
    assert upper[0] == 0
    assert rejected(values, upper[1] + 1e-6, 0.1, "high", False)
    assert not rejected(values, upper[1] - 1e-6, 0.1, "high", False)


def test_the_running_interval_is_the_interval_at_each_time_up_to_the_grid():
    values = (np.random.default_rng(0).random(120) < 0.3).astype(float)
    low, high = betting_sequence(values)
    for t in (1, 7, 40, 90, 120):
        a, b = (ends[-1] for ends in betting_sequence(values[:t]))
        assert a - 2e-3 <= low[t - 1] <= a + 1e-12
        assert b - 1e-12 <= high[t - 1] <= b + 2e-3


def test_the_future_changes_nothing_in_the_past():
    rng = np.random.default_rng(5)
    values = rng.random(100)
    changed = values.copy()
    changed[60:] = rng.random(40) ** 3
    for ours, theirs in zip(betting_sequence(values), betting_sequence(changed), strict=True):
        np.testing.assert_allclose(ours[:60], theirs[:60], atol=2e-3)


def test_narrower_than_hoeffding_bentkus_for_little_variance_and_near_exact_for_rare_errors():
    rng = np.random.default_rng(1)
    narrow = rng.beta(10, 90, 300)
    upper = betting_interval(narrow, alternative="upper")[1]
    assert upper - 0.1 < 0.5 * (hoeffding_bentkus_upper(narrow.mean(), 300, 0.95) - 0.1)
    none = betting_interval(np.zeros(300), alternative="upper")[1]
    assert clopper_pearson(0, 300, alternative="upper")[1] <= none <= 0.014


def test_other_bounds_rescale():
    values = np.random.default_rng(2).random(50)
    low, high = betting_interval(values)
    scaled = betting_interval(10 * values - 5, bounds=(-5, 5))
    np.testing.assert_allclose(scaled, (10 * low - 5, 10 * high - 5), atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
@pytest.mark.filterwarnings("ignore::fireassay.core.errors.AssumptionWarning")
def test_properties(values):
    low, high = betting_interval(values)
    assert 0 <= low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= high <= 1
    mirrored = betting_interval([1 - v for v in values])
    np.testing.assert_allclose(mirrored, (1 - high, 1 - low), atol=1e-9)
    wide = betting_interval(values, 0.999)
    assert wide[0] <= low + 1e-9 or wide[0] <= np.mean(values)
    one_sided = betting_interval(values, alternative="lower")
    assert one_sided[1] == 1.0
    lows, highs = betting_sequence(values)
    assert (lows <= highs).all()


def test_values_that_drift_are_told():
    drifting = np.r_[np.ones(200), np.zeros(200)]
    with pytest.warns(AssumptionWarning, match="do not share one mean"):
        low, high = betting_interval(drifting)
    assert low <= 0.5 <= high
    with pytest.warns(AssumptionWarning, match="do not share one mean"):
        lows, highs = betting_sequence(drifting)
    assert (lows <= highs).all()


def test_ten_thousand_values_are_fast():
    values = (np.random.default_rng(0).random(10_000) < 0.05).astype(float)
    started = time.process_time()
    betting_interval(values)
    assert time.process_time() - started < 0.5
    started = time.process_time()
    betting_sequence(values)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("values", [[], [0.5, np.nan], [1.5], [-0.1], [[0.5]], ["a"]])
def test_bad_values_are_refused(values):
    with pytest.raises(DataError, match="values"):
        betting_interval(values)


def test_bad_parameters_are_refused():
    with pytest.raises(ParameterError, match="confidence"):
        betting_interval([0.5], 1)
    with pytest.raises(ParameterError, match="bounds"):
        betting_interval([0.5], bounds=(1, 0))
    with pytest.raises(ParameterError, match="alternative"):
        betting_sequence([0.5], alternative="both")
