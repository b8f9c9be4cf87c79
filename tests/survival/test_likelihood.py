"""Derivatives against finite differences, and laws against scipy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fireassay.survival.aft import mean_time
from fireassay.survival.design_matrix import design_matrix
from fireassay.survival.families import (
    FAMILIES,
    AftFamily,
    ExtremeValue,
    LogGamma,
    Logistic,
    Normal,
)
from fireassay.survival.fit import fit
from fireassay.survival.likelihood import LogTimes, totals_at, value_at
from fireassay.survival.times import read_times


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(3)
    n = 80
    time = np.exp(1 + rng.normal(size=n))
    kind = np.arange(n) % 4
    lower = np.where(kind == 0, time, np.where(kind == 1, 0.6 * time, np.where(kind == 2, 0, time)))
    upper = np.where(kind == 0, time, np.where(kind == 3, np.inf, 1.5 * time))
    return pd.DataFrame(
        {"lower": lower, "upper": upper, "a": rng.normal(size=n), "b": rng.normal(size=n)}
    )


@pytest.mark.parametrize(
    "family_name", [f.name for f in FAMILIES.values() if isinstance(f, AftFamily)]
)
@pytest.mark.parametrize("shape", [0.7, -0.6])
def test_gradient_and_hessian_are_derivatives_of_the_value(mixed, family_name, shape):
    family = FAMILIES[family_name]
    design = design_matrix(mixed, ["a", "b"])
    times = LogTimes.of(read_times(mixed))
    theta = np.array([1.1, 0.2, -0.3, *([0.1] * family.has_scale), *([shape] * family.has_shape)])
    found = totals_at(theta, family, times, design, ridge=0.05)
    step = 1e-5
    for j, unit in enumerate(np.eye(len(theta))):
        above, below = theta + step * unit, theta - step * unit
        slope = value_at(above, family, times, design, 0.05)
        slope = (slope - value_at(below, family, times, design, 0.05)) / (2 * step)
        assert found.gradient[j] == pytest.approx(slope, rel=1e-5, abs=1e-5)
        bend = totals_at(above, family, times, design, 0.05).gradient
        bend = (bend - totals_at(below, family, times, design, 0.05).gradient) / (2 * step)
        np.testing.assert_allclose(found.hessian[j], bend, rtol=1e-4, atol=2e-3)


@pytest.mark.parametrize(
    ("law", "scipy_law"),
    [
        (ExtremeValue(), stats.gumbel_l),
        (Normal(), stats.norm),
        (Logistic(), stats.logistic),
        (LogGamma(1.0), stats.gumbel_l),
        (LogGamma(1e-7), stats.norm),
    ],
)
def test_laws_are_those_of_scipy(law, scipy_law):
    z = np.linspace(-6, 4, 41)
    np.testing.assert_allclose(law.log_density(z), scipy_law.logpdf(z), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(law.log_survival(z), scipy_law.logsf(z), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(law.log_failure(z), scipy_law.logcdf(z), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("law", [ExtremeValue(), Logistic()])
def test_short_formulas_of_an_interval_equal_the_general_ones(law):
    rng = np.random.default_rng(0)
    a = rng.uniform(-30, 4, 2000)
    b = a + rng.choice([1e-9, 1e-4, 0.1, 3.0], 2000) * rng.uniform(0.5, 1, 2000)
    general = super(type(law), law).at_interval(a, b)
    for short, long in zip(law.at_interval(a, b), general, strict=True):
        np.testing.assert_allclose(short, long, rtol=1e-6, atol=1e-13)
    far = law.at_interval(np.array([-900.0, 2.0]), np.array([-800.0, 900.0]))
    assert all(np.isfinite(part).all() for part in far[:3])


@pytest.mark.parametrize("shape", [2.0, 0.4, 0.02, -0.02, -0.8])
def test_log_gamma_density_integrates_to_its_tails(shape):
    law = LogGamma(shape)
    z = np.linspace(-40, 25, 200_001)
    density = np.exp(law.log_density(z))
    below = np.cumsum(density) * (z[1] - z[0])
    for at in (-1.5, 0.0, 1.2):
        k = np.searchsorted(z, at)
        assert np.exp(law.log_failure(z[k : k + 1]))[0] == pytest.approx(below[k], abs=1e-3)
    total = np.exp(law.log_failure(z[::5000])) + np.exp(law.log_survival(z[::5000]))
    np.testing.assert_allclose(total, 1.0, rtol=1e-10)


def test_log_gamma_passes_smoothly_through_the_log_normal():
    z = np.linspace(-3, 3, 13)
    for shape in (1e-4, -1e-4):
        np.testing.assert_allclose(
            LogGamma(shape).log_density(z), Normal().log_density(z), atol=1e-3
        )
        np.testing.assert_allclose(
            LogGamma(shape).log_survival(z), Normal().log_survival(z), atol=1e-3
        )


@pytest.mark.parametrize(
    ("law", "scale", "frozen"),
    [
        (ExtremeValue(), 0.5, stats.weibull_min(2.0, scale=np.e)),
        (Normal(), 0.8, stats.lognorm(0.8, scale=np.e)),
        (Logistic(), 0.6, stats.fisk(1 / 0.6, scale=np.e)),
    ],
)
def test_mean_times_are_integrals_of_survival(law, scale, frozen):
    one = np.array([1.0])
    for horizon in (0.5, 3.0, 50.0):
        grid = np.linspace(0, horizon, 400_001)
        area = np.trapezoid(frozen.sf(grid), grid)
        assert mean_time(law, one, scale, horizon)[0] == pytest.approx(area, rel=1e-6)
    assert mean_time(law, one, scale, np.inf)[0] == pytest.approx(frozen.mean(), rel=1e-9)


def test_a_log_logistic_with_scale_one_has_no_mean():
    assert mean_time(Logistic(), np.array([0.0]), 1.0, np.inf)[0] == np.inf


def test_generalised_gamma_mean_contains_the_weibull():
    one = np.array([0.3])
    for horizon in (2.0, np.inf):
        assert mean_time(LogGamma(1.0), one, 0.7, horizon)[0] == pytest.approx(
            mean_time(ExtremeValue(), one, 0.7, horizon)[0], rel=1e-9
        )


@pytest.mark.parametrize("family", ["weibull", "lognormal", "gengamma"])
def test_a_start_from_some_rows_and_a_last_step_unseen_lead_to_the_same_maximum(
    monkeypatch, family
):
    rng = np.random.default_rng(5)
    n = 12_000
    x = rng.normal(size=(n, 2))
    time = np.exp(1 + x @ [0.4, -0.2] + 0.6 * np.log(rng.exponential(size=n)))
    end = rng.exponential(8, n)
    rows = pd.DataFrame(
        {"duration": np.minimum(time, end), "event": time <= end, "a": x[:, 0], "b": x[:, 1]}
    ).astype(float)
    near = fit(rows, family, ["a", "b"])
    monkeypatch.setattr("fireassay.survival.aft._ROWS_OF_A_START", n)
    whole = fit(rows, family, ["a", "b"])
    # Newton itself stops where a step would be of 6e-8.
    np.testing.assert_allclose(near.theta, whole.theta, rtol=0, atol=1e-7)
    np.testing.assert_allclose(near.covariance, whole.covariance, rtol=1e-3, atol=1e-12)
    assert near.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
    assert near.converged
