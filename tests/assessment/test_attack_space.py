import numpy as np
import pandas as pd
import pytest

import fireassay as fa
from fireassay.assessment.coded_rows import coded
from fireassay.assessment.context import Context
from fireassay.assessment.parts.attack_space import attack_space
from fireassay.attacks import hopskipjump
from fireassay.data import DataSet, from_frame


def grams_and_metres(X):
    """Decides by metres alone; grams are three orders of magnitude larger."""
    p = 1 / (1 + np.exp(-20 * (X[:, 1] - 0.5)))
    return np.column_stack([1 - p, p])


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return np.column_stack([rng.uniform(0, 5000, 60), rng.uniform(0, 1, 60), np.full(60, 7.0)])


def test_every_feature_is_on_the_scale_of_its_own_range(table):
    model, space = attack_space(Context(fa.as_classifier(grams_and_metres), DataSet(table)))
    rows = space.inside(table)
    assert rows[:, :2].min() == 0
    low, high = np.quantile(table, [0.05, 0.95], axis=0)
    spread = (table.max(axis=0) - table.min(axis=0)) / np.where(high > low, high - low, 1)
    np.testing.assert_allclose(rows.max(axis=0), spread)
    np.testing.assert_allclose(model.predict_proba(rows), grams_and_metres(table), atol=1e-9)
    assert space.reals.tolist() == [True, True, False]


def test_attacks_stay_in_the_range_of_the_data(table):
    model, space = attack_space(Context(fa.as_classifier(grams_and_metres), DataSet(table)))
    rows = space.inside(table)
    out = hopskipjump(model, rows, norm="linf", max_queries=200)
    assert (out.status == "found").mean() > 0.9
    found = space.outside(out.adversarial)
    assert (found >= table.min(axis=0) - 1e-9).all()
    assert (found <= table.max(axis=0) + 1e-9).all()
    moved = np.abs(out.adversarial - rows)[out.status == "found"]
    assert (moved[:, 1] > 0).mean() > 0.9
    assert (moved[:, 2] == 0).all()


def test_names_do_not_move():
    frame = pd.DataFrame({"sex": ["f", "m"] * 5, "age": np.arange(10.0), "label": [0, 1] * 5})
    data = from_frame(frame, label="label")
    model = fa.as_classifier(lambda X: np.full((len(X), 2), 0.5), classes=(0, 1))
    mask = attack_space(coded(Context(model, data)))[1].reals
    assert dict(zip(data.feature_names, mask.tolist(), strict=True)) == {"sex": False, "age": True}


def test_declared_bounds_change_nothing(table):
    model = fa.as_classifier(grams_and_metres, bounds=(0, 5000))
    attacked, space = attack_space(Context(model, DataSet(table)))
    assert attacked is model
    assert np.array_equal(space.inside(table), table)
