import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from fireassay.core import DataError
from fireassay.statistics import average_ranks, spearman


@pytest.mark.parametrize("seed", range(5))
def test_equals_scipy_with_ties(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 8, 30), rng.normal(size=30)
    np.testing.assert_allclose(spearman(x, y + x / 5), spearmanr(x, y + x / 5), rtol=1e-10)


def test_closed_form_without_ties():
    x, y = np.array([3, 1, 4, 2, 5, 6]), np.array([2, 1, 6, 3, 4, 5])
    assert spearman(x, y)[0] == pytest.approx(1 - 6 * ((x - y) ** 2).sum() / (6 * 35))


def test_published_critical_value():
    # Two-sided 5 % with the t approximation at N = 30: |rho| = 0.361.
    from scipy.stats import t

    limit = t.ppf(0.975, 28)
    assert limit / np.sqrt(28 + limit**2) == pytest.approx(0.361, abs=5e-4)
    rng = np.random.default_rng(0)
    for _ in range(200):
        rho, p = spearman(rng.normal(size=30), rng.normal(size=30))
        assert (p < 0.05) == (abs(rho) > limit / np.sqrt(28 + limit**2))


def test_perfect_and_constant():
    assert spearman([1, 2, 3, 4], [10, 20, 30, 99]) == (1.0, 0.0)
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == (-1.0, 0.0)
    assert spearman([1, 2, 3], [7, 7, 7]) == (0.0, 1.0)
    assert spearman([5, 5, 5], [5, 5, 5]) == (0.0, 1.0)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3, max_size=50),
    st.randoms(),
)
def test_rows_may_be_shuffled_and_values_stretched(pairs, random):
    x, y = np.array(pairs, dtype=float).T
    rho, p = spearman(x, y)
    assert -1 <= rho <= 1
    assert 0 <= p <= 1
    order = list(range(len(x)))
    random.shuffle(order)
    np.testing.assert_allclose(spearman(np.exp(x[order]), y[order]), (rho, p), atol=1e-9)
    np.testing.assert_allclose(spearman(y, x), (rho, p), atol=1e-9)
    np.testing.assert_allclose(spearman(-x, y), (-rho, p), atol=1e-9)
    np.testing.assert_allclose(average_ranks(x), rankdata(x))


@pytest.mark.parametrize(
    ("x", "y"),
    [([], []), ([1, 2], [1, 2]), ([1, 2, 3], [1, 2]), ([1, 2, np.nan], [1, 2, 3])],
)
def test_bad_data_is_refused(x, y):
    with pytest.raises(DataError, match="Got"):
        spearman(x, y)
