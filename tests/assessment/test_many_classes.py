"""A thousand classes: few passes over the answers, and the numbers of a full sort."""

import numpy as np
import pytest

from fireassay.assessment import calibration_check
from fireassay.assessment.accuracy_rows import rows_of_classes, top_columns
from fireassay.core.errors import ProbabilityError
from fireassay.core.validation import check_probabilities
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


def test_rows_of_classes_are_those_of_masks():
    labels = np.random.default_rng(0).integers(0, 5, 60)
    for c, rows in enumerate(rows_of_classes(labels, 7)):
        assert (rows == np.flatnonzero(labels == c)).all()


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
    whole = calibration_check.calibration_check(p, labels, **given)
    assert whole.fitted == 600
    assert whole.error.value == pytest.approx(expected_calibration_error(p, labels).value)
    monkeypatch.setattr(calibration_check, "_FIT_NUMBERS", 300 * 50)
    some = calibration_check.calibration_check(p, labels, **given)
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
