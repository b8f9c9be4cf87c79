"""The same call on a Dask cluster: a scheduler and two worker processes on loopback."""

import os
import sys
import time
from pathlib import Path

import cloudpickle
import pytest

from fireassay.core import StoreError, codec, generator
from fireassay.engine import ExecutionError, Executor, RunStore

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("default")]
distributed = pytest.importorskip("distributed")
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


@pytest.fixture(scope="module")
def address():
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=50,
    ) as cluster:
        yield cluster.scheduler_address


def test_same_bytes_as_here_and_journalled_by_the_driver(tmp_path, address):
    X = generator(0, "X").normal(size=(300, 40))
    here = Executor(1).map(noisy_mean, range(30), {"X": X})
    with RunStore(tmp_path / "run") as store:
        there = Executor(cluster=address, store=store).map(
            noisy_mean, range(30), {"X": X}, name="noise"
        )
        assert store.progress("noise").done == 30
        resumed = Executor(1, store=store).map(noisy_mean, range(30), {"X": X}, name="noise")
    assert codec.to_bytes(here) == codec.to_bytes(there) == codec.to_bytes(resumed)


def test_a_client_of_ones_own_and_failures(address):
    with (
        distributed.Client(address, set_as_default=False) as client,
        pytest.raises(ExecutionError, match=r"row 3: RuntimeError: three"),
    ):
        Executor(cluster=client).map(fails_on_three, range(8))


def test_the_rows_of_a_worker_that_dies_go_to_another(tmp_path, address):
    flag = str(tmp_path / "died")
    assert Executor(cluster=address).map(dies_once, range(8), {"flag": flag}) == list(range(8))
    assert Path(flag).exists()


def test_an_address_without_a_scheduler(monkeypatch):
    monkeypatch.setattr("fireassay.engine.cluster._PATIENCE_S", 1)
    with pytest.raises(StoreError, match="dask scheduler"):
        Executor(cluster="tcp://127.0.0.1:9").map(abs, [1])
