"""Test prioritisation."""

import numpy as np
import pytest

from fireassay.core import DataError, ParameterError
from fireassay.supervision import prioritise


def apfd(order, wrong):
    """The textbook formula: 1 − Σ places of the faults / (n m) + 1 / (2 n)."""
    places = np.flatnonzero(wrong[order]) + 1
    n, m = len(wrong), wrong.sum()
    return 1 - places.sum() / (n * m) + 1 / (2 * n)


def test_apfd_is_the_textbook_one():
    rng = np.random.default_rng(0)
    scores, wrong = rng.random(200), rng.random(200) < 0.2
    found = prioritise(scores, wrong)
    assert found.apfd.value == pytest.approx(apfd(found.order, wrong))
    assert found.apfd.low < found.apfd.value < found.apfd.high
    assert found.best == pytest.approx(apfd(np.argsort(~wrong, kind="stable"), wrong))


def test_ties_count_as_a_random_order():
    wrong = np.array([True, False, False, True])
    assert prioritise(np.zeros(4), wrong).apfd.value == pytest.approx(0.5)


def test_perfect_order_and_found_share():
    found = prioritise([3.0, 1.0, 2.0], [True, False, False])
    assert found.order.tolist() == [0, 2, 1]
    assert found.found.tolist() == [1.0, 1.0, 1.0]
    assert found.apfd.value == found.best
    assert "faults_found" in found.charts()
    assert list(found.frame()["row"]) == [0, 2, 1]


def test_ambiguous_rows_come_first_for_testing_and_last_for_learning():
    scores, ambiguity = np.zeros(4), np.array([0.0, 1.0, 0.0, 0.0])
    assert prioritise(scores, ambiguity=ambiguity).order[0] == 1
    assert prioritise(scores, ambiguity=ambiguity, purpose="active-learning").order[-1] == 1


def test_without_faults_there_is_no_apfd():
    assert prioritise([1.0, 2.0], [False, False]).apfd is None
    assert prioritise([1.0, 2.0]).order.tolist() == [1, 0]


def test_bad_arguments():
    with pytest.raises(DataError, match="'wrong' must be"):
        prioritise([1.0, 2.0], [True])
    with pytest.raises(DataError, match="finite"):
        prioritise([1.0, np.nan])
    with pytest.raises(ParameterError, match="purpose"):
        prioritise([1.0], purpose="fun")
