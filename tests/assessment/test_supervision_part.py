"""Supervision within an assessment: the same doors as from Python."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from fireassay import supervision
from fireassay.assessment.context import Context
from fireassay.assessment.parts import supervision as part
from fireassay.classifiers import as_classifier
from fireassay.core import generator
from fireassay.data import DataSet, digits
from fireassay.supervision import SUPERVISORS, Supervisor, corrupted_set


@pytest.fixture
def context():
    data = digits()
    weights = np.random.default_rng(0).normal(size=(64, 10))

    def probabilities(X):
        z = np.exp(X.reshape(len(X), -1) @ weights)
        return z / z.sum(axis=1, keepdims=True)

    model = as_classifier(probabilities, classes=range(10), bounds=(0.0, 1.0))
    # Without labels nothing is attacked.
    return Context(
        model, DataSet(data.X[300:500]), data.subset(np.arange(150)), DataSet(data.X[500:600])
    )


def test_corrupted_rows_are_those_of_corrupted_set(context, monkeypatch):
    seen = {}
    compare = supervision.compare
    monkeypatch.setattr(supervision, "compare", lambda *a, **k: seen.update(k) or compare(*a, **k))
    settings = part.Settings(supervisors=("pcs",), samples=60, severity=4)
    answer = part.run(context, settings)
    rows = generator(context.seed, "supervision part").permutation(len(context.test))[:60]
    expected = corrupted_set(context.test.X[rows], severity=4, seed=context.seed)
    assert seen["sets"]["corrupted"].tobytes() == expected.X.tobytes()
    np.testing.assert_array_equal(seen["kinds"]["corrupted"], expected.kind)
    kinds = part.evidence(answer).tables["kinds"]
    assert {row[kinds.columns.index("kind")] for row in kinds.rows} >= set(expected.kind)


def test_suspicion_belongs_to_the_rows_that_were_scored(context):
    answer = part.run(context, part.Settings(supervisors=("pcs",), samples=60))
    scores, name = part.suspicion(answer, "operational", 100)
    assert name == "pcs"
    top = np.sort(context.model.predict_proba(context.operational.X), axis=1)
    np.testing.assert_allclose(scores, 1 - (top[:, -1] - top[:, -2]))
    scores, _ = part.suspicion(answer, "test", 200)
    assert not np.isnan(scores).any()


@pytest.mark.parametrize("grouped", [False, True])
def test_of_many_test_rows_some_are_scored_in_whole_groups(context, monkeypatch, grouped):
    monkeypatch.setattr(part, "NOMINAL_ROWS", 120)
    groups = np.arange(200) // 2
    test = replace(context.test, groups=groups if grouped else None)
    answer = part.run(replace(context, test=test), part.Settings(supervisors=("pcs",), samples=60))
    scored = np.concatenate([answer.kept["rows"][name] for name in ("nominal", "calibration")])
    assert len(np.unique(scored)) == 120
    if grouped:
        assert (np.bincount(groups[scored], minlength=100) % 2 == 0).all()


def test_a_supervisor_of_ones_own_is_taken_by_name(context, monkeypatch):
    monkeypatch.setattr(SUPERVISORS, "_rows", dict(SUPERVISORS._rows))

    @SUPERVISORS.register
    @dataclass(kw_only=True, eq=False)
    class SecondProbability(Supervisor):
        """The probability of the runner-up."""

        name: ClassVar[str] = "second-probability"
        needs: ClassVar[tuple[str, ...]] = ("probabilities",)

        def _score(self, reading):
            return np.sort(reading.probabilities, axis=1)[:, -2]

    answer = part.run(context, part.Settings(supervisors=("second-probability",), samples=60))
    assert set(answer.frame()["status"]) == {"done"}
    assert answer.result.recommended == "second-probability"
    assert "auroc_scrambled" in part.evidence(answer).estimates
