import numpy as np
import pytest

pytest.importorskip("torch")

from fireassay.ambiguity import check_soft_labels
from fireassay.core import DataError

pytestmark = pytest.mark.extras


def test_labels_across_the_plane_agree_with_pair_classifiers(fitted, digits):
    wide = fitted.sample(300, delta_max=1.0)
    before = wide.sha256
    result = check_soft_labels(wide, digits.X, digits.y, members=3)
    assert wide.sha256 == before
    assert result.rank_correlation > 0.6
    assert result.label_error.value < 0.3
    assert result.label_error.low <= result.label_error.value <= result.label_error.high
    assert result.frame()["n"].sum() == len(wide)
    assert result.evidence().estimates["label_error"] == result.label_error


def test_shuffled_labels_are_found_out(fitted, digits):
    import dataclasses

    wide = fitted.sample(300, delta_max=1.0)
    honest = check_soft_labels(wide, digits.X, digits.y, members=2)
    rows, columns = np.arange(len(wide)), wide.pair_positions
    swapped = np.zeros_like(wide.soft_labels)
    swapped[rows, columns[:, 0]] = wide.soft_labels[rows, columns[:, 1]]
    swapped[rows, columns[:, 1]] = wide.soft_labels[rows, columns[:, 0]]
    wrong = check_soft_labels(
        dataclasses.replace(wide, soft_labels=swapped), digits.X, digits.y, members=2
    )
    assert wrong.rank_correlation < 0 < honest.rank_correlation
    assert wrong.label_error.value > honest.label_error.value


def test_missing_class_is_named(amb, digits):
    rows = digits.y != 8
    with pytest.raises(DataError, match="0 of class 8"):
        check_soft_labels(amb, digits.X[rows], digits.y[rows])
