"""A plan from a run on few of the rows: checked by counts, never by a clock."""

import json

import numpy as np
import pytest

from fireassay.assessment.context import Context, Cost
from fireassay.assessment.parts.table import settings_models
from fireassay.assessment.plan.costs import plan_like
from fireassay.assessment.plan.plan import Plan, PlanRow, Speed, price_parts
from fireassay.assessment.run.folder import COSTS
from fireassay.assessment.run.loop import Run
from fireassay.classifiers import as_classifier
from fireassay.core import DataError
from fireassay.data import DataSet
from fireassay.engine import Executor, RunStore

SETTINGS = {name: each() for name, each in settings_models().items()}
SETTINGS["survival"] = SETTINGS["survival"].model_copy(
    update={"samples": 2000, "budget": 90, "eps": 0.45}
)
PARTS = ("accuracy", "survival", "reliability")


def context(n, store=None):
    X = np.random.default_rng(n).random((n, 3))

    def model(rows):
        p = 1 / (1 + np.exp(-12 * (rows[:, 0] - 0.5)))
        return np.column_stack([1 - p, p])

    data = DataSet(X, (X[:, 0] > 0.5).astype(int))
    wrapped = as_classifier(model, classes=(0, 1), bounds=(0, 1))
    return Context(wrapped, data, executor=Executor(store=store))


def test_a_small_run_tells_the_queries_of_the_whole(tmp_path):
    with RunStore(tmp_path) as store:
        Run(context(40, store), PARTS, SETTINGS).go()
    plain = price_parts(context(160), PARTS, SETTINGS)
    planned = plan_like(plain, tmp_path)
    whole = context(160)
    Run(whole, PARTS, SETTINGS).go()
    assert plain.queries > 1.5 * whole.model.queries  # attacks end before their budget does
    assert planned.queries == pytest.approx(whole.model.queries, rel=0.3)
    assert str(tmp_path) in str(planned)


def test_seconds_by_factor_memory_by_difference(tmp_path):
    before = {"queries": 100, "seconds": 2.0, "memory_mb": 150.0, "disk_mb": 1.0}
    taken = {"queries": 10, "seconds": 5.0, "memory_mb": 200.0, "disk_mb": 0.5, "labels": 1}
    costs = {"survival": {"planned": before, "actual": taken}}
    (tmp_path / COSTS).write_text(json.dumps(costs))
    rows = (
        PlanRow("survival", None, 1000, 7, 20.0, 400.0, 4.0),
        PlanRow("accuracy", None, 50, 7, 1.0, 100.0, 0.1),
    )
    found = plan_like(Plan(rows, 1e-6, 0), tmp_path)
    assert found.rows[0] == PlanRow("survival", None, 100, 7, 50.0, 450.0, 2.0)
    assert found.rows[1] == rows[1]


@pytest.mark.parametrize(("took", "whole"), [(4.5, 202.5), (8.0, 503.0), (1.0, 100.0)])
def test_the_start_of_a_small_run_does_not_grow_with_the_rows(tmp_path, took, whole):
    before = {"queries": 100, "seconds": 2.0, "memory_mb": 150.0, "disk_mb": 1.0}
    taken = {**before, "seconds": 99.0, "quiet_seconds": took}
    costs = {"accuracy": {"planned": before, "actual": taken}}
    (tmp_path / COSTS).write_text(json.dumps(costs))
    plan = Plan((PlanRow("accuracy", None, 10_000, 7, 200.0, 400.0, 4.0),), 1e-6, 0)
    assert plan_like(plan, tmp_path).rows[0].seconds == pytest.approx(whole)


def test_a_folder_without_costs_is_refused(tmp_path):
    with pytest.raises(DataError, match="costs"):
        plan_like(Plan((), 0.0, 0), tmp_path)


def test_rows_that_an_earlier_part_asked_are_priced_once():
    speed = Speed(per_query=1.0, per_call=0.0, per_gradient=0.0, probed=0)
    cost = Cost(queries=100, data_rows=80)
    assert speed.seconds(cost) == 100
    assert speed.seconds(cost, known=80) == 20
    assert speed.seconds(cost, known=30) == 70


def test_a_call_with_few_rows_is_not_priced_as_a_whole_block():
    sent = []

    def model(rows):
        sent.append(len(rows))
        return np.full((len(rows), 2), 0.5)

    X = np.random.default_rng(0).random((600, 3))
    wrapped = as_classifier(model, classes=(0, 1), bounds=(0, 1))
    price_parts(Context(wrapped, DataSet(X, np.arange(600) % 2)), ("survival",), SETTINGS)
    assert sent == [28, 4]
    assert (wrapped.queries, wrapped.rows_delivered) == (0, 32)  # nobody has asked yet
