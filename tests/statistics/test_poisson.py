import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, poisson

from fireassay.core import DataError, ParameterError
from fireassay.statistics import poisson_interval


def test_equals_rs_poisson_test():
    # R 4.2.2: poisson.test(k)$conf.int for k in 0, 1, 5, 10, 100
    low, high = poisson_interval([0, 1, 5, 10, 100])
    below = [0, 0.0253178079843, 1.62348639012, 4.79538869613, 81.3639912509]
    above = [3.68887945411, 5.5716433909389, 11.66833207932, 18.39035604202, 121.6267937924]
    np.testing.assert_allclose(low, below, rtol=1e-10)
    np.testing.assert_allclose(high, above, rtol=1e-10)


@given(st.integers(1, 10_000), st.floats(0.01, 0.9999))
def test_equals_chi_squared_quantiles(k, confidence):
    tail = (1 - confidence) / 2
    expected = chi2.ppf(tail, 2 * k) / 2, chi2.isf(tail, 2 * k + 2) / 2
    np.testing.assert_allclose(poisson_interval(k, confidence), expected, rtol=1e-9)


def test_covers_at_every_mean_by_enumeration():
    counts = np.arange(200)
    low, high = poisson_interval(counts, 0.9)
    for mean in np.linspace(0.05, 60, 300):
        mass = poisson.pmf(counts, mean)
        assert mass[(low <= mean) & (mean <= high)].sum() >= 0.9 - 1e-9


def test_a_single_count_gives_floats():
    assert all(type(end) is float for end in poisson_interval(np.int64(3)))


@pytest.mark.parametrize("count", [-1, np.nan, np.inf, [1, -2], "many"])
def test_bad_counts_are_refused(count):
    with pytest.raises(DataError, match="count"):
        poisson_interval(count)


def test_bad_confidence_is_refused():
    with pytest.raises(ParameterError, match="confidence"):
        poisson_interval(3, 1.0)
