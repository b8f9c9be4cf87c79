"""Runs killed by signal 9 at random points: do they end with the bytes of an undisturbed run?

    python benchmarks/kills.py [KILLS_PER_KIND] [SEED] [KIND …]

Three kinds of runs: one process, two workers, and a Dask scheduler with two worker processes on
loopback (one of which is killed instead of the run every other time). After each kill the same
command is given again; whatever is killed, it must end with the same ``result.json`` and the same
saved results.
"""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

MODEL = """
import numpy as np
def model(X):
    score = 6 * (X[:, 0] + 0.3 * X[:, 1] - 0.65)
    p = 1 / (1 + np.exp(-score))
    return np.column_stack([1 - p, p])
"""
CONFIG = """
[model]
path = "kill_me:model"
classes = [0, 1]
bounds = [0.0, 1.0]
[data]
test = "test.npz"
operational = "field.npz"
[run]
parts = ["accuracy", "reliability", "discovery", "survival"]
[survival]
samples = 24
budget = 60
"""
KINDS = ("one process", "two workers", "cluster")


def main() -> None:
    """Print a table: runs started, killed before their end, and how many gave the same bytes."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    generator = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    with tempfile.TemporaryDirectory(prefix="fireassay-kills-") as name:
        folder = Path(name)
        whole = folder / "whole"
        seconds = {"one process": undisturbed(whole)}
        expected = answers(whole)
        print(f"undisturbed: {seconds['one process']:.1f} s, {len(expected)} results", flush=True)
        print(f"{'kind':<13}{'starts':>7}{'killed':>12}{'same bytes':>12}", flush=True)
        for kind in sys.argv[3:] or KINDS:
            with cluster(kind, folder) as (options, workers):
                if kind not in seconds:
                    seconds[kind] = undisturbed(folder / kind.replace(" ", "-"), options)
                    check(expected, answers(folder / kind.replace(" ", "-")), kind)
                tries = same = 0
                for number in range(kills):
                    where = folder / f"{kind.replace(' ', '-')}-{number}"
                    victim = workers[number % len(workers)] if workers and number % 2 else None
                    midway = False
                    while not midway:  # a run that was over before does not count
                        shutil.rmtree(where, ignore_errors=True)
                        after = generator.uniform(0.02, 0.8) * seconds[kind]
                        midway, tries = killed(where, options, after, victim), tries + 1
                    finish(where, options)
                    same += answers(where) == expected
                    shutil.rmtree(where)
                print(f"{kind:<13}{tries:>7}{kills:>12}{same:>12}", flush=True)


def project(where: Path) -> None:
    """The files of a run: a small model, small data."""
    where.mkdir(parents=True)
    generator = np.random.default_rng(7)
    X, field = generator.random((300, 2)), generator.random((400, 2))
    np.savez(where / "test.npz", X=X, y=(X[:, 0] + 0.3 * X[:, 1] > 0.62).astype(int))
    np.savez(where / "field.npz", X=field)
    (where / "kill_me.py").write_text(MODEL)
    (where / "fireassay.toml").write_text(CONFIG)


def command(options: list[str]) -> list[str]:
    """The same one every time."""
    return [sys.executable, "-m", "fireassay", "run", "--trust", "--quiet", *options]


def start(where: Path, options: list[str]) -> subprocess.Popen[bytes]:
    """A run in a session of its own, so that it can be killed with nothing around it."""
    settings = {"FIREASSAY_SETTINGS": str(where / "settings"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        command(options),
        cwd=where,
        env=os.environ | settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def finish(where: Path, options: list[str]) -> None:
    """Give the command, and wait for its end."""
    process = start(where, options)
    _, errors = process.communicate(timeout=1800)
    if process.returncode != 0:
        raise SystemExit(f"exit {process.returncode} in {where}:\n{errors.decode()}")


def undisturbed(where: Path, options: list[str] | None = None) -> float:
    """Seconds of a run that nobody kills."""
    project(where)
    began = time.perf_counter()
    finish(where, options or [])
    return time.perf_counter() - began


def killed(where: Path, options: list[str], after: float, victim: int | None) -> bool:
    """Start a run and kill it, or a worker of the cluster; whether that was in mid-run."""
    project(where)
    process = start(where, options)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(after)
    midway = process.poll() is None
    if victim is None:
        process.kill()
    else:
        children = Path(f"/proc/{victim}/task/{victim}/children").read_text().split()
        for worker in children:  # the process that works; its nanny starts another
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):
                if "resource_tracker" not in Path(f"/proc/{worker}/cmdline").read_text():
                    os.kill(int(worker), signal.SIGKILL)
    process.communicate(timeout=1800)
    return midway


def answers(where: Path) -> dict[str, str]:
    """SHA-256 of what a run found, by name: its result, and every answer in its journal."""
    run = where / "fireassay-run"
    files = [run / "result.json", *sorted((run / "artifacts").glob("*"))]
    found = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    with contextlib.closing(sqlite3.connect(run / "run.sqlite")) as journal:
        rows = journal.execute("SELECT name, id, checksum FROM tasks WHERE status = 'done'")
        return found | {f"{name} {task}": checksum for name, task, checksum in rows}


def check(expected: dict[str, str], found: dict[str, str], kind: str) -> None:
    """Another kind of run must give the same bytes even undisturbed."""
    if expected != found:
        raise SystemExit(f"{kind}: other bytes than one process, undisturbed")


@contextlib.contextmanager
def cluster(kind: str, folder: Path) -> Iterator[tuple[list[str], list[int]]]:
    """Options of the command for a kind of run, and the nannies of a cluster's workers."""
    if kind != "cluster":
        yield (["--workers", "2"] if kind == "two workers" else []), []
        return
    file = folder / "scheduler.json"
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    more = ["--port", "0", "--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(file)]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file)]
    worker += ["--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    path = os.pathsep.join([str(folder / "whole"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    started = [subprocess.Popen([*dask, *more], env=environment, **quiet)]  # type: ignore[call-overload]
    try:
        while not file.exists():
            time.sleep(0.1)
        started += [
            subprocess.Popen(worker, env=environment, **quiet)  # type: ignore[call-overload]
            for _ in range(2)
        ]
        address = json.loads(file.read_text())["address"]
        yield ["--cluster", address], [process.pid for process in started[1:]]
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(60)


if __name__ == "__main__":
    main()
