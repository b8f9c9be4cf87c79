"""Slices through an assessment: the worst is a number with a gate, small ones are said."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

import fireassay as fa
from fireassay.assessment.parts.slices import found_slice


@pytest.fixture(scope="module")
def clinic():
    """Right but in ward c, where every fourth label is another one."""
    rng = np.random.default_rng(0)
    X = rng.random((1500, 3))
    ward = rng.choice(["a", "b", "c"], 1500, p=[0.5, 0.4, 0.1])
    y = (X[:, 0] > 0.5) ^ ((ward == "c") & (rng.random(1500) < 0.25))
    return X, y.astype(int), ward


def model():
    return fa.as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1])


def test_the_worst_slice_has_a_gate(clinic):
    X, y, ward = clinic
    report = fa.evaluate(model(), X, y, ["accuracy", "reliability"], slices={"ward": ward})
    part = report["reliability"]
    inside = ward == "c"
    wrong = int(((X[:, 0] > 0.5) != y)[inside].sum())
    exact = stats.binomtest(wrong, int(inside.sum()), alternative="less")
    upper = part.estimates["worst_slice_upper"]
    assert upper.value == pytest.approx(exact.proportion_ci(1 - 0.025 / 3).high, rel=1e-9)
    assert report.verdict({"max": {"reliability.worst_slice_upper": 0.5}}).status == "pass"
    assert report.verdict({"max": {"reliability.worst_slice_upper": 0.05}}).status == "fail"
    assert report["reliability"].estimates["pmi_upper"].value < 0.05, "the whole looks good"
    assert report["accuracy"].estimates["largest_gap"].low > 0.1
    assert any("ward = c" in claim.text for claim in part.claims)


def test_a_slice_that_is_too_small_keeps_the_gate_open(clinic):
    X, y, ward = clinic
    ward = np.where(np.arange(1500) < 12, "tiny", "large")
    report = fa.evaluate(model(), X, y, "reliability", slices=pd.DataFrame({"ward": ward}))
    gates = {"max": {"reliability.worst_slice_upper": 0.5}}
    assert report.verdict(gates).status == "not enough evidence"
    found = {a.id: a for a in report["reliability"].assumptions}["slices-large-enough"]
    assert found.status == "contradicted"
    assert "ward = tiny (12)" in found.check
    accept = {"slices-large-enough": "tiny wards are pooled in the protocol"}
    assert report.verdict(gates, accept=accept).status == "pass"


def test_a_search_names_the_column_that_nobody_asked_about(clinic):
    X, y, ward = clinic
    X = np.column_stack([X, (ward == "c").astype(float)])
    part = fa.evaluate(model(), X, y, "accuracy")["accuracy"]
    assert part.estimates["found_slice_error"].low > 0.08
    assert any("column 3" in claim.text and claim.holds for claim in part.claims)


def test_false_alarms_of_each_slice(clinic):
    X, y, ward = clinic
    fitted = LogisticRegression().fit(X[:700], X[:700, 0] > 0.5)
    half = fa.as_classifier(lambda rows: fitted.predict_proba(rows), classes=[0, 1])
    report = fa.evaluate(
        half,
        X[700:],
        y[700:],
        "supervision",
        train=(X[:700], y[:700]),
        slices={"ward": np.where(ward[700:] == "c", "b", ward[700:])},
        settings={"supervision": {"supervisors": ("max-softmax",)}},
    )
    found = report["supervision"].estimates
    assert found["false_alarm"].value < found["worst_slice_false_alarm_upper"].value < 0.25


def test_a_slice_of_two_columns_that_no_half_confirms_is_seen_by_all_rows():
    """Five per cent of 2,000 rows, described by two columns, wrong five times as often."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng(100 + seed)
        X = rng.random((2000, 6))
        inside = (X[:, 0] > 0.776) & (X[:, 1] > 0.776)
        wrong = rng.random(2000) < np.where(inside, 0.2, 0.04)
        found.append(found_slice(X, wrong, list("abcdef"), seed=seed))
    assert sum(slice_ is not None and slice_.confirmed for slice_ in found) >= 6
