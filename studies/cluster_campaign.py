"""A campaign on a cluster of two worker processes: one is killed, then the driver; same results.

    python studies/cluster_campaign.py        # about four CPU minutes

1. The campaign in this process. 2. The same with ``--cluster``: a scheduler and two workers on
127.0.0.1, of which one is killed (SIGKILL) when a third of the tasks is done. 3. Again on two
workers: now the driver is killed half-way, and the same command goes on. All three must give
equal tables, byte for byte. Writes studies/results/cluster_campaign.json.
"""

import hashlib
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from fireassay import survival
from fireassay.core import codec
from fireassay.core.errors import StoreError
from fireassay.engine import RunStore
from fireassay.survival.campaign_config import read_config

RESULTS = Path(__file__).parent / "results" / "cluster_campaign.json"
CAMPAIGN = {
    "data": ["digits"],
    "models": ["logistic", "mlp", "cnn"],
    "epochs": [6, 18],
    "seeds": [0, 1, 2, 3],
    "width": 4,
    "max_train": 400,
    "samples": 10,
    "budget": 24,
    "batch_size": 10,
    "defences": [
        {"name": "none"},
        {"name": "fsq", "values": [2]},
        {"name": "conf", "values": [0.5]},
    ],
    "attacks": [
        {"name": "fgm", "norm": "linf", "eps": [0.3]},
        {"name": "pgd", "norm": "linf", "eps": [0.3]},
        {"name": "hopskipjump", "eps": [2.0]},
    ],
}


@contextmanager
def cluster():
    """A scheduler and two workers without nanny (a dead one stays dead), on loopback only."""
    with tempfile.TemporaryDirectory() as folder:
        contact = Path(folder) / "scheduler.json"
        dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
        # --no-dashboard alone would leave a page of metrics on every address.
        hidden = ["--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
        address = ["--host", "127.0.0.1", "--port", "0", *hidden]
        started = [start([*dask, *address, "--scheduler-file", contact])]
        try:
            while not contact.exists() or not contact.read_text().strip():
                time.sleep(0.1)
            where = json.loads(contact.read_text())["address"]
            dask = [sys.executable, "-m", "distributed.cli.dask_worker", where]
            options = ["--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", *hidden]
            workers = [start([*dask, *options, "--local-directory", folder]) for _ in range(2)]
            started += workers
            yield where, workers, started
        finally:
            for process in started:
                process.kill()
                process.wait()


def start(command):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([str(part) for part in command], **quiet)


def addresses(processes):
    """Where these processes listen."""
    import psutil

    found = set()
    for process in processes:
        for connection in psutil.Process(process.pid).net_connections(kind="inet"):
            if connection.status == psutil.CONN_LISTEN:
                found.add(connection.laddr.ip)
    return sorted(found)


def finished(store):
    if not (Path(store) / "run.sqlite").exists():
        return 0
    try:
        with RunStore(store, read_only=True) as journal:
            return len(journal.timings())
    except StoreError:  # being created at this very moment
        return 0


def digest(result):
    """Of the tables without measured seconds, which are not the same twice."""
    tables = (result.table, result.trials, result.models["model_id"].to_numpy())
    return hashlib.sha256(codec.to_bytes(tables)).hexdigest()


def driver(store, where):
    return [sys.executable, __file__, "--run", str(store), where]


def run(store, where):
    found = survival.campaign(CAMPAIGN, store=store, cluster=where or None, progress=False)
    print(digest(found))


def kill_when(process, count, store, watched):
    """SIGKILL a process as soon as ``count`` tasks are in the journal."""
    while finished(store) < count and watched.poll() is None:
        time.sleep(0.05)
    alive = watched.poll() is None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return {"killed_at": finished(store), "in_mid_run": alive}


def main(folder):
    config = read_config(CAMPAIGN)
    trials = sum(len(config.trials(row)) for row in config.trainings())
    tasks = trials + len(config.trainings())
    print(f"{trials} trials on {len(config.trainings())} models", flush=True)
    clock = time.time()
    here = survival.campaign(CAMPAIGN, store=folder / "here", progress=False)
    found = {"local": {"sha256": digest(here), "seconds": time.time() - clock}}
    print(found, flush=True)
    clock = time.time()
    with cluster() as (where, workers, everything):
        work = subprocess.Popen(driver(folder / "worker", where), stdout=subprocess.PIPE, text=True)
        note = kill_when(workers[0], tasks // 3, folder / "worker", work)
        listening = addresses([p for p in everything if p.poll() is None])
        sha = work.communicate()[0].strip()
        found["worker killed"] = {"sha256": sha, **note, "seconds": time.time() - clock}
    print(found["worker killed"], flush=True)
    clock = time.time()
    with cluster() as (where, _, _):
        work = subprocess.Popen(driver(folder / "driver", where), stdout=subprocess.DEVNULL)
        note = kill_when(work, tasks // 2, folder / "driver", work)
        again = subprocess.run(
            driver(folder / "driver", where), stdout=subprocess.PIPE, text=True, check=True
        )
        sha = again.stdout.strip()
        found["driver killed"] = {"sha256": sha, **note, "seconds": time.time() - clock}
    print(found["driver killed"], flush=True)
    identical = len({part["sha256"] for part in found.values()}) == 1
    summary = {
        "trials": trials,
        "tasks": tasks,
        "rows": len(here.table),
        "identical": identical,
        "listening": listening,
        "python": platform.python_version(),
        "runs": found,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(summary, indent=1) + "\n")
    print(json.dumps(summary, indent=1))
    if not identical or listening != ["127.0.0.1"]:
        sys.exit("the results differ, or something listens on another address")


if __name__ == "__main__":
    if "--run" in sys.argv:
        run(Path(sys.argv[2]), sys.argv[3])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
