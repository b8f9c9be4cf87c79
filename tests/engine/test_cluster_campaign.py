"""A campaign on two workers on loopback: one is killed in mid-run, and the rows are the same."""

import os
import signal

import pandas as pd
import pytest

from fireassay import survival

pytestmark = [pytest.mark.extras, pytest.mark.slow, pytest.mark.filterwarnings("default")]
distributed = pytest.importorskip("distributed")
pytest.importorskip("torch")

CAMPAIGN = {
    "models": ["logistic"],
    "epochs": [5],
    "seeds": [0, 1],
    "max_train": 300,
    "samples": 10,
    "budget": 20,
    "batch_size": 10,
    "defences": [{"name": "none"}, {"name": "fsq", "values": [2]}],
    "attacks": [
        {"name": "fgm", "norm": "linf", "eps": [0.3]},
        {"name": "hopskipjump", "eps": [2.0]},
    ],
}


def test_a_worker_killed_in_mid_run_changes_nothing(tmp_path, two_workers):
    here = survival.campaign(CAMPAIGN, progress=False)
    with (
        two_workers() as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        victims = list(client.run(os.getpid).values())
        killed = []

        def kill_one(done, total):
            if total == 4 and done == 1 and not killed:  # the first attack of the first model
                killed.append(victims[0])
                os.kill(victims[0], signal.SIGKILL)

        there = survival.campaign(
            CAMPAIGN, store=tmp_path / "run", cluster=cluster.scheduler_address, progress=kill_one
        )
    assert killed
    pd.testing.assert_frame_equal(here.table, there.table)
    pd.testing.assert_frame_equal(here.trials, there.trials)
    again = survival.campaign(CAMPAIGN, store=tmp_path / "run", progress=False)
    pd.testing.assert_frame_equal(again.table, there.table)
