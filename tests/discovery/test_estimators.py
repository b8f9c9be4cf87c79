"""Error rates from unequal draws: unbiased by enumeration, intervals that cover."""

import itertools

import numpy as np
import pytest
from scipy import stats

from fireassay import discovery
from fireassay.core.errors import DataError

LOSSES = np.array([1.0, 0.0, 1.0, 0.0, 0.0])


def draws(weights, size):
    """Every ordered draw without replacement, its chance, and the conditional chances."""
    for order in itertools.permutations(range(len(weights)), size):
        left, chances = weights.sum(), []
        for row in order:
            chances.append(weights[row] / left)
            left -= weights[row]
        yield list(order), np.prod(chances), chances


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("surrogate", [None, [0.9, 0.2, 0.4, 0.1, 0.3]])
def test_lure_is_exactly_unbiased(size, surrogate):
    weights = np.array([4.0, 1.0, 2.0, 0.5, 3.0])
    mean = total = 0.0
    for order, chance, conditional in draws(weights, size):
        estimate = discovery.estimate_error(
            order, LOSSES[order], conditional, 5, surrogate=surrogate
        )
        mean += chance * estimate.value
        total += chance
    assert total == pytest.approx(1.0)
    assert mean == pytest.approx(LOSSES.mean(), abs=1e-12)


def test_lure_weights_by_the_formula():
    """N = 5, M = 3, draws 0.4, 0.25, 0.5: 1 + 2/4 (1/(5·.4) − 1) = .75, and so on."""
    np.testing.assert_allclose(
        discovery.lure_weights([0.4, 0.25, 0.5], 5),
        [0.75, 1 + 2 / 3 * (1 / (4 * 0.25) - 1), 1 + 2 / 2 * (1 / (3 * 0.5) - 1)],
    )
    np.testing.assert_array_equal(discovery.lure_weights([0.2, 0.25, 1 / 3, 0.5, 1.0], 5), 1.0)


def test_uniform_draws_give_the_sample_mean_and_all_rows_the_truth():
    chances = [1 / (100 - i) for i in range(40)]
    wrong = np.arange(40) < 6
    assert discovery.estimate_error(range(40), wrong, chances, 100).value == pytest.approx(0.15)
    chances = [1 / (5 - i) for i in range(5)]
    exact = discovery.estimate_error(range(5), LOSSES, chances, 5)
    assert (exact.low, exact.value, exact.high) == pytest.approx((0.4, 0.4, 0.4))


def test_hansen_hurwitz_is_exactly_unbiased():
    p = np.array([0.4, 0.1, 0.2, 0.05, 0.25])
    mean = sum(
        p[a] * p[b] * discovery.hansen_hurwitz(LOSSES[[a, b]], p[[a, b]], 5).value
        for a in range(5)
        for b in range(5)
    )
    assert mean == pytest.approx(0.4)


def test_horvitz_thompson_is_exactly_unbiased():
    pi = np.array([0.9, 0.3, 0.5, 0.7, 0.2])
    mean = 0.0
    for included in itertools.product([False, True], repeat=5):
        rows = np.flatnonzero(included)
        chance = np.prod(np.where(included, pi, 1 - pi))
        mean += chance * discovery.horvitz_thompson(LOSSES[rows], pi[rows], 5).value
    assert mean == pytest.approx(0.4)


def test_ppi_by_the_formula():
    rng = np.random.default_rng(0)
    guess, others = rng.random(200), rng.random(5000)
    loss = (rng.random(200) < guess).astype(float)
    estimate = discovery.ppi(loss, guess, others)
    variance = np.var(np.concatenate([guess, others]), ddof=1)
    trust = np.clip(np.cov(loss, guess)[0, 1] / (1.04 * variance), 0, 1)
    assert estimate.value == pytest.approx(trust * others.mean() + (loss - trust * guess).mean())
    plain = 2 * 1.96 * loss.std(ddof=1) / np.sqrt(200)
    assert estimate.high - estimate.low < plain
    useless = discovery.ppi(loss, rng.random(200), rng.random(5000))
    assert useless.value == pytest.approx(loss.mean(), abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.02, 0.1, 0.4])
def test_the_lure_interval_covers_under_skewed_draws(rate):
    rng = np.random.default_rng(7)
    misses = 0
    for _ in range(300):
        loss = (rng.random(300) < rate).astype(float)
        weights = 0.2 + rng.exponential(1.0, 300) * (1 + 2 * loss)
        left, order, chances = np.arange(300), [], []
        for _ in range(60):
            q = weights[left] / weights[left].sum()
            at = rng.choice(len(left), p=q)
            order.append(left[at])
            chances.append(q[at])
            left = np.delete(left, at)
        estimate = discovery.estimate_error(order, loss[order], chances, 300)
        misses += not estimate.low <= loss.mean() <= estimate.high
    assert misses <= stats.binom.ppf(0.999, 300, 0.05)


@pytest.mark.slow
def test_ppi_covers_for_uniform_labels_and_is_biased_on_searched_ones():
    rng = np.random.default_rng(8)
    misses, shift = 0, 0.0
    for _ in range(500):
        doubt = rng.beta(1, 5, 2000)
        loss = (rng.random(2000) < doubt).astype(float)
        rows = rng.choice(2000, 150, replace=False)
        rest = np.setdiff1d(np.arange(2000), rows)
        estimate = discovery.ppi(loss[rows], doubt[rows], doubt[rest])
        misses += not estimate.low <= 1 / 6 <= estimate.high
        searched = np.argsort(-loss - 0.1 * rng.random(2000))[:150]
        rest = np.setdiff1d(np.arange(2000), searched)
        shift += discovery.ppi(loss[searched], doubt[searched], doubt[rest]).value - 1 / 6
    assert misses <= stats.binom.ppf(0.999, 500, 0.06)
    assert shift / 500 > 0.2


def test_bad_draws_are_refused():
    with pytest.raises(DataError, match="chances"):
        discovery.estimate_error([0, 1], [1, 0], [0.5, 0.0], 5)
    with pytest.raises(DataError, match="different positions"):
        discovery.estimate_error([0, 0], [1, 0], [0.5, 0.5], 5)
    with pytest.raises(DataError, match="same number"):
        discovery.estimate_error([0, 1], [1], [0.5, 0.5], 5)
    empty = discovery.estimate_error([], [], [], 5)
    assert np.isnan(empty.value)
    assert (empty.low, empty.high) == (0.0, 1.0)


def test_no_error_seen_is_no_proof_of_none():
    thompson = discovery.horvitz_thompson(np.zeros(50), np.full(50, 0.1), 500)
    # The rule of three for 50 of 500: k errors are all missed with chance .9 ** k.
    most = np.floor(np.log(0.025) / np.log(0.9))
    assert (thompson.value, thompson.low) == (0.0, 0.0)
    assert thompson.high == pytest.approx(most / 500)
    powered = discovery.ppi(np.zeros(50), np.linspace(0, 0.1, 50), np.linspace(0, 0.1, 500))
    assert powered.low == 0.0
    assert powered.high == pytest.approx(1 - 0.025 ** (1 / 50))


def test_thompson_covers_with_few_errors():
    rng = np.random.default_rng(0)
    loss = np.repeat([1.0, 0.0], [10, 490])
    misses = 0
    for _ in range(400):
        drawn = rng.random(500) < 0.1
        found = discovery.horvitz_thompson(loss[drawn], np.full(drawn.sum(), 0.1), 500)
        misses += not found.low <= 0.02 <= found.high
    assert misses <= stats.binom.ppf(0.999, 400, 0.05)


def test_shares_stay_between_zero_and_one():
    rng = np.random.default_rng(1)
    for _ in range(50):
        guess = rng.beta(1, 20, 60)
        loss = (rng.random(60) < guess).astype(float)
        found = discovery.ppi(loss, guess, rng.beta(1, 20, 600))
        assert 0.0 <= found.low <= found.value <= found.high <= 1.0
