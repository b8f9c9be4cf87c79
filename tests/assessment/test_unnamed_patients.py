"""Rows of patients that nobody named must not end in a plain green."""

import numpy as np
import pytest

import fireassay as fa

LIMIT = {"max": {"accuracy.error": 0.15}}


def verdict(shuffled, gates=LIMIT, accept=None):
    """40 patients of 10 rows, noise 30 %, four columns; a model that is often right."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(40, 4)), 10, axis=0) + 0.3 * rng.normal(size=(400, 4))
    y = (X[:, 0] > 0).astype(int)
    if shuffled:
        order = rng.permutation(400)
        X, y = X[order], y[order]

    def model(rows):
        p = 1 / (1 + np.exp(-6 * rows[:, 0]))
        return np.column_stack([1 - p, p])

    report = fa.evaluate(fa.as_classifier(model, classes=[0, 1]), X, y, parts=["accuracy"])
    return report.verdict(gates, accept) if accept else report.verdict(gates)


def test_patients_one_after_the_other_are_not_enough_evidence():
    found = verdict(shuffled=False)
    assert found.status == "not enough evidence"
    assert "independent-rows" in found.checks[0].explanation


def test_a_pass_says_what_no_data_shows():
    found = verdict(shuffled=True)
    assert found.status == "pass"
    assert found.checks[0].presumed == ("independent-rows", "unseen-rows")
    assert "one patient" in found.checks[0].explanation
    assert "if the model was not trained on these rows" in found.checks[0].explanation
    assert "if rows are independent and rows are new to it" in found.headline


@pytest.mark.parametrize("shuffled", [True, False])
def test_somebody_can_vouch_for_it_and_is_quoted(shuffled):
    accept = {"independent-rows": "one row per patient, protocol 7", "unseen-rows": "protocol 3"}
    found = verdict(shuffled, accept=accept)
    assert found.status == "pass"
    assert "protocol 7" in found.checks[0].explanation
    assert found.checks[0].presumed == ()
    assert "if rows" not in found.headline
