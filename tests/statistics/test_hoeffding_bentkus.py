import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from fireassay.core import DataError, ParameterError
from fireassay.statistics import clopper_pearson, hoeffding_bentkus_upper


def p_value(mean, n, risk):
    """The p-value of "the risk is at least this" in risk control (min of the two inequalities)."""
    low = min(mean, risk)
    divergence = 0.0
    if low > 0:
        divergence += low * np.log(low / risk)
    if low < 1:
        divergence += (1 - low) * np.log((1 - low) / (1 - risk))
    return min(np.exp(-n * divergence), np.e * binom.cdf(np.ceil(n * mean), n, risk))


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
@pytest.mark.parametrize(("count", "n"), [(0, 50), (1, 8), (3, 64), (25, 100), (160, 200)])
def test_is_where_the_p_value_reaches_alpha(count, n, alpha):
    mean = count / n
    bound = hoeffding_bentkus_upper(mean, n, 1 - alpha)
    assert p_value(mean, n, bound + 1e-6) < alpha
    assert p_value(mean, n, bound - 1e-6) > alpha
    grid = np.linspace(mean, 1 - 1e-9, 3000)
    accepted = grid[[p_value(mean, n, risk) >= alpha for risk in grid]]
    assert bound == pytest.approx(accepted.max(), abs=1 / 2000)


def test_no_loss_has_the_closed_form_of_the_better_inequality():
    assert hoeffding_bentkus_upper(0.0, 100, 0.95) == pytest.approx(1 - 0.05 ** (1 / 100), rel=1e-9)


@given(st.integers(1, 2000), st.floats(0, 1), st.floats(0.001, 0.5))
def test_is_above_the_mean_and_falls_with_alpha(n, mean, alpha):
    bound = hoeffding_bentkus_upper(mean, n, 1 - alpha)
    assert mean <= bound <= 1
    assert hoeffding_bentkus_upper(mean, n, 1 - alpha / 2) >= bound
    count = int(mean * n)
    exact = clopper_pearson(count, n, 1 - alpha, "upper")[1]
    assert hoeffding_bentkus_upper(count / n, n, 1 - alpha) >= exact - 1e-9


def test_vectorised_and_empty():
    bounds = hoeffding_bentkus_upper(np.array([0.0, 0.5, 1.0]), 10, 0.9)
    assert bounds.tolist() == [hoeffding_bentkus_upper(m, 10, 0.9) for m in (0.0, 0.5, 1.0)]
    assert bounds[2] == 1.0
    assert hoeffding_bentkus_upper(0.0, 0, 0.9) == 1.0


@pytest.mark.parametrize("mean", [-0.1, 1.1, np.nan, "x"])
def test_bad_means_are_refused(mean):
    with pytest.raises(DataError, match="mean"):
        hoeffding_bentkus_upper(mean, 10, 0.9)


@pytest.mark.parametrize("confidence", [0, 1, 5])
def test_bad_confidence_is_refused(confidence):
    with pytest.raises(ParameterError, match="confidence"):
        hoeffding_bentkus_upper(0.1, 10, confidence)
