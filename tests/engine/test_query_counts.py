"""Queries made in workers are the model's queries, wherever the model lies in what is shared."""

import sys

import cloudpickle
import numpy as np
import pytest

from fireassay.classifiers import TemperatureScaled, as_classifier
from fireassay.core import ParameterError
from fireassay.engine import ExecutionError, Executor

cloudpickle.register_pickle_by_value(sys.modules[__name__])
X = np.linspace(0, 1, 40).reshape(20, 2)


def halves(X):
    return np.full((len(X), 2), 0.5)


class Holder:
    def __init__(self, model):
        self.inside = [{"deep": model}]


def asks_row_times(row, holder, direct):
    holder.inside[0]["deep"].predict_proba(X[:row])
    direct.predict_proba(X[:1])
    return row


def asks_and_fails(row, model):
    model.predict_proba(X[:3])
    raise RuntimeError("after the question")


def probes_and_derives(row, model):
    model.loss_gradient(X.astype(np.float32)[:row], np.zeros(row, dtype=np.int64))
    return row


@pytest.mark.parametrize("workers", [1, 2])
def test_queries_of_every_model_in_there_are_counted_once(workers):
    deep, direct = as_classifier(halves), as_classifier(halves)
    deep.predict_proba(X)
    wrapped = TemperatureScaled(deep, 2.0)
    shared = {"holder": Holder(wrapped), "direct": direct}
    rows = [1, 2, 3, 4, 5, 6]
    assert Executor(workers).map(asks_row_times, rows, shared) == rows
    assert (deep.queries, direct.queries, wrapped.queries) == (20 + 21, 6, 20 + 21)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_task_that_fails_has_asked_all_the_same(workers):
    model = as_classifier(halves)
    with pytest.raises(ExecutionError):
        Executor(workers).map(asks_and_fails, range(4), {"model": model})
    assert model.queries == 12


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_gradient_queries_are_counted_too(workers):
    torch = pytest.importorskip("torch")
    model = as_classifier(torch.nn.Linear(2, 2), classes=(0, 1), output="logits")
    Executor(workers).map(probes_and_derives, [2, 3], {"model": model})
    assert (model.queries, model.gradient_queries) == (5, 5)


def test_a_budget_stays_in_one_process():
    model = as_classifier(halves, max_queries=100)
    shared = {"holder": Holder(TemperatureScaled(model, 2.0)), "direct": as_classifier(halves)}
    with pytest.raises(ParameterError, match="max_queries=100 and several"):
        Executor(2).map(asks_row_times, [1], shared)
    assert model.queries == 0
    assert Executor(1).map(asks_row_times, [1], shared) == [1]


@pytest.mark.extras
@pytest.mark.filterwarnings("default")
def test_threads_of_a_cluster_worker_do_not_count_for_each_other(two_workers):
    with two_workers(threads=3) as cluster:
        deep, direct = as_classifier(halves), as_classifier(halves)
        shared = {"holder": Holder(deep), "direct": direct}
        rows = [1 + i % 20 for i in range(200)]
        Executor(cluster=cluster.scheduler_address).map(asks_row_times, rows, shared)
        assert (deep.queries, direct.queries) == (sum(rows), 200)
        budgeted = {**shared, "direct": as_classifier(halves, max_queries=9)}
        with pytest.raises(ParameterError, match="budget must stay in one process"):
            Executor(cluster=cluster.scheduler_address).map(asks_row_times, [1], budgeted)
