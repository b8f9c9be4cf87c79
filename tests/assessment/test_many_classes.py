"""A thousand classes: few passes over the answers, and the numbers of a full sort."""

import sys
import tracemalloc

import numpy as np
import pytest

from fireassay import as_classifier
from fireassay.assessment.context import Context
from fireassay.assessment.parts import accuracy, accuracy_checks
from fireassay.assessment.parts.accuracy_result import top_columns
from fireassay.classifiers.answers import log_probabilities
from fireassay.core import validation
from fireassay.core.arrays import softmax
from fireassay.core.errors import ProbabilityError
from fireassay.core.validation import check_probabilities
from fireassay.data import DataSet
from fireassay.statistics import expected_calibration_error, reliability_curve
from fireassay.statistics.calibration import stated_curve


def answers(n, k, seed=0):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, k)).astype(np.float32)
    labels = rng.integers(0, k, n)
    logits[np.arange(n), labels] += 3
    p = np.exp(logits)
    return check_probabilities(p / p.sum(axis=1, keepdims=True)), labels


@pytest.mark.parametrize("k", [2, 3, 700])
def test_the_top_columns_are_those_of_a_stable_sort(k):
    p = np.round(answers(400, k)[0], 2)  # with many ties
    assert (top_columns(p, 3) == np.argsort(-p, axis=1, kind="stable")[:, :3]).all()


def test_the_check_of_answers_takes_and_refuses_what_it_did():
    p = np.array([[0.25, 0.75], [1.0005, -0.0005]], dtype=np.float32)
    assert check_probabilities(p).tolist() == [[0.25, 0.75], [1.0, 0.0]]
    for bad, said in (
        ([[0.5, 0.5], [np.nan, 1.0]], "NaN in row 1"),
        ([[0.5, 0.5], [1.2, -0.2]], "row 1"),
        ([[0.5, 0.4]], "row 0"),
        ([[0.5, 0.5], [np.inf, 0.5]], "row 1"),
    ):
        with pytest.raises(ProbabilityError, match=said):
            check_probabilities(np.array(bad))


def test_the_temperature_of_many_classes_is_fitted_on_some_rows(monkeypatch):
    p, labels = answers(1200, 50)
    given = {"confidence": 0.95, "groups": None, "seed": 0}
    whole = accuracy_checks.calibration_check(p, labels, **given)
    assert whole.fitted == 600
    assert whole.error.value == pytest.approx(expected_calibration_error(p, labels).value)
    monkeypatch.setattr(accuracy_checks, "_FIT_NUMBERS", 300 * 50)
    some = accuracy_checks.calibration_check(p, labels, **given)
    assert some.fitted == 300
    assert some.estimates()["temperature"].n == 300
    assert some.temperature == pytest.approx(whole.temperature, rel=0.1)
    assert some.after.n == whole.after.n == 600


def test_the_curve_from_stated_confidences_is_that_of_the_table():
    p, labels = answers(500, 20)
    curve = stated_curve(p.max(axis=1), p.argmax(axis=1) == labels, n_bins=10)
    expected = reliability_curve(p, labels, n_bins=10)
    assert (curve.accuracy == expected.accuracy).all()
    assert (curve.counts == expected.counts).all()


def linear(kind, rows_sent=None):
    weights = np.random.default_rng(2).normal(size=(5, 300)).astype(np.float32)

    def model(rows):
        if rows_sent is not None:
            rows_sent.append(len(rows))
        p = np.exp(rows @ weights)
        return (p / p.sum(axis=1, keepdims=True)).astype(kind)

    return as_classifier(model, classes=range(300))


def rows_of(n=2000):
    X = np.random.default_rng(3).normal(size=(n, 5)).astype(np.float32)
    return DataSet(X, linear(np.float32).predict_proba(X + 0.3).argmax(axis=1))


def accuracy_of(model, data):
    return accuracy.run(Context(model, data), accuracy.Settings())


def test_float32_answers_give_the_numbers_of_float64():
    data = rows_of()
    narrow, wide = (accuracy_of(linear(kind), data) for kind in (np.float32, np.float64))
    assert (narrow.rows.top == wide.rows.top).all()
    assert (narrow.rows.predicted == wide.rows.predicted).all()
    assert narrow.rows.predicted.dtype == wide.rows.predicted.dtype == np.int64
    first, second = (found.evidence().estimates for found in (narrow, wide))
    assert first.keys() == second.keys()
    for name, estimate in first.items():
        for end in ("value", "low", "high"):
            expected = pytest.approx(getattr(second[name], end), abs=1e-6)
            assert getattr(estimate, end) == expected, (name, end)


def test_accuracy_checks_each_answer_once_and_holds_one_table(monkeypatch):
    data, sent, checked = rows_of(6000), [], []
    whole = validation.check_probabilities

    def counted(array, **options):
        checked.append(len(array))
        return whole(array, **options)

    users = [m for m in sys.modules.values() if getattr(m, "check_probabilities", None) is whole]
    for module in users:
        monkeypatch.setattr(module, "check_probabilities", counted)
    monkeypatch.setattr(accuracy_checks, "_FIT_NUMBERS", 2**16)
    model = linear(np.float32, sent)
    own = Context(model, data)
    accuracy.run(own, accuracy.Settings())  # what is loaded or looked at once
    checked.clear()
    sent.clear()
    tracemalloc.start()
    accuracy.run(own, accuracy.Settings())
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.queries == 2 * len(data)
    assert sum(checked) == sum(sent) == len(data)
    table = 4 * len(data) * 300
    assert table <= most < 2 * table  # no float64 of all, no second table


def test_the_plan_prices_one_table_of_answers():
    X = np.zeros((4000, 1), dtype=np.float32)
    few, many = (
        accuracy.cost(
            Context(linear(np.float32), DataSet(X, np.arange(4000) % k)), accuracy.Settings()
        )
        for k in (2, 2000)
    )
    each = 1e6 * (many.memory_mb - few.memory_mb) / (4000 * 1998)
    assert 4 <= each <= 16  # float32 alone, and twice float64


def test_the_top_probability_after_a_temperature_is_that_of_the_softmax():
    p, _ = answers(400, 30)
    p[0], p[0, 4] = 0, 1
    rows = np.arange(0, 400, 3)
    for temperature in (0.05, 1.0, 2.5, 90.0):
        expected = softmax(log_probabilities(p[rows]) / temperature).max(axis=1)
        found = accuracy_checks._mended(p, rows, temperature)
        np.testing.assert_allclose(found, expected, rtol=1e-13)
        narrow = accuracy_checks._mended(p.astype(np.float32), rows, temperature)
        np.testing.assert_allclose(narrow, expected, rtol=2e-6)
