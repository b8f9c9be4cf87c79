import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fireassay.core import DataError, ParameterError, ProbabilityError
from fireassay.core import validation as v
from fireassay.data import DataSet


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((0, 3)), "at least 1 row"),
        (np.zeros((3, 0)), "at least one feature"),
        (np.zeros(3), "reshape"),
        (np.zeros((2, 2), dtype=complex), "real numbers"),
        (np.array([["a", "b"]]), "real numbers"),
        (np.array([["a", 1.0]], dtype=object), "must be numbers"),
        ([[1.0], [1.0, 2.0]], "rectangular"),
        ([[1.0, np.nan], [0.0, 0.0]], "first in row 0"),
        ([[1.0, 1.0], [0.0, np.inf]], "first in row 1"),
    ],
)
def test_bad_features_are_refused(X, message):
    with pytest.raises(DataError, match=message):
        v.check_features(X)


def test_unusual_but_honest_arrays_are_accepted(tmp_path):
    read_only = np.ones((2, 2))
    read_only.flags.writeable = False
    memmap = np.memmap(tmp_path / "m", dtype=np.float64, mode="w+", shape=(2, 2))
    for X in (read_only, memmap, np.ones((4, 2))[::2], np.ones((2, 2), dtype=object)):
        assert v.check_features(X).dtype == np.float64
    assert v.check_features(np.ones((2, 2), dtype=np.float16)).dtype == np.float32
    assert v.check_features(np.ones((2, 2), dtype=np.float32)).dtype == np.float32
    assert v.check_features(np.ones((2, 2), dtype=np.uint8)).dtype == np.float64


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.0, np.nan], "NaN"),
        ([0.0, 0.5], "continuous"),
        (np.eye(3), "one-hot"),
        ([1j], "complex"),
        (np.array(["a", None], dtype=object), "no label in row 1"),
        (np.array(["a", 1], dtype=object), "one type"),
    ],
)
def test_bad_labels_are_refused(y, message):
    with pytest.raises(DataError, match=message):
        v.check_labels(y)


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ([1.0, 0.0], [1, 0]),
        ([[1], [0]], [1, 0]),
        ([True, False], [True, False]),
        (["b", "a"], ["b", "a"]),
        ([-1, 7], [-1, 7]),
    ],
)
def test_labels_of_many_kinds_are_accepted(y, expected):
    assert v.check_labels(y).tolist() == expected


def test_class_indices_follow_the_models_order_and_name_strangers():
    assert v.check_class_indices(["b", "a"], ("b", "a")).tolist() == [0, 1]
    assert v.check_class_indices([5, 9, 5], np.array([9, 5])).tolist() == [1, 0, 1]
    with pytest.raises(DataError, match="'c'"):
        v.check_class_indices(["a", "c"], ("a", "b"))


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([[0.5, np.nan]], "NaN in row 0"),
        ([[0.5, 0.6]], "output='logits'"),
        ([[2.0, -1.0]], "output='logits'"),
        ([[np.inf, 0.0]], "output='logits'"),
        ([0.5, 0.5], "labels only"),
        ([[1.0]], "at least two columns"),
        ([["a", "b"]], "real numbers"),
    ],
)
def test_what_is_not_a_probability_is_refused(p, message):
    with pytest.raises(ProbabilityError, match=message):
        v.check_probabilities(p)


def test_wrong_shape_against_the_expected_one():
    p = [[0.5, 0.5]]
    with pytest.raises(ProbabilityError, match="2 rows"):
        v.check_probabilities(p, n=2)
    with pytest.raises(ProbabilityError, match="3 columns"):
        v.check_probabilities(p, n_classes=3)


@given(
    hnp.arrays(
        np.float32,
        st.tuples(st.integers(1, 5), st.integers(2, 5)),
        elements=st.floats(2**-10, 1, width=32),
    )
)
def test_float32_rows_are_renormalised_exactly(raw):
    p = v.check_probabilities(raw / raw.sum(axis=1, keepdims=True))
    assert p.dtype == np.float64
    assert np.abs(p.sum(axis=1) - 1).max() < 1e-15 * p.shape[1]


def test_parameters_say_their_range():
    with pytest.raises(ParameterError, match=r"'alpha' parameter must be a float in \(0, 1\)"):
        v.check_real(1.5, "alpha", low=0, high=1)
    with pytest.raises(ParameterError, match="int >= 1"):
        v.check_integer(0, "n", low=1)
    with pytest.raises(ParameterError, match="'a', 'b'"):
        v.check_choice("c", "mode", ("a", "b"))
    with pytest.raises(DataError, match="X has 2, y has 3"):
        v.check_lengths(X=2, y=3)
    for bad in (float("nan"), True, "0.5", None):
        with pytest.raises(ParameterError):
            v.check_real(bad, "alpha", low=0, high=1)
    assert v.check_real(1, "share", low=0, high=1, inclusive="both") == 1.0


@pytest.mark.parametrize("check", [v.check_features, v.check_labels, v.check_probabilities])
def test_masked_arrays_are_refused(check):
    hidden = np.ma.masked_array([[0.5, 0.5], [0.5, 0.5]], mask=[[0, 0], [1, 0]])
    with pytest.raises(DataError, match="masked array with 1 hidden"):
        check(hidden)
    with pytest.raises(DataError, match="masked array"):
        DataSet(hidden)
    with pytest.raises(DataError, match="masked array"):
        DataSet(hidden.filled(0), ids=np.ma.masked_array([1, 2], mask=[0, 1]))


@pytest.mark.parametrize("said", [np.array(["yes", "no"]), np.array(["yes", "no"], dtype=object)])
def test_labels_for_probabilities_are_told_what_to_pass(said):
    with pytest.raises(ProbabilityError, match="output='labels' and classes="):
        v.check_probabilities(said)
