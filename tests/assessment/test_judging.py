"""Looks at the same labels: which sets overlap, and what each look may spend."""

import numpy as np

from fireassay.assessment import judge
from fireassay.assessment.mlflow import metric_values
from fireassay.assessment.run.judging import RowSketch, fraction


def test_a_set_that_grew_is_known_again() -> None:
    few = RowSketch.of(np.arange(-100, 100))
    assert few.overlap(RowSketch.of(np.arange(-100, 300))) == 1.0
    assert few.overlap(RowSketch.of(np.arange(500))) == 0.5


def test_looks_share_the_error_probability() -> None:
    assert (fraction(1, None), fraction(3, 20), fraction(21, 20)) == (0.5, 0.05, 0.0)
    assert abs(sum(fraction(j, None) for j in range(1, 100_000)) - 1) < 1e-4


def test_numbers_have_names_that_mlflow_takes() -> None:
    found = metric_values(judge([0, 1] * 50, answers=[0, 1] * 50))
    assert (round(found["accuracy.error.high"], 3), found["accuracy.sensitivity/1"]) == (0.036, 1.0)
