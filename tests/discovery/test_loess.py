"""LOESS against statsmodels, against lines, and against the order of the rows."""

import numpy as np
import pytest

from fireassay.core.errors import DataError, ParameterError
from fireassay.discovery import loess


def piled_up(n, seed):
    """Confidences pile up near 1, perturbations have outliers."""
    rng = np.random.default_rng(seed)
    x = np.clip(1 - 0.35 * rng.beta(0.3, 2.0, n), 0.65, 1.0)
    outliers = (rng.random(n) < 0.05) * 5 * rng.standard_normal(n)
    y = -5 + 3 * x**4 + 0.5 * np.sin(20 * x) + 0.5 * rng.standard_normal(n) + outliers
    return x, y


@pytest.mark.extras
@pytest.mark.parametrize(
    ("n", "span", "tolerance"),
    [(600, 0.1, 1e-9), (2000, 0.1, 1e-2), (6000, 0.1, 1e-2), (2000, 0.5, 1e-2)],
)
def test_agrees_with_statsmodels_without_its_delta_shortcut(n, span, tolerance):
    lowess = pytest.importorskip("statsmodels.nonparametric.smoothers_lowess").lowess
    x, y = piled_up(n, seed=n)
    theirs = lowess(y, x, frac=span, it=3, delta=0.0, return_sorted=False)
    assert np.abs(loess(x, y, span=span, iterations=3).predict(x) - theirs).max() < tolerance


def test_a_line_stays_a_line_and_outliers_do_not_bend_it():
    x = np.linspace(0, 1, 200)
    y = 3 * x - 1
    np.testing.assert_allclose(loess(x, y, span=0.3).predict(x), y, atol=1e-9)
    spoilt = y.copy()
    spoilt[::20] += 50
    assert np.abs(loess(x, spoilt, span=0.3).predict(x) - y).max() < 0.01
    assert np.abs(loess(x, spoilt, span=0.3, iterations=0).predict(x) - y).max() > 1


def test_order_of_the_rows_does_not_matter_even_with_ties():
    x, y = piled_up(3000, seed=1)
    x = np.round(x, 2)
    order = np.random.default_rng(0).permutation(len(x))
    grid = np.linspace(0.65, 1, 50)
    first, second = loess(x, y).predict(grid), loess(x[order], y[order]).predict(grid)
    np.testing.assert_allclose(first, second, atol=1e-8)


def test_all_x_equal_gives_the_robust_mean():
    curve = loess(np.ones(100), np.arange(100.0), iterations=0)
    assert curve.predict(1.0) == pytest.approx(49.5)


def test_new_points_beyond_the_ends_get_the_value_of_the_end():
    curve = loess([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0], span=1.0)
    assert curve(10.0) == pytest.approx(curve(3.0))


@pytest.mark.parametrize("bad", [{"span": 0.0}, {"span": 1.5}, {"iterations": -1}])
def test_bad_parameters(bad):
    with pytest.raises(ParameterError):
        loess([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], **bad)


def test_bad_data():
    with pytest.raises(DataError, match="at least 3"):
        loess([0.0, 1.0], [0.0, 1.0])
    with pytest.raises(DataError, match="finite"):
        loess([0.0, 1.0, np.nan], [0.0, 1.0, 2.0])
    with pytest.raises(DataError, match="same number"):
        loess([0.0, 1.0, 2.0], [0.0, 1.0])
