"""A whole run on two Dask workers: the bytes, the plan and the budget of a run in one process."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fireassay.assessment import initialise, make_plan, read_config, run_assessment
from fireassay.assessment.plan.costs import plan_like
from fireassay.assessment.plan.machine import most_held_mb
from fireassay.assessment.run.folder import read_costs

pytestmark = [pytest.mark.extras, pytest.mark.slow, pytest.mark.filterwarnings("default")]
distributed = pytest.importorskip("distributed")

MODEL = """
import numpy as np
from sklearn.linear_model import LogisticRegression
d = np.load("train.npz")
model = LogisticRegression(max_iter=300).fit(d["X"], d["y"])
"""
SLOW_IN_WORKERS = """
import multiprocessing, time
fitted = model
def model(X):
    if multiprocessing.current_process().name != "MainProcess":
        time.sleep(1)
    return fitted.predict_proba(X)
"""
ROW_S = 6e-4
STEADY = f"""
import time
fitted = model
def model(X):
    until = time.thread_time() + {ROW_S} * len(X)  # processor time, whoever else is at work
    while time.thread_time() < until:
        pass
    return fitted.predict_proba(X)
"""
SMALLER = """
[supervision]
samples = 60
supervisors = ["max-softmax", "pcs"]
[survival]
samples = 60
budget = 60
"""


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = load_digits(n_class=3, return_X_y=True)
    np.savez("train.npz", X=X[:200] / 16, y=y[:200])
    np.savez("test.npz", X=X[200:500] / 16, y=y[200:500])
    (tmp_path / "some_digits.py").write_text(MODEL)
    data = {"test": "test.npz", "train": "train.npz"}
    started = initialise("some_digits:model", data, folder=tmp_path, trust=True).text
    head = started.split("[accuracy]")[0].splitlines()
    parts = 'parts = ["accuracy", "supervision", "reliability", "survival"]'
    head = [parts if line.startswith("parts") else line for line in head]
    (tmp_path / "fireassay.toml").write_text("\n".join(head) + "\n" + SMALLER)
    return read_config(tmp_path / "fireassay.toml")


def killed_in_mid_run(victim, run, killed):
    """Kill the worker once the first blocks of attacked rows are in the journal."""
    while not (run / "run.sqlite").is_file():
        time.sleep(0.01)
    size = lambda: sum(f.stat().st_size for f in run.glob("run.sqlite*"))  # noqa: E731
    begun = size()
    while size() == begun:
        time.sleep(0.01)
    os.kill(victim, signal.SIGKILL)
    killed.append(victim)


def test_a_worker_killed_in_mid_run_changes_no_byte(config, two_workers):
    run = config.folder / config.run.folder
    run_assessment(config, trust=True)
    here = (run / "result.json").read_bytes()
    run.rename(config.folder / "here")
    with (
        two_workers() as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        victim, killed = next(iter(client.run(os.getpid).values())), []
        killer = threading.Thread(target=killed_in_mid_run, args=(victim, run, killed))
        killer.start()
        run_assessment(config, trust=True, cluster=cluster.scheduler_address)
        killer.join()
    assert killed
    assert (run / "result.json").read_bytes() == here
    taken = [cost["actual"] for cost in read_costs(run).values()]
    asked = sum(cost["queries"] for cost in taken)
    # Workers know what was asked before; only their last blocks are filled up, and the probe of
    # block sizes (2,560 rows at most) is on the meter.
    assert sum(cost["delivered"] for cost in taken) <= 1.03 * asked + 2560


def test_a_budget_of_queries_is_counted_in_one_process(config):
    run = config.folder / config.run.folder
    # Survival does not fit after accuracy; without it supervision would attack by itself, which
    # does not fit either.
    allowed = make_plan(config, trust=True).row("survival").queries
    results, said = [], []
    for where in ({}, {"workers": 2}, {"cluster": "tcp://nobody.is.there:8786"}):
        run_assessment(config, trust=True, max_queries=allowed, say=said.append, **where)
        costs = read_costs(run)
        assert sum(cost["actual"]["queries"] for cost in costs.values()) <= allowed
        results.append((run / "result.json").read_bytes())
        run.rename(config.folder / f"run {len(results)}")
    assert results[0] == results[1] == results[2]
    assert b"run.max_queries" in results[0]
    assert sum("counted in one process" in line for line in said) == 2


def with_model(config, name, text):
    """The project with another model, in a module of its own: a loaded one would stay as it was."""
    (config.folder / f"{name}.py").write_text(MODEL + text)
    settings = config.folder / "fireassay.toml"
    settings.write_text(settings.read_text().replace("some_digits:", f"{name}:"))
    return read_config(settings)


def test_a_plan_holds_for_all_processes_of_a_cluster_together(config, two_workers):
    config = with_model(config, "steady_digits", STEADY)
    run, settings = config.folder / config.run.folder, config.folder / "fireassay.toml"
    test = np.load("test.npz")
    np.savez("some.npz", X=test["X"][::2], y=test["y"][::2])
    whole = settings.read_text()
    settings.write_text(
        whole.replace("test.npz", "some.npz").replace("samples = 60", "samples = 59")
    )
    run_assessment(read_config(settings), trust=True)
    run.rename(config.folder / "some")
    settings.write_text(whole)
    config = read_config(settings)
    plan = plan_like(make_plan(config, trust=True), config.folder / "some")
    with (
        two_workers() as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        run_assessment(config, trust=True, cluster=cluster.scheduler_address)
        held = client.run(most_held_mb)
    taken = [cost["actual"] for cost in read_costs(run).values()]
    asked, sent, spent = (
        sum(part[key] for part in taken) for key in ("queries", "delivered", "quiet_seconds")
    )
    assert asked == pytest.approx(plan.queries, rel=0.3)
    assert spent == pytest.approx(plan.seconds, rel=0.3)
    assert spent > ROW_S * sent  # what workers did is in it
    here = max(part["memory_mb"] for part in taken)
    assert plan.memory_mb / 1.5 < here < 1.5 * plan.memory_mb
    assert max(held.values()) < 1.5 * plan.memory_mb  # each worker has the model and the rows


def test_a_run_on_a_cluster_stops_when_its_time_is_over(config, two_workers):
    config = with_model(config, "slow_digits", SLOW_IN_WORKERS)
    with (
        two_workers() as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        begun = time.monotonic()
        outcome = run_assessment(
            config, only=["survival"], trust=True, max_minutes=0.05,
            cluster=cluster.scheduler_address,
        )  # fmt: skip
        taken = time.monotonic() - begun
        left = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
    found = outcome.report["survival"]
    assert (found.status, found.reason) == ("failed", "stopped after 0.05 minutes")
    assert 3 <= taken < 60
    assert left == 0, "tasks that nobody waits for would keep the workers busy"
