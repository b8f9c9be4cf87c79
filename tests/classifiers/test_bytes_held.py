"""Guards that do not depend on a quiet machine: bytes held per row, checks per number."""

import tracemalloc

import numpy as np
import pytest

from fireassay import as_classifier
from fireassay.classifiers import answers
from fireassay.classifiers.asking import Answers
from fireassay.core.errors import ModelError

ROWS, CLASSES = 20_000, 100


def uniform(rows):
    return np.full((len(rows), CLASSES), 1 / CLASSES, dtype=np.float32)


def test_many_answers_are_held_once():
    X = np.zeros((ROWS, 2), dtype=np.float32)
    model = as_classifier(uniform)
    model.predict_proba(X[:256])
    tracemalloc.start()
    found = model.predict_proba(X)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.nbytes == 4 * ROWS * CLASSES  # float32, as it came
    assert found.nbytes <= most < 1.2 * found.nbytes


def test_each_answer_is_checked_once(monkeypatch):
    checked = []
    whole = answers.check_probabilities

    def counted(array, **options):
        checked.append(len(array))
        return whole(array, **options)

    monkeypatch.setattr(answers, "check_probabilities", counted)
    as_classifier(uniform).predict_proba(np.zeros((ROWS, 2), dtype=np.float32))
    assert sum(checked) == ROWS


def test_blocks_of_another_type_keep_their_digits():
    found = Answers(2)
    found.put(0, 1, (np.array([1], dtype=np.int64),))
    found.put(1, 2, (np.array([0.5]),))
    assert found.whole()[0].tolist() == [1.0, 0.5]


def test_blocks_of_another_shape_are_refused():
    found = Answers(2)
    found.put(0, 1, (np.zeros((1, 3)),))
    with pytest.raises(ModelError, match="from row 1 on"):
        found.put(1, 2, (np.zeros((1, 1)),))
