import numpy as np
import pytest
from scipy.stats import norm
from sklearn.neighbors import KernelDensity

from fireassay.core import DataError, ParameterError
from fireassay.statistics.kde import (
    BinnedKde,
    kde_density,
    leave_one_out_bandwidth,
    leave_one_out_log_likelihood,
    product_cell_mass,
)


@pytest.fixture
def points():
    return np.clip(np.random.default_rng(0).normal(0.45, 0.2, (700, 2)), 0, 1)


def test_density_equals_scikit_learn(points):
    at = np.random.default_rng(1).random((50, 2))
    expected = np.exp(KernelDensity(bandwidth=0.07).fit(points).score_samples(at))
    np.testing.assert_allclose(kde_density(points, at, 0.07), expected, rtol=1e-10)


@pytest.mark.parametrize(("d", "bandwidth"), [(1, 0.03), (2, 0.2), (2, 0.05), (3, 0.1)])
def test_binned_density_is_within_one_in_ten_thousand_of_scikit_learn(d, bandwidth):
    points = np.random.default_rng(d).random((2000, d))
    axes = [np.linspace(0.05, 0.95, 9)] * d
    at = np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=1)
    expected = np.exp(KernelDensity(bandwidth=bandwidth).fit(points).score_samples(at))
    found = BinnedKde(points, bandwidth).density(axes).ravel()
    np.testing.assert_allclose(found, expected, rtol=1e-4 if d < 3 else 2e-4)


def test_cell_mass_is_the_integral_of_the_density(points):
    edges = [np.linspace(0, 1, 4), np.linspace(0, 1, 3)]
    fine = [(np.arange(300) + 0.5) / 300] * 2
    density = BinnedKde(points, 0.1).density(fine)
    integral = density.reshape(3, 100, 2, 150).sum(axis=(1, 3)) / 300**2
    np.testing.assert_allclose(BinnedKde(points, 0.1).cell_mass(edges), integral, rtol=1e-4)


def test_cell_mass_of_one_point_is_a_product_of_normal_probabilities():
    low, high = np.array([[0.1, 0.3]]), np.array([[0.5, 0.6]])
    expected = np.prod(norm.cdf((high - 0.2) / 0.3) - norm.cdf((low - 0.2) / 0.3))
    found = product_cell_mass(np.full((1, 2), 0.2), low, high, 0.3)
    assert found[0] == pytest.approx(expected, rel=1e-12)


def test_reflection_keeps_all_mass_inside(points):
    edges = [np.linspace(0, 1, 11)] * 2
    open_ended = BinnedKde(points, 0.2).cell_mass(edges).sum()
    folded = BinnedKde(points, 0.2, reflect=[(0, 1), (0, 1)]).cell_mass(edges).sum()
    assert open_ended < 0.9
    assert folded == pytest.approx(1, abs=1e-3)


def test_reflected_density_agrees_with_its_definition(points):
    at = np.array([[0.01, 0.5], [0.99, 0.02], [0.4, 0.4]])
    images = [points]
    for axis in (0, 1):
        for border in (0.0, 1.0):
            mirrored = points.copy()
            mirrored[:, axis] = 2 * border - mirrored[:, axis]
            images.append(mirrored)
    # At these points corners twice folded are negligible only where both borders are far.
    expected = sum(kde_density(image, at[2:], 0.05) for image in images)
    found = kde_density(points, at, 0.05, reflect=[(0, 1), (0, 1)])
    assert found[2] == pytest.approx(expected[0], rel=1e-6)
    binned = BinnedKde(points, 0.05, reflect=[(0, 1), (0, 1)])
    for row, value in zip(at, found, strict=True):
        assert binned.density([row[:1], row[1:]])[0, 0] == pytest.approx(value, rel=1e-3)
    assert kde_density(points, np.array([[1.2, 0.5]]), 0.05, reflect=[(0, 1)] * 2)[0] == 0


def test_leave_one_out_likelihood_equals_scikit_learn_row_by_row():
    points = np.random.default_rng(3).normal(size=(40, 2))
    by_hand = [
        KernelDensity(bandwidth=0.4).fit(np.delete(points, i, axis=0)).score(points[i : i + 1])
        for i in range(len(points))
    ]
    found = leave_one_out_log_likelihood(points, 0.4)
    assert found == pytest.approx(np.mean(by_hand), rel=1e-10)


def test_leave_one_out_bandwidth_is_the_best_on_a_grid(points):
    best = leave_one_out_bandwidth(points)
    grid = best * np.array([0.7, 0.85, 1.15, 1.3])
    at_best = leave_one_out_log_likelihood(points, best)
    assert all(leave_one_out_log_likelihood(points, h) <= at_best for h in grid)


def test_bandwidth_needs_distinct_rows():
    with pytest.raises(DataError, match="3 distinct rows"):
        leave_one_out_bandwidth(np.ones((10, 2)))


def test_means_under_each_kernel_average_to_the_expectation(points):
    edges = [np.linspace(0, 1, 21)] * 2
    values = np.random.default_rng(0).random((20, 20))
    kde = BinnedKde(points, 0.1)
    expectation = float((kde.cell_mass(edges) * values).sum())
    assert kde.point_means(edges, values).mean() == pytest.approx(expectation, rel=1e-9)


def test_weights_are_point_masses(points):
    weights = np.random.default_rng(0).integers(1, 4, len(points)).astype(float)
    repeated = np.repeat(points, weights.astype(int), axis=0)
    axes = [np.linspace(0, 1, 5)] * 2
    np.testing.assert_allclose(
        BinnedKde(points, 0.1, weights=weights).density(axes),
        BinnedKde(repeated, 0.1).density(axes),
        rtol=1e-10,
    )


def test_more_than_three_dimensions_are_not_binned():
    with pytest.raises(ParameterError, match="1 to 3"):
        BinnedKde(np.zeros((5, 4)), 0.1)


def test_far_from_all_points_the_log_density_is_finite():
    points = np.array([[0.1, 0.5], [0.1001, 0.5], [0.9, 0.5]])
    for reflect in (None, [(0, 1), (0, 1)]):
        found = leave_one_out_log_likelihood(points, 0.01, reflect=reflect)
        near = norm.logpdf(1e-4, 0, 0.01)
        # The third point is 80 bandwidths away: its kernels underflow, their logarithms do not.
        far = np.logaddexp(norm.logpdf(0.8, 0, 0.01), norm.logpdf(0.7999, 0, 0.01))
        expected = (2 * near + far - 3 * np.log(2)) / 3 + norm.logpdf(0, 0, 0.01)
        assert found == pytest.approx(expected, rel=1e-6)


def test_identical_points_are_one_kernel():
    kde = BinnedKde(np.full((9, 1), 0.5), 0.1)
    assert kde.density([np.array([0.5])])[0] == pytest.approx(norm.pdf(0) / 0.1, rel=5e-3)
