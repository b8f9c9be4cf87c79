"""Every number of survival says what it is, and what it rests on."""

import numpy as np
import pandas as pd
import pytest

from fireassay import survival
from fireassay.classifiers import as_classifier
from fireassay.core.measure import find_measure


@pytest.fixture(scope="module")
def answers():
    return list(made())


def made():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=240), "attack": np.tile(["a", "b"], 120)})
    time = np.exp(1 + 0.6 * frame["x"]) * rng.exponential(size=240)
    frame["lower"] = np.minimum(time, 6.0)
    frame["upper"] = np.where(time > 6, np.inf, time)
    frame["model_id"] = np.arange(240) % 24
    X = rng.random((40, 2))
    model = as_classifier(
        lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]]), classes=(0, 1), bounds=(0, 1)
    )
    yield survival.observe(model, X, (X[:, 0] > 0.5).astype(int), budget=40)
    yield survival.kaplan_meier(frame, by="attack")
    yield survival.rmst(frame, by="attack")
    fitted = survival.fit(frame, "weibull", ["x", "attack"], groups="model_id")
    yield fitted
    yield survival.fit(frame, "cox", ["x"])
    yield survival.compare(frame, ["weibull", "cox"], covariates=["x"])
    yield survival.trash(fitted, 0.5)


def test_every_number_has_a_measure_and_known_assumptions(answers):
    for answer in answers:
        found = answer.evidence()
        ids = [assumption.id for assumption in found.assumptions]
        assert all(ids)
        assert len(set(ids)) == len(ids)
        assert found.estimates
        for name, estimate in found.estimates.items():
            assert find_measure(name, found.measures) is not None, name
            assert set(estimate.rests_on) <= set(ids)
        assert found.headline in str(answer)


def test_effects_rest_on_what_their_errors_assume(answers):
    grouped, alone = (
        answer.evidence()
        for answer in answers
        if isinstance(answer, survival.CoxFit | survival.AftFit)
    )
    assert "independent-rows" in grouped.estimates["effect_x"].rests_on
    status = {a.id: a.status for a in grouped.assumptions}
    assert status["independent-rows"] == "untestable"
    status = {a.id: a.status for a in alone.assumptions}
    assert status["independent-rows"] == "contradicted"
    assert "proportional-hazards" in alone.estimates["effect_x"].rests_on
