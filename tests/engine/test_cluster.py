"""The same call on a Dask cluster: a scheduler and two worker processes on loopback."""

import os
import sys
import time
from pathlib import Path

import cloudpickle
import pytest

from fireassay.core import StoreError, codec, generator
from fireassay.engine import ExecutionError, Executor, Failure, RunStore
from fireassay.engine.cluster import _next_size, _result
from fireassay.engine.local import Outcome

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("default")]
distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
cloudpickle.register_pickle_by_value(sys.modules[__name__])


def noisy_mean(row, X):
    return {"mean": float((X.T @ X).mean()), "noise": generator(row, "noise").normal(size=3)}


def fails_on_three(row):
    if row == 3:
        raise RuntimeError("three")
    return row


def dies_once(row, flag):
    if row == 4 and not Path(flag).exists():
        with open(flag, "w"):
            pass
        time.sleep(0.1)
        os.kill(os.getpid(), 9)
    return row


def always_dies_on_thirty(row):
    if row == 30:
        time.sleep(0.2)
        os.kill(os.getpid(), 9)
    return row


def test_same_bytes_as_here_and_journalled_by_the_driver(tmp_path, cluster_address):
    X = generator(0, "X").normal(size=(300, 40))
    here = Executor(1).map(noisy_mean, range(30), {"X": X})
    with RunStore(tmp_path / "run") as store:
        there = Executor(cluster=cluster_address, store=store).map(
            noisy_mean, range(30), {"X": X}, name="noise"
        )
        assert store.progress("noise").done == 30
        resumed = Executor(1, store=store).map(noisy_mean, range(30), {"X": X}, name="noise")
    assert codec.to_bytes(here) == codec.to_bytes(there) == codec.to_bytes(resumed)


def test_a_client_of_ones_own_and_failures(cluster_address):
    with (
        distributed.Client(cluster_address, set_as_default=False) as client,
        pytest.raises(ExecutionError, match=r"row 3: RuntimeError: three"),
    ):
        Executor(cluster=client).map(fails_on_three, range(8))


def test_the_rows_of_a_worker_that_dies_go_to_another(tmp_path, cluster_address):
    flag = str(tmp_path / "died")
    found = Executor(cluster=cluster_address).map(dies_once, range(8), {"flag": flag})
    assert found == list(range(8))
    assert Path(flag).exists()


@pytest.mark.slow
def test_a_fatal_row_takes_no_other_row_with_it(two_workers):
    # One death is forgiven, not three: each takes a worker's start.
    forgiving = dask.config.set({"distributed.scheduler.allowed-failures": 1})
    with forgiving, two_workers() as cluster:
        found = Executor(cluster=cluster.scheduler_address).map(
            always_dies_on_thirty, range(60), on_error="return"
        )
    failures = [row for row in found if isinstance(row, Failure)]
    assert [(failure.position, failure.kind) for failure in failures] == [(30, "KilledWorker")]
    assert [row for row in found if row not in failures] == [*range(30), *range(31, 60)]


@pytest.mark.slow
def test_a_cluster_whose_workers_are_all_gone(monkeypatch, tmp_path, two_workers):
    monkeypatch.setattr("fireassay.engine.cluster._PATIENCE_S", 1)
    with two_workers() as cluster, RunStore(tmp_path / "run") as store:

        def stop_all_workers(done, _total):
            if done == 3:
                cluster.scale(0)

        executor = Executor(
            cluster=cluster.scheduler_address, store=store, progress=stop_all_workers
        )
        with pytest.raises(ExecutionError, match=r"must have workers.*finished tasks are kept"):
            executor.map(time.sleep, [0.3 + 1e-6 * i for i in range(60)], name="naps")
        assert store.progress("naps").done >= 3


@pytest.mark.slow
def test_a_result_that_went_with_the_last_worker_is_not_waited_for(monkeypatch, two_workers):
    monkeypatch.setattr("fireassay.engine.cluster._PATIENCE_S", 0.5)
    with two_workers() as cluster, distributed.Client(cluster.scheduler_address) as client:
        future = client.submit(abs, -1)
        assert _result(future, client) == 1
        other = client.submit(abs, -2)
        distributed.wait(other)
        cluster.scale(0)
        while client.ncores():
            time.sleep(0.05)
        with pytest.raises(ExecutionError, match="must have workers"):
            _result(other, client)


def test_short_tasks_travel_together_and_long_ones_alone():
    quick = [Outcome(i, None, None, 1e-5) for i in range(4)]
    slow = [Outcome(0, None, None, 3.0)]
    sizes = [1]
    for _ in range(6):
        sizes.append(_next_size(sizes[-1], quick))
    assert sizes == [1, 4, 16, 64, 256, 256, 256]
    assert _next_size(256, slow) == 1


def test_an_address_without_a_scheduler(monkeypatch):
    monkeypatch.setattr("fireassay.engine.cluster._PATIENCE_S", 1)
    with pytest.raises(StoreError, match="dask scheduler"):
        Executor(cluster="tcp://127.0.0.1:9").map(abs, [1])
