"""An attack of the user's own goes through observe like those that come with the house."""

import numpy as np
import pytest

from fireassay import attacks, survival
from fireassay.classifiers import as_classifier
from fireassay.core.errors import ParameterError
from fireassay.engine import Executor, RunStore


def uniform_noise(model, X, y=None, norm="linf", eps=0.1, tries=10, *, mask=None, seed=0):
    """Random points in the ball; it takes no limit of queries."""
    target = attacks.AttackedModel("noise", model, X, y, norm=norm, seed=seed, eps=eps, mask=mask)
    rows = target.begin(np.arange(target.n))
    generators = target.generators(rows)
    for _ in range(tries):
        noise = np.array([g.uniform(-eps, eps, target.original.shape[1]) for g in generators])
        if not len(rows):
            break
        points = target.within(target.original[rows] + noise, rows, eps)
        standing = np.flatnonzero(~target.check(points, rows))
        rows, generators = rows[standing], [generators[i] for i in standing]
    return target.result()


@pytest.fixture
def model():
    def probabilities(X):
        p = 1 / (1 + np.exp(-9 * (X[:, 0] - 0.5)))
        return np.column_stack([1 - p, p])

    return as_classifier(probabilities, classes=(0, 1), bounds=(0.0, 1.0))


X = np.random.default_rng(0).random((60, 3))
Y = (X[:, 0] > 0.5).astype(int)


@pytest.fixture
def registered():
    row = attacks.AttackRow("uniform-noise", uniform_noise, ("l2", "linf"), "random points")
    attacks.ATTACKS.register(row)
    yield row.name
    del attacks.ATTACKS._rows[row.name]


def test_by_name_and_as_a_function(model, registered):
    settings = {"eps": 0.3, "tries": 6}
    named = survival.observe(model, X, Y, [(registered, settings)], budget=4)
    given = survival.observe(model, X, Y, [(uniform_noise, settings)], budget=4)
    assert named.table.equals(given.table)
    assert set(named.table["attack"]) == {"uniform-noise"}
    fell = named.table[named.table["success"]]
    # A row further from the boundary than eps cannot fall; the budget of 4 counts, not the 7.
    reach = np.abs(X[fell["sample"], 0] - 0.5)
    assert 0 < len(fell) < len(named)
    assert reach.max() <= 0.3
    assert fell["upper"].max() <= 4
    assert named.table["queries"].max() == 7


def test_a_function_can_be_journalled_and_masked(model, tmp_path):
    free = np.array([False, True, True])
    with RunStore(tmp_path) as store:
        where = Executor(store=store)
        held = survival.observe(model, X, Y, [uniform_noise], mask=free, executor=where)
        assert held.table["success"].sum() == 0  # the model looks at nothing but the first feature
        sent = model.queries
        again = survival.observe(model, X, Y, [uniform_noise], mask=free, executor=where)
        assert model.queries - sent == len(X)  # the clean rows alone
    assert again.table.equals(held.table)


def test_what_a_function_cannot_do_is_refused(model):
    def unmaskable(model, X, y, *, seed):
        return uniform_noise(model, X, y, seed=seed)

    with pytest.raises(ParameterError, match="mask"):
        survival.observe(model, X, Y, [unmaskable], mask=np.array([True, True, False]))
    with pytest.raises(ParameterError, match="Did you mean boundary"):
        survival.observe(model, X, Y, ["boundry"])


def test_adversarial_inputs_are_those_of_the_rows_that_fell(model):
    found = survival.observe(
        model, X, Y, [(uniform_noise, {"eps": 0.4}), "boundary"], keep_adversarial=True, samples=20
    )
    fell = found.table[found.table["success"]]
    assert len(found.adversarial) == len(fell) > 10
    assert (model.predict(found.adversarial) != Y[fell["sample"]]).all()
    moved = np.abs(found.adversarial - X[fell["sample"]])
    assert moved[fell["attack"] == "uniform-noise"].max() <= 0.4
    assert found.table["sample"].nunique() <= 20
    assert survival.observe(model, X, Y, ["boundary"], budget=9).adversarial is None
