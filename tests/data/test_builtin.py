import os

import numpy as np
import pytest

from fireassay.core import DataError, ParameterError
from fireassay.data import (
    breast_cancer,
    digits,
    fashion_mnist,
    load,
    mnist,
    two_moons,
    unit_square,
    unit_square_density,
    unit_square_label,
    unit_square_pmi,
)

FOLDER = os.environ.get("FIREASSAY_DATA")
real_data = pytest.mark.skipif(not FOLDER, reason="FIREASSAY_DATA is not set")


def test_digits_are_the_images_of_scikit_learn_in_0_to_1():
    from sklearn.datasets import load_digits

    data = digits()
    np.testing.assert_array_equal(data.X.reshape(-1, 64) * 16, load_digits().data)
    assert data.X.shape == (1797, 8, 8)
    assert (data.X.min(), data.X.max()) == (0.0, 1.0)
    assert data.classes == tuple(range(10))


def test_breast_cancer_has_names():
    data = breast_cancer()
    assert data.X.shape == (569, 30)
    assert data.class_names == ("malignant", "benign")
    assert data.feature_names[0] == "mean radius"


def test_two_moons_lie_on_their_circles_and_are_the_same_for_the_same_seed():
    clean = two_moons(500, noise=0.0, seed=3)
    centre = np.where(clean.y[:, None] == 0, [0.0, 0.0], [1.0, 0.5])
    np.testing.assert_allclose(np.linalg.norm(clean.X - centre, axis=1), 1.0)
    assert clean.y.sum() == 250
    assert clean.sha256 == two_moons(500, noise=0.0, seed=3).sha256
    assert clean.sha256 != two_moons(500, noise=0.0, seed=4).sha256


@pytest.mark.parametrize("arguments", [{"n": 1}, {"noise": -1.0}, {"seed": -1}, {"n": 2.5}])
def test_parameters_are_checked(arguments):
    with pytest.raises(ParameterError):
        two_moons(**arguments)


def test_the_profile_of_the_unit_square_is_a_density_and_the_rows_follow_it():
    side = 400
    middles = (np.arange(side) + 0.5) / side
    grid = np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 2)
    density = unit_square_density(grid)
    assert density.mean() == pytest.approx(1.0, abs=1e-4)
    assert unit_square_density([[1.5, 0.5], [-0.1, 0.2]]).tolist() == [0.0, 0.0]

    n = 20_000
    X = unit_square(n, seed=1).X
    assert X.min() >= 0
    assert X.max() <= 1
    observed, _, _ = np.histogram2d(X[:, 0], X[:, 1], bins=8, range=[[0, 1], [0, 1]])
    expected = density.reshape(8, 50, 8, 50).mean(axis=(1, 3)) * n / 64
    keep = expected > 5
    chi2 = ((observed - expected) ** 2 / expected)[keep].sum()
    assert chi2 < 1.6 * keep.sum()


def test_the_true_error_of_a_model_is_known():
    assert unit_square_pmi(unit_square_label, side=200) == 0.0
    data = unit_square(50_000, seed=2)
    for predict in (lambda X: np.zeros(len(X)), lambda X: X[:, 0] + X[:, 1] < 1.02):
        truth = unit_square_pmi(predict, side=500)
        observed = np.mean(predict(data.X) != data.y)
        assert observed == pytest.approx(truth, abs=4 * np.sqrt(truth * (1 - truth) / len(data)))


def test_points_must_be_in_the_plane():
    with pytest.raises(DataError, match=r"\(n, 2\)"):
        unit_square_label([[1.0, 2.0, 3.0]])


def test_benchmark_sets_say_where_they_must_be(monkeypatch, tmp_path):
    monkeypatch.delenv("FIREASSAY_DATA", raising=False)
    with pytest.raises(DataError, match="FIREASSAY_DATA is not set"):
        mnist()
    with pytest.raises(DataError, match=r"fashion-mnist.*no such file"):
        fashion_mnist(folder=tmp_path)
    with pytest.raises(ParameterError, match="part"):
        mnist("validation")


@real_data
def test_mnist_and_fashion_mnist():
    data = mnist("test")
    assert data.X.shape == (10_000, 28, 28)
    # The published class counts of the test set.
    assert np.bincount(data.y).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert np.bincount(fashion_mnist("test").y).tolist() == [1000] * 10


@real_data
def test_the_running_example_of_the_reliability_paper():
    data = load(f"{FOLDER}/reasdl/trainingdata_b.csv", label="l_i")
    assert data.X.shape == (5000, 2)
    assert data.feature_names == ("x_i1", "x_i2")
    assert data.ids[0] == "x_1"
