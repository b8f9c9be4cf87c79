"""Rows are found by their bytes, and by nothing less."""

import numpy as np
import pytest

from fireassay.core import row_index
from fireassay.core.row_index import RowIndex, row_marks

X = np.random.default_rng(0).normal(size=(300, 5))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u1"])
def test_rows_are_found_where_they_stand(dtype):
    own = (50 * X).astype(np.int8).astype(dtype)
    index = RowIndex(own)
    order = np.random.default_rng(1).permutation(len(own))
    found = index.find(own[order])
    assert (own[found] == own[order]).all()
    first = {row.tobytes(): i for i, row in reversed(list(enumerate(own)))}
    assert found.tolist() == [first[row.tobytes()] for row in own[order]]


def test_a_stretch_of_the_set_itself_needs_no_marks(monkeypatch):
    monkeypatch.setattr(row_index, "row_marks", None)
    assert RowIndex(X).find(X[7:10]).tolist() == [7, 8, 9]


@pytest.mark.parametrize("other", [np.nextafter(X, 9.0), -X * 0.0, X.astype("f4"), X[:, :4]])
def test_what_differs_in_a_bit_is_nowhere(other):
    assert (RowIndex(X).find(other) == -1).all()


def test_zero_and_minus_zero_are_two_rows():
    assert RowIndex(np.array([[0.0, 1.0]])).find(np.array([[-0.0, 1.0]])).tolist() == [-1]


def test_rows_with_the_same_mark_are_told_apart(monkeypatch):
    monkeypatch.setattr(row_index, "row_marks", lambda rows: np.zeros(len(rows), np.uint64))
    assert RowIndex(X[:3]).find(X[[0, 1]]).tolist() == [0, -1]


def test_marks_of_simple_numbers_hardly_ever_agree():
    grid = np.stack(np.meshgrid(*[np.arange(32.0)] * 3), axis=-1).reshape(-1, 3)
    assert len(np.unique(row_marks(grid))) == len(grid)
