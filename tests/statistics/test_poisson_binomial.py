from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from fireassay.core import DataError, ParameterError
from fireassay.statistics import poisson_binomial_tail


def enumerated(chances, at_least):
    """Every outcome, in exact rational arithmetic."""
    exact = [Fraction(chance) for chance in chances]
    total = Fraction(0)
    for outcome in product((0, 1), repeat=len(exact)):
        if sum(outcome) >= at_least:
            mass = Fraction(1)
            for success, chance in zip(outcome, exact, strict=True):
                mass *= chance if success else 1 - chance
            total += mass
    return float(total)


@given(st.lists(st.floats(0, 1), min_size=0, max_size=9), st.integers(-1, 11))
def test_equals_enumeration(chances, at_least):
    expected = enumerated(chances, at_least)
    assert poisson_binomial_tail(chances, at_least) == pytest.approx(
        expected, rel=1e-13, abs=1e-300
    )


@pytest.mark.parametrize("n", [33, 100, 1000])
def test_equal_chances_give_the_binomial_even_far_in_the_tail(n):
    for at_least in (1, n // 4, n // 2, n):
        ours = poisson_binomial_tail(np.full(n, 0.03), at_least)
        assert ours == pytest.approx(binom.sf(at_least - 1, n, 0.03), rel=1e-9)


def test_two_binomials_convolved():
    ours = poisson_binomial_tail(np.repeat([0.01, 0.4], [50, 60]), 40)
    first, second = binom.pmf(np.arange(51), 50, 0.01), binom.sf(39 - np.arange(51), 60, 0.4)
    assert ours == pytest.approx(float(first @ second), rel=1e-11)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.integers(0, 60), st.randoms())
def test_order_does_not_matter_and_larger_chances_mean_a_larger_tail(chances, at_least, random):
    tail = poisson_binomial_tail(chances, at_least)
    shuffled = list(chances)
    random.shuffle(shuffled)
    assert poisson_binomial_tail(shuffled, at_least) == pytest.approx(tail, rel=1e-10, abs=1e-300)
    raised = poisson_binomial_tail([(1 + c) / 2 for c in chances], at_least)
    assert raised >= tail * (1 - 1e-10)
    assert 0 <= poisson_binomial_tail(chances, at_least + 1) <= tail <= 1


def test_a_fraction_is_rounded_up():
    assert poisson_binomial_tail([0.5] * 4, 2.1) == poisson_binomial_tail([0.5] * 4, 3)


@pytest.mark.parametrize("chances", [[1.2], [-0.1], [np.nan], [[0.5]], ["x"]])
def test_bad_probabilities_are_refused(chances):
    with pytest.raises(DataError, match="probabilities"):
        poisson_binomial_tail(chances, 1)


def test_bad_threshold_is_refused():
    with pytest.raises(ParameterError, match="at_least"):
        poisson_binomial_tail([0.5], np.nan)
