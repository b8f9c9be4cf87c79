import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireassay.core import DataError, json_files

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text() | st.sampled_from(["$float", "$literal"]), inner, max_size=4)
    ),
    max_leaves=20,
)


def same(a, b):
    if isinstance(a, float) and math.isnan(a):
        return isinstance(b, float) and math.isnan(b)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


@given(json_values)
def test_round_trip_is_exact_and_strict(value):
    text = json_files.dumps(value)
    json.loads(text, parse_constant=lambda name: pytest.fail(f"bare {name}"))
    assert same(json_files.loads(text), value)


def test_equal_values_give_equal_text():
    assert json_files.dumps({"b": 1, "a": [0.1]}) == json_files.dumps({"a": [0.1], "b": 1})


def test_numpy_scalars_and_arrays_become_plain():
    assert json_files.loads(json_files.dumps({"a": np.float64(0.1), "b": np.arange(2)})) == {
        "a": 0.1,
        "b": [0, 1],
    }


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": 1, "a": 2}', "{", b"\xff\xfe{"])
def test_refuses_what_is_not_strict(text):
    with pytest.raises(DataError, match="strict JSON"):
        json_files.loads(text)


@pytest.mark.parametrize("value", [{1: 2}, {"a": object()}, {1, 2}])
def test_refuses_what_json_cannot_hold(value):
    with pytest.raises(DataError):
        json_files.dumps(value)
