"""Advice on labels: followed, it settles the gate as often as it says."""

import numpy as np
import pytest
from scipy import stats

from fireassay.core import ParameterError
from fireassay.statistics import clopper_pearson
from fireassay.statistics.labels_needed import alpha_at_look, labels_needed


def test_all_looks_together_spend_alpha():
    spent = sum(alpha_at_look(0.05, look) for look in range(1, 100_000))
    assert spent == pytest.approx(0.05, rel=1e-4)


def passes(errors, n, limit, alpha, look):
    """The gate itself, by the exact upper bound."""
    upper = clopper_pearson(errors, n, 1 - alpha_at_look(alpha, look), "upper")[1]
    return np.asarray(upper) <= limit


@pytest.mark.parametrize(("errors", "n", "limit"), [(0, 50, 0.05), (2, 100, 0.05), (10, 200, 0.1)])
@pytest.mark.parametrize("look", [1, 2, 3])
def test_in_worlds_with_these_errors_that_many_labels_pass_four_times_in_five(
    errors, n, limit, look
):
    found = labels_needed(errors, n, limit, 0.025, look=look)
    assert not found.at_the_seen_rate
    # Worlds drawn from Jeffreys' prior, kept where this many errors were seen.
    rng = np.random.default_rng(look)
    rates = rng.beta(0.5, 0.5, 1_000_000)
    rates = rates[rng.binomial(n, rates) == errors]
    more = rng.binomial(found.more, rates)
    share = passes(errors + more, n + found.more, limit, 0.025, look).mean()
    assert share >= 0.8 - 4 * np.sqrt(0.16 / len(rates))
    fewer = [m for m in range(max(0, found.more - 30), found.more) if m]
    for m in fewer:
        chance = stats.betabinom(m, errors + 0.5, n - errors + 0.5)
        allowed = passes(np.arange(n + m + 1), n + m, limit, 0.025, look).sum() - 1
        assert chance.cdf(allowed - errors) < 0.8


def test_where_the_seen_rate_is_too_near_it_is_taken_as_true_and_said():
    found = labels_needed(4, 100, 0.05)
    assert found.at_the_seen_rate
    assert found.chance == pytest.approx(stats.beta.cdf(0.05, 4.5, 96.5))
    rng = np.random.default_rng(0)
    more = rng.binomial(found.more, 0.04, 20_000)
    share = passes(4 + more, 100 + found.more, 0.05, 0.025, 2).mean()
    assert share == pytest.approx(0.8, abs=0.03)


def test_a_rate_beyond_its_limit_is_told_what_it_would_have_to_be():
    found = labels_needed(10, 100, 0.05)
    assert found.more is None
    assert found.fresh >= 100
    rng = np.random.default_rng(0)
    fresh = rng.binomial(found.fresh, found.rate, 20_000)
    assert passes(fresh, found.fresh, 0.05, 0.025, 2).mean() == pytest.approx(0.8, abs=0.015)


def test_a_rate_just_below_its_limit_needs_more_than_anyone_has():
    assert labels_needed(49_999, 1_000_000, 0.05).more is None


def test_impossible_counts_are_refused():
    with pytest.raises(ParameterError):
        labels_needed(3, 2, 0.1)
