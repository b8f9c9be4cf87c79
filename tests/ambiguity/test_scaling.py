import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fireassay.ambiguity.scaling import FeatureScaling, check_inputs
from fireassay.core import DataError


@given(
    arrays(
        float,
        (5, 3),
        elements=st.floats(-1e6, 1e6).map(lambda value: round(value, 3)),
    )
)
def test_scaling_maps_to_the_unit_interval_and_back(X):
    scaling = FeatureScaling.of(X)
    flat = scaling.flat(X)
    assert flat.dtype == np.float32
    assert ((flat >= 0) & (flat <= 1)).all()
    width = np.maximum(np.ptp(X, axis=0), 1.0)
    assert (np.abs(scaling.restored(flat) - X) <= 1e-6 * width + 1e-9).all()


def test_pixels_stay_as_they_are():
    X = np.array([[0.2, 0.9], [0.4, 0.5]], dtype=np.float32)
    assert (FeatureScaling.of(X).flat(X) == X).all()
    assert FeatureScaling.of(X).restored(X).dtype == np.float32


def test_constant_features_come_back():
    X = np.array([[7.0, 1.0], [7.0, 3.0]])
    scaling = FeatureScaling.of(X)
    assert (scaling.restored(np.array([[0.3, 0.5]])) == [[7.0, 2.0]]).all()


@pytest.mark.parametrize("dtype", [np.float16, np.uint8, np.int32, object])
def test_other_number_types_are_taken(dtype):
    X = np.array([[0, 1], [1, 0]], dtype=dtype)
    assert check_inputs(X).dtype.kind == "f"


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((0, 3)), "at least 2 row"),
        (np.zeros((1, 3)), "at least 2 row"),
        (np.ones((4, 3)), "identical rows"),
        (np.arange(4.0), "rows and features"),
        (np.full((3, 2), np.inf), "finite"),
        (np.array([["a", "b"], ["c", "d"]]), "real numbers"),
        (np.random.default_rng(0).integers(0, 256, (3, 4, 4)), "Divide by 255"),
    ],
)
def test_unusable_inputs_are_named(X, message):
    with pytest.raises(DataError, match=message):
        check_inputs(X)
