import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from fireassay.core import DataError, ParameterError
from fireassay.statistics import wilson


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 59), (3, 10), (17, 400), (9_999, 10_000)])
def test_equals_scipys_score_interval(k, n, confidence):
    theirs = binomtest(k, n).proportion_ci(confidence, method="wilson")
    np.testing.assert_allclose(wilson(k, n, confidence), theirs, rtol=1e-9, atol=1e-12)


def test_equals_rs_prop_test():
    # R 4.2.2: prop.test(k, n, correct = FALSE)$conf.int on Newcombe's (1998) examples
    np.testing.assert_allclose(wilson(81, 263), (0.255288519878, 0.366209576983), rtol=1e-10)
    np.testing.assert_allclose(wilson(15, 148), (0.0623863995307, 0.1604872417233), rtol=1e-10)
    np.testing.assert_allclose(wilson(0, 20), (0.0, 0.161125158053), rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(wilson(1, 29), (0.00611321429276, 0.1717552187932), rtol=1e-10)


def test_nothing_seen_says_nothing():
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(0, 300), st.integers(0, 300), st.floats(0.01, 0.999))
def test_ends_solve_the_score_equation(k, failures, confidence):
    from scipy.stats import norm

    n = k + failures
    z = norm.ppf((1 + confidence) / 2)
    for end in wilson([k], n, confidence):
        if n:
            assert (k / n - end[0]) ** 2 <= z**2 * end[0] * (1 - end[0]) / n + 1e-9
    low, high = wilson(k, n, confidence)
    assert 0 <= low <= high <= 1


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (6, 5), (np.nan, 5)])
def test_bad_counts_are_refused(k, n):
    with pytest.raises(DataError, match="Got"):
        wilson(k, n)


@pytest.mark.parametrize("confidence", [0, 1])
def test_bad_confidence_is_refused(confidence):
    with pytest.raises(ParameterError, match="confidence"):
        wilson(1, 5, confidence)
