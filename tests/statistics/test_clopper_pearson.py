import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from fireassay.core import DataError, ParameterError
from fireassay.statistics import clopper_pearson


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 59), (3, 10), (17, 400), (9_999, 10_000)])
def test_equals_scipys_exact_interval(k, n, confidence):
    theirs = binomtest(k, n).proportion_ci(confidence, method="exact")
    np.testing.assert_allclose(clopper_pearson(k, n, confidence), theirs, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize(("alternative", "theirs"), [("upper", "less"), ("lower", "greater")])
def test_one_sided_bounds_equal_scipys(alternative, theirs):
    expected = binomtest(4, 50, alternative=theirs).proportion_ci(0.95, method="exact")
    np.testing.assert_allclose(clopper_pearson(4, 50, 0.95, alternative), expected, rtol=1e-10)


@pytest.mark.extras
def test_equals_statsmodels():
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    k = np.arange(0, 41, 5)
    theirs = proportion.proportion_confint(k, 40, alpha=0.1, method="beta")
    np.testing.assert_allclose(clopper_pearson(k, 40, 0.9), theirs, rtol=1e-10, atol=1e-15)


def test_no_failure_has_the_closed_form():
    n = np.array([1, 10, 299, 10**6])
    _, high = clopper_pearson(np.zeros(4), n, 0.99, "upper")
    np.testing.assert_allclose(high, -np.expm1(np.log(0.01) / n), rtol=1e-12)


def test_covers_at_every_proportion_by_enumeration():
    n = 30
    low, high = clopper_pearson(np.arange(n + 1), n, 0.9)
    for p in np.linspace(0.001, 0.999, 400):
        mass = binom.pmf(np.arange(n + 1), n, p)
        assert mass[(low <= p) & (p <= high)].sum() >= 0.9 - 1e-12
        assert mass[p > high].sum() <= 0.05 + 1e-12
        assert mass[p < low].sum() <= 0.05 + 1e-12


def test_nothing_seen_says_nothing():
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    low, high = clopper_pearson([0, 1], [0, 2])
    assert (low[0], high[0]) == (0.0, 1.0)
    assert 0 < low[1] < 0.5 < high[1] < 1


def test_broadcasts_and_returns_floats_for_numbers():
    low, high = clopper_pearson(np.array([[1], [2]]), [10, 20, 30])
    assert low.shape == high.shape == (2, 3)
    assert all(type(end) is float for end in clopper_pearson(np.int64(3), np.int32(10)))


def test_successes_above_n_by_rounding_are_n():
    weights = np.full(10, 0.1)
    assert clopper_pearson(weights.cumsum()[-1] * 3 + 1e-12, 3.0)[1] == 1.0


@given(st.floats(0, 50), st.floats(0, 50), st.floats(0.01, 0.999))
def test_fractional_counts_are_monotone_and_contain_the_share(k, more, confidence):
    low, high = clopper_pearson(k, k + more, confidence)
    assert 0 <= low <= high <= 1
    if k + more > 0 and confidence >= 0.9:
        assert low <= k / (k + more) + 1e-9  # what the root finder resolves
        assert high >= k / (k + more) - 1e-9
    larger = clopper_pearson(k + 0.5, k + more + 0.5, confidence)
    assert larger[0] >= low - 1e-9
    assert larger[1] >= high - 1e-9


@given(st.integers(0, 200), st.integers(0, 200))
def test_swapping_success_and_failure_mirrors_the_interval(k, failures):
    low, high = clopper_pearson(k, k + failures)
    mirrored = clopper_pearson(failures, k + failures)
    np.testing.assert_allclose(mirrored, (1 - high, 1 - low), atol=1e-12)


@pytest.mark.parametrize(
    ("k", "n"), [(-1, 5), (6, 5), (np.nan, 5), (1, np.inf), ([1, 2], [5, 6, 7]), ("a", 5)]
)
def test_bad_counts_are_refused(k, n):
    with pytest.raises(DataError, match="Got"):
        clopper_pearson(k, n)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, np.nan, "0.95", None, True])
def test_bad_confidence_is_refused(confidence):
    with pytest.raises(ParameterError, match="confidence"):
        clopper_pearson(1, 5, confidence)


def test_unknown_alternative_is_refused():
    with pytest.raises(ParameterError, match="'two-sided', 'upper', 'lower'"):
        clopper_pearson(1, 5, alternative="less")
