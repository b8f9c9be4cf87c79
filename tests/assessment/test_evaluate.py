from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import fireassay as fa
from fireassay.core import FireassayWarning, ModelError, ParameterError


@pytest.fixture(scope="module")
def forest():
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(20, random_state=0).fit(X[:300], y[:300])
    return model, X[300:], y[300:]


def test_accuracy_has_the_exact_interval(forest):
    model, X, y = forest
    part = fa.evaluate(model, X, y, parts=["accuracy"])["accuracy"]
    hits = int((model.predict(X) == y).sum())
    exact = stats.binomtest(hits, len(y)).proportion_ci(0.95, method="exact")
    accuracy = part.estimates["accuracy"]
    assert accuracy.value == hits / len(y)
    assert (accuracy.low, accuracy.high) == pytest.approx((exact.low, exact.high), rel=1e-9)
    assert accuracy.n == len(y)
    assert part.provenance.queries == len(y)


def test_same_seed_same_bytes(forest, tmp_path):
    model, X, y = forest
    first = fa.evaluate(model, X, y, parts=["accuracy"], seed=1).to_json(tmp_path / "a.json")
    second = fa.evaluate(model, X, y, parts=["accuracy"], seed=1).to_json(tmp_path / "b.json")
    assert first.read_bytes() == second.read_bytes()


def test_without_labels_nothing_passes(forest):
    model, X, _ = forest
    part = fa.evaluate(model, X, parts=["accuracy"])["accuracy"]
    assert part.status == "not available"
    assert "labels" in part.reason


def test_a_model_that_never_answers_is_an_error(forest):
    _, X, y = forest
    model = fa.as_classifier(lambda rows: 1 / 0, classes=(0, 1))
    with pytest.raises(ModelError, match="division by zero"):
        fa.evaluate(model, X, y, parts=["accuracy"])


def test_a_part_that_breaks_is_a_warning_and_never_a_pass(forest, monkeypatch):
    from fireassay.assessment.parts.table import PARTS

    model, X, y = forest
    broken = replace(PARTS["reliability"], run=lambda context, settings: 1 / 0)
    monkeypatch.setitem(PARTS, "reliability", broken)
    with pytest.warns(FireassayWarning, match="reliability failed: ZeroDivisionError"):
        report = fa.evaluate(model, X, y, parts=["accuracy", "reliability"])
    assert report["accuracy"].status == "done"
    assert "division by zero" in report["reliability"].reason
    assert report.verdict({}).exit_code == 3
    with pytest.raises(ModelError, match="At least one part"):
        fa.evaluate(model, X, y, parts=["reliability"])


def test_zero_errors_is_still_an_interval():
    X = np.random.default_rng(0).random((50, 2))
    y = (X[:, 0] > 0.5).astype(int)
    perfect = fa.as_classifier(lambda rows: np.eye(2)[(rows[:, 0] > 0.5).astype(int)])
    error = fa.evaluate(perfect, X, y, parts=["accuracy"])["accuracy"].estimates["error"]
    assert error.value == 0
    assert error.high == pytest.approx(1 - 0.025 ** (1 / 50), rel=1e-9)


def test_repeated_rows_contradict_independence(forest):
    model, X, y = forest
    part = fa.evaluate(model, np.repeat(X, 2, axis=0), np.repeat(y, 2), parts=["accuracy"])
    assert part["accuracy"].assumptions[0].status == "contradicted"
    gates = {"min": {"accuracy.accuracy": 0.5}}
    assert part.verdict(gates).status == "not enough evidence"
    accept = {"independent-rows": "each row was seen by two readers"}
    assert part.verdict(gates, accept=accept).status == "pass"


def test_one_row_that_repeats_another_by_chance_contradicts_nothing(forest):
    model, X, y = forest
    found = fa.evaluate(model, np.vstack([X, X[:1]]), np.append(y, y[0]), parts=["accuracy"])
    assert found["accuracy"].assumptions[0].status == "untestable"
    assert "2 rows are the same as another" in found["accuracy"].assumptions[0].check


def test_unknown_parts_and_settings_are_refused(forest):
    model, X, y = forest
    with pytest.raises(ParameterError, match="Known parts"):
        fa.evaluate(model, X, y, parts=["magic"])
    with pytest.raises(ParameterError, match="Known parts"):
        fa.evaluate(model, X, y, settings={"magic": {}})
