"""Ambiguity with many classes or very large rows: what it learns from, and its price."""

import numpy as np
import pytest

from fireassay.assessment.context import Context
from fireassay.assessment.parts import ambiguity as part
from fireassay.assessment.parts.ambiguity import (
    LEAST_ROWS,
    MOST_PAIRS,
    confused_pairs,
    rows_to_learn_from,
    why_too_large,
)
from fireassay.classifiers import as_classifier
from fireassay.data import DataSet


def context(classes, shape=(8,), each=30):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(classes), each)
    X = rng.random((len(y), *shape)).astype(np.float32)
    X.reshape(len(y), -1)[:, 0] = (y + 0.3 * rng.normal(size=len(y))) / classes

    def model(rows):
        said = rows.reshape(len(rows), -1)[:, :1] * classes - np.arange(classes)
        p = np.exp(-(said**2))
        return p / p.sum(axis=1, keepdims=True)

    return Context(as_classifier(model, classes=list(range(classes))), DataSet(X, y))


@pytest.mark.parametrize("classes", [100, 1000])
def test_many_classes_are_planned_by_the_pairs_that_are_confused(classes):
    few, many = context(10), context(classes)
    cost = part.cost(many, part.Settings())
    usual = part.cost(few, part.Settings())
    assert cost.own_seconds < 2 * usual.own_seconds
    assert cost.memory_mb < usual.memory_mb + 100
    assert cost.queries == 1000 + len(many.test)  # asked once to find the pairs


def test_the_confused_pairs_are_neighbours_on_this_line():
    found = confused_pairs(context(100), context(100).test)
    assert len(found) == MOST_PAIRS
    assert all(b - a == 1 for a, b in found)


def test_large_rows_are_learnt_from_as_far_as_memory_goes(monkeypatch):
    rows = context(6).test
    monkeypatch.setattr(part, "MOST_NUMBERS", 8 * 4 * LEAST_ROWS)
    some, pairs = rows_to_learn_from(rows, [(0, 1), (2, 3), (4, 5), (0, 3)], seed=0)
    assert pairs == [(0, 1), (2, 3), (0, 3)]  # a fifth and sixth class would be too many
    assert np.unique(some.labels, return_counts=True)[1].tolist() == [LEAST_ROWS] * 4
    again, _ = rows_to_learn_from(rows, [(0, 1), (2, 3)], seed=0)
    assert again.sha256 == some.sha256


def test_all_pairs_share_the_rows(monkeypatch):
    monkeypatch.setattr(part, "MOST_NUMBERS", 8 * 75)
    some, pairs = rows_to_learn_from(context(3).test, "all", seed=0)
    assert pairs == "all"
    assert np.unique(some.labels, return_counts=True)[1].tolist() == [25] * 3


def test_rows_beyond_what_is_feasible_are_refused_in_words(monkeypatch):
    rows = context(3).test
    assert why_too_large(rows) is None
    monkeypatch.setattr(part, "MOST_NUMBERS", 8 * 39)
    assert "40 rows in memory" in why_too_large(rows)
    pytest.importorskip("torch")
    assert "40 rows in memory" in part.missing(context(3))
