"""Means from few labels and many guesses."""

import numpy as np
import pytest

from fireassay.statistics import betting_interval
from fireassay.statistics.bounds_from_draws import (
    Moments,
    RectifiedValues,
    betting_upper,
    ppi_interval,
)


def test_betting_bound_is_close_to_the_general_one():
    values = np.random.default_rng(0).random(400) ** 3
    game = RectifiedValues(values, np.ones(400), 0.1)
    general = betting_interval(values, 0.99, (0, 1), "upper")[1]
    assert betting_upper(game, 0.01) == pytest.approx(general, rel=0.05)
    assert betting_upper(game, 0.01) > values.mean()


def test_a_useless_surrogate_leaves_the_normal_interval_unchanged():
    rng = np.random.default_rng(0)
    wrong = (rng.random(2000) < 0.1).astype(float)
    estimate, error, _ = ppi_interval(wrong, rng.random(2000), rng.random(40_000), 0.025)
    assert estimate == pytest.approx(wrong.mean(), abs=1e-3)
    assert error == pytest.approx(wrong.std() / np.sqrt(2000), rel=0.02)


def test_a_perfect_surrogate_leaves_only_the_operational_error():
    rng = np.random.default_rng(0)
    risk = (rng.random(500) < 0.1).astype(float)
    field = (rng.random(50_000) < 0.1).astype(float)
    estimate, error, _ = ppi_interval(risk, risk, field, 0.025)
    assert estimate == pytest.approx(field.mean(), abs=2e-3)
    assert error < 0.3 * risk.std() / np.sqrt(500)


def test_moments_of_parts_are_those_of_the_whole():
    values = np.random.default_rng(0).random(1000) ** 3
    joined = Moments()
    for part in np.split(values, [1, 10, 700]):
        joined = joined.with_(Moments.of(part))
    assert joined.n == 1000
    assert joined.mean == pytest.approx(values.mean(), rel=1e-12)
    assert joined.variance == pytest.approx(values.var(), rel=1e-12)
