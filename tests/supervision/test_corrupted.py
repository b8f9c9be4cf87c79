"""Corrupted sets."""

import numpy as np
import pytest

from fireassay.core import ParameterError
from fireassay.data import breast_cancer, corruption_kinds
from fireassay.supervision import corrupted_set


def test_all_kinds_in_equal_shares_and_rows_in_order(digit_rows):
    X = digit_rows[2][:150]
    found = corrupted_set(X, severity=2, seed=3)
    kinds, counts = np.unique(found.kind, return_counts=True)
    assert set(kinds) == set(corruption_kinds())
    assert set(counts) == {10}
    bright = found.kind == "brightness"
    np.testing.assert_allclose(found.X[bright], np.clip(X[bright] + 0.22, 0, 1), atol=1e-6)
    np.testing.assert_array_equal(found.X, corrupted_set(X, severity=2, seed=3).X)
    assert len(found.frame()) == len(found) == 150


def test_torch_images_are_corrupted_as_images(digit_rows):
    X = digit_rows[2][:60]
    grey = np.repeat(X[:, None], 3, axis=1)
    found, expected = corrupted_set(grey, seed=1), corrupted_set(np.moveaxis(grey, 1, -1), seed=1)
    np.testing.assert_array_equal(found.X, np.moveaxis(expected.X, -1, 1))
    np.testing.assert_array_equal(found.kind, expected.kind)


def test_bounds_cut_off_what_a_model_does_not_take():
    X = breast_cancer().X
    free, cut = (corrupted_set(X, 5, bounds=b) for b in (None, (0.0, X.max())))
    assert free.X.min() < 0 == cut.X.min()
    np.testing.assert_array_equal(cut.X, free.X.clip(0.0, X.max()))


def test_tables_and_chosen_kinds():
    X = breast_cancer().X
    assert set(corrupted_set(X).kind) == set(corruption_kinds("tables"))
    assert set(corrupted_set(X, kinds=["noise"]).kind) == {"noise"}
    with pytest.raises(ParameterError, match="at least one"):
        corrupted_set(X, kinds=[])
