"""The form of rows is decided once, by type and shape, and can be declared."""

import numpy as np
import pandas as pd
import pytest

from fireassay.core.errors import DataError, ParameterError
from fireassay.data import DataSet, load
from fireassay.data.rows import Rows


@pytest.mark.parametrize(
    ("shape", "form"),
    [
        ((6, 28, 28), "image"),  # digits
        ((6, 8, 8), "image"),
        ((6, 32, 256), "image"),  # lines of handwriting, 0 to 1
        ((6, 3, 32, 32), "image"),
        ((6, 32, 32, 1), "image"),
        ((6, 1, 187), "series"),  # one lead of an ECG
        ((6, 12, 1000), "series"),  # twelve of them
        ((6, 128, 9), "series"),  # accelerometers, time first
        ((6, 5), "table"),
    ],
)
def test_a_shape_has_a_form(shape, form):
    rows = Rows(np.random.default_rng(0).random(shape))
    assert rows.form == form
    assert rows.why


def test_signals_of_many_channels_have_negative_values():
    rng = np.random.default_rng(0)
    assert Rows(rng.normal(size=(6, 64, 1000))).form == "series"
    assert Rows(rng.integers(0, 255, (6, 8, 64)).astype(np.uint8)).form == "image"


def test_whole_numbers_beyond_a_byte_are_tokens():
    rng = np.random.default_rng(0)
    assert Rows(rng.integers(0, 3000, (50, 64))).form == "tokens"
    assert Rows(rng.integers(0, 256, (50, 64))).form == "table"
    assert Rows(rng.integers(-9, 3000, (50, 64))).form == "table"


def test_texts_and_frames():
    assert DataSet(["one text", "another"]).rows.form == "text"
    assert DataSet(pd.DataFrame({"a": ["x", None]})).rows.form == "table"


def test_a_declared_form_stays_with_every_part_of_the_rows():
    data = DataSet(np.random.default_rng(0).random((9, 28, 28)), kinds=("series",))
    assert (data.rows.form, data.rows.why) == ("series", "declared")
    assert data.subset([0, 3]).rows.form == "series"
    assert DataSet(np.eye(4), form="recorded").subset([1]).rows.form == "recorded"


def test_a_part_of_the_rows_keeps_the_form_that_all_decided():
    X = np.abs(np.random.default_rng(0).normal(size=(9, 20, 100)))
    X[8, 0, 0] = -1.0
    data = DataSet(X)
    assert data.rows.form == "series"
    assert data.subset([0, 1]).rows.form == "series"  # none of these is negative
    assert data.rows.take([0, 1]).form == "series"


def test_files_take_a_kind(tmp_path):
    np.savez(tmp_path / "rows.npz", X=np.random.default_rng(0).random((9, 12, 100)) * 200)
    found = load(tmp_path / "rows.npz").rows  # no word of pixels up to 200
    assert (found.form, found.why[:16]) == ("series", "rows of 12 x 100")
    assert load(tmp_path / "rows.npz", kind="image", scale=200).rows.form == "image"
    with pytest.raises(DataError, match=r"must have 2 axes.*declare one of image, series"):
        load(tmp_path / "rows.npz", kind="tokens")


def test_a_form_that_does_not_fit_is_refused():
    with pytest.raises(DataError, match="at least 3 axes"):
        Rows(np.eye(3), ("image",))
    with pytest.raises(ParameterError, match="image, series, table"):
        Rows(np.eye(3), form="picture")
