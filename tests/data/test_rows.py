import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fireassay.core import DataError, ParameterError
from fireassay.data import Codebook, Rows
from fireassay.data.codebook import text_features

WILD = pd.DataFrame(
    {
        "real": [1.5, -2.25, np.nan, 1e30],
        "float32": np.array([0.1, 0.2, 0.3, np.nan], dtype=np.float32),
        "integer": [3, -4, 5, 2**53],
        "huge": np.array([2**63 - 1, 0, -(2**62) - 1, 7]),
        "small": np.array([1, 2, 3, 255], dtype=np.uint8),
        "nullable": pd.array([1, None, 3, 2**60 + 1], dtype="Int64"),
        "flag": [True, False, True, True],
        "maybe": pd.array([True, None, False, True], dtype="boolean"),
        "word": ["x", None, "=cmd()", "nan"],
        "string": pd.array(["x", None, "", "y"], dtype="string"),
        "level": pd.Categorical(["b", None, "a", "b"], categories=["c", "b", "a"], ordered=True),
        "day": pd.to_datetime(
            ["2020-01-01T01", None, "1969-07-20", "2262-01-01"], format="ISO8601"
        ),
        "zone": pd.to_datetime(["2020-01-01", "2021-01-01", None, "2020-01-01"], utc=True),
        "span": pd.to_timedelta(["1 day", None, "3 ns", "1 day"]),
        "mixed": [1, "one", 1.5, None],
    }
)


def test_codes_come_back_as_the_same_rows_with_the_same_types():
    rows = Rows(WILD)
    codes = rows.encode()
    assert codes.dtype == np.float64
    assert np.isfinite(codes).all()
    pd.testing.assert_frame_equal(rows.decode(codes), WILD, check_exact=True)


def test_codes_that_travelled_to_the_unit_square_and_back_are_the_same_rows():
    frame = WILD.drop(columns=["real", "float32", "integer"])
    rows = Rows(frame)
    codes = rows.encode()
    low, span = codes.min(axis=0), np.maximum(np.ptp(codes, axis=0), 1)
    back = low + ((codes - low) / span) * span
    pd.testing.assert_frame_equal(rows.decode(back), frame)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.floats(-1e9, 1e9)),
            st.integers(-(2**53), 2**53),
            st.one_of(st.none(), st.text()),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_any_table_comes_back(items):
    frame = pd.DataFrame(
        {
            "a": np.array([np.nan if item[0] is None else item[0] for item in items]),
            "b": [item[1] for item in items],
            "c": pd.Series([item[2] for item in items], dtype=object),
        }
    )
    rows = Rows(frame)
    pd.testing.assert_frame_equal(rows.decode(rows.encode()), frame, check_exact=True)


@pytest.mark.parametrize(
    "values",
    [
        np.array([[1, 5], [7, -3]], dtype=np.int32),
        np.array([[[1, 5]], [[7, 3]]], dtype=np.uint8),
        np.array([[1.5, np.nan], [np.nan, 2.0]], dtype=np.float32),
        np.array([[[1.5, np.nan]], [[0.0, 2.0]]]),
        np.array(["a", "", "東京"], dtype=object),
    ],
    ids=["int32", "uint8", "holes", "series with holes", "text"],
)
def test_arrays_and_texts_come_back(values):
    rows = Rows(values)
    back = rows.decode(rows.encode())
    assert back.dtype == values.dtype
    np.testing.assert_array_equal(back, values)


def test_plain_floats_are_their_own_codes_and_view():
    values = np.random.default_rng(0).random((4, 3, 2)).astype(np.float32)
    rows = Rows(values)
    assert rows.encode() is values
    assert rows.decode(values) is values
    np.testing.assert_array_equal(rows.view(), values)


@pytest.mark.parametrize(
    ("column", "code", "words"),
    [(1, 40.5, "whole numbers"), (2, 0.5, "whole numbers"), (2, 2.0, "2 known values"),
     (2, -1.0, "2 known values")],
)  # fmt: skip
def test_codes_that_stand_for_nothing_are_refused(column, code, words):
    rows = Rows(pd.DataFrame({"x": [0.5, 1.5], "age": [40, 50], "sex": ["f", "m"]}))
    codes = rows.encode()
    codes[0, column] = code
    with pytest.raises(DataError, match=words):
        rows.decode(codes)


def test_one_book_for_rows_of_several_files():
    test = Rows(pd.DataFrame({"n": [1, 2], "word": ["a", "b"]}))
    field = Rows(pd.DataFrame({"n": [1.5, np.nan], "word": ["c", None]}))
    book = Codebook.of(test, field)
    pd.testing.assert_frame_equal(book.decode(book.encode(field)), field.values)
    back = book.decode(book.encode(test))
    assert back["n"].tolist() == [1.0, 2.0]
    assert back["word"].tolist() == ["a", "b"]
    with pytest.raises(DataError, match="'z' in row 0"):
        book.encode(Rows(pd.DataFrame({"n": [1], "word": ["z"]})))


def test_the_book_is_known_by_what_codes_stand_for_and_not_by_the_view():
    texts = [Codebook.of(Rows(np.array(words, dtype=object))) for words in (["a", "b"], ["a", "c"])]
    assert texts[0].sha256 != texts[1].sha256
    again = Codebook.of(Rows(np.array(["b", "a", "a"], dtype=object)))
    assert again.sha256 == texts[0].sha256  # the same texts, whatever their order


def test_the_view_measures_what_a_person_would_call_distance():
    frame = pd.DataFrame(
        {
            "age": [30.0, 31.0, 80.0, np.nan],
            "ward": ["A", "A", "B", None],
            "day": pd.to_datetime(["2020-01-01", "2020-01-02", "2024-01-01", None]),
        }
    )
    view = Rows(frame).view()
    assert view.shape[0] == 4
    assert np.isfinite(view).all()
    near, far = np.linalg.norm(view[0] - view[1]), np.linalg.norm(view[0] - view[2])
    assert near < 0.1 * far
    scaled = Rows(frame.assign(age=frame["age"] * 1000)).view()
    np.testing.assert_allclose(scaled, view)


def test_kinds_are_given_or_told_by_the_types():
    assert set(Rows(WILD).kinds) == {"real", "integer", "category", "date"}
    long = [f"a sentence with some words, number {i}" for i in range(60)]
    assert Rows(pd.DataFrame({"note": long})).kinds == ("text",)
    assert Rows(np.zeros((2, 3, 50)), ("series",)).kinds == ("series",)
    assert Rows(np.zeros((2, 2)), ("real", "category")).kinds == ("real", "category")
    with pytest.raises(ParameterError, match="'number'"):
        Rows(np.zeros((2, 2)), ("number",))
    with pytest.raises(DataError, match="3 kinds for 2 columns"):
        Rows(np.zeros((2, 2)), ("real",) * 3)


def test_rows_without_a_hole_are_viewed_as_wide_as_those_with_one():
    rows = Rows(pd.DataFrame({"age": [40.5, None, 60.0], "seen": pd.to_datetime(
        ["2024-01-01", None, "2024-02-01"])}))  # fmt: skip
    book = rows.codebook
    codes = book.encode(rows)
    assert book.view(codes[[0, 2]]).shape[1] == book.view(codes).shape[1]
    np.testing.assert_array_equal(book.view(codes)[[0, 2]], book.view(codes[[0, 2]]))


def test_texts_that_share_letters_lie_closer():
    a, b, c = text_features(["the heart", "The hearts", "xylophone"])
    assert a @ b > a @ c
