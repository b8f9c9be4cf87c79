import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireassay.core import Estimate, ParameterError


def test_prints_value_interval_and_n():
    estimate = Estimate(0.031, 0.020, 0.047, confidence=0.95, n=400, method="Clopper-Pearson")
    assert str(estimate) == "0.031 [0.020, 0.047] n=400"
    assert float(estimate) == 0.031
    assert f"{estimate:.2f}" == "0.03"


def test_small_numbers_keep_two_digits_of_their_width():
    assert str(Estimate(2e-6, 1e-6, 4e-6, 0.95, 10, "m")) == "0.0000020 [0.0000010, 0.0000040] n=10"


def test_a_bound_prints_without_a_fake_interval():
    bound = Estimate.bound(0.05, confidence=0.975, n=59, method="Clopper-Pearson upper bound")
    assert bound.kind == "bound"
    assert str(bound) == "0.050 n=59"


def test_nan_says_that_it_is_not_estimable():
    assert str(Estimate(math.nan, math.nan, math.nan, 0.95, 0, "m")) == "not estimable n=0"


def test_infinite_ends_are_printed():
    assert str(Estimate(3.0, 1.0, math.inf, 0.95, 5, "m")) == "3.000 [1.000, inf] n=5"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ((0.5, 0.6, 0.7, 0.95, 1, "m"), "low <= value <= high"),
        ((0.5, 0.4, 0.45, 0.95, 1, "m"), "low <= value <= high"),
        ((0.5, 0.4, 0.6, 1.0, 1, "m"), "must be in \\(0, 1\\)"),
        ((0.5, 0.4, 0.6, 0.95, -1, "m"), "at least 0"),
    ],
)
def test_refuses_what_cannot_be_an_estimate(fields, message):
    with pytest.raises(ParameterError, match=message):
        Estimate(*fields)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_round_trips_through_a_dict(a, b, c):
    low, value, high = sorted([a, b, c])
    estimate = Estimate(value, low, high, 0.9, 3, "m")
    assert Estimate.from_dict(estimate.to_dict()) == estimate
