"""Norms, projections and steepest steps against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from fireassay.attacks.norms import length, project, steepest_step

ORDERS = {"l1": 1, "l2": 2, "linf": np.inf}
every_norm = pytest.mark.parametrize("norm", ORDERS)


@every_norm
def test_lengths_are_numpy_norms(norm):
    rows = np.random.default_rng(0).standard_normal((20, 7))
    np.testing.assert_allclose(length(rows, norm), np.linalg.norm(rows, ORDERS[norm], axis=1))
    assert length(np.full((1, 2), 1e-200), "l2")[0] == pytest.approx(np.sqrt(2) * 1e-200)


@every_norm
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), radius=st.floats(0.01, 5.0))
def test_projection_is_the_nearest_point_of_the_ball(norm, seed, radius):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((3, 6)) * 2
    radii = np.full(3, radius)
    projected = project(rows, norm, radii)
    assert (length(projected, norm) <= radius * (1 + 1e-9)).all()
    inside = length(rows, norm) <= radius
    np.testing.assert_array_equal(projected[inside], rows[inside])
    np.testing.assert_allclose(project(projected, norm, radii), projected, atol=1e-12)
    # A projection p of x on a convex set: (x − p)·(z − p) <= 0 for every z of the set.
    others = rng.standard_normal((200, 6))
    others *= (radius * rng.random(200) / length(others, norm))[:, None]
    for row, point in zip(rows, projected, strict=True):
        assert ((row - point) @ (others - point).T).max() <= 1e-9


@every_norm
def test_the_steepest_step_is_the_optimum_of_the_linear_problem(norm):
    rng = np.random.default_rng(1)
    gradient, point = rng.standard_normal((1, 8)), rng.random((1, 8))
    wide = steepest_step(gradient, norm, 0.5, point, -10.0, 10.0)
    assert length(wide, norm)[0] == pytest.approx(0.5)
    dual = {"l1": np.inf, "l2": 2, "linf": 1}[norm]
    assert (gradient * wide).sum() == pytest.approx(0.5 * np.linalg.norm(gradient[0], dual))


def test_the_l1_step_is_optimal_inside_the_box():
    """Against a linear program in the positive and negative parts of the step."""
    rng = np.random.default_rng(2)
    gradient, point = rng.standard_normal(6), rng.random(6)
    program = optimize.linprog(
        np.concatenate([-gradient, gradient]),
        A_ub=np.ones((1, 12)),
        b_ub=[1.7],
        bounds=[(0, 1 - x) for x in point] + [(0, x) for x in point],
    )
    step = steepest_step(gradient[None], "l1", 1.7, point[None], 0.0, 1.0)[0]
    assert gradient @ step == pytest.approx(-program.fun)
    assert ((point + step >= -1e-12) & (point + step <= 1 + 1e-12)).all()
