"""Runs killed by signal 9 at random points: do they end with the bytes of an undisturbed run?

    python benchmarks/kills.py [KILLS_OF_EACH_RUN] [SEED] [WAY …]

Six different runs (``kill_runs.py``), each in three ways: one process, two workers, and a Dask
scheduler with two worker processes on loopback (where every other time a worker is killed instead
of the run). A run is killed after a random number of its journalled tasks and a random moment more,
the same command is given again, and so on to its end. All that it leaves behind must be the bytes
of a run in one process that nobody disturbed. Adds one line per run and way to
``results/kills.jsonl``.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kill_runs import RUNS, KilledRun, done, left_behind

WAYS = ("one process", "two workers", "cluster")
RECORD = Path(__file__).parent / "results" / "kills.jsonl"
_WITHOUT_WORKERS = ("label",)


def main() -> None:
    """Print a row for each run and way: kills, files and answers compared, those that differ."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory(prefix="fireassay-kills-") as name:
        folder = Path(name)
        print(f"{'way':<13}{'run':<18}{'killed':>7}{'compared':>10}{'differ':>8}", flush=True)
        for way in sys.argv[3:] or WAYS:
            with started(way, folder) as (options, nannies):
                for run in RUNS:
                    row = tried(run, way, options, nannies, kills, seed, folder)
                    print(
                        f"{way:<13}{run.name:<18}{row['killed']:>7}{row['compared']:>10}"
                        f"{len(row['differ']):>8}",
                        flush=True,
                    )
                    with RECORD.open("a") as record:
                        record.write(json.dumps(row) + "\n")


def tried(
    run: KilledRun,
    way: str,
    options: list[str],
    nannies: list[int],
    kills: int,
    seed: int,
    folder: Path,
) -> dict[str, Any]:
    """One run in one way, killed as often as asked for on its way to the end."""
    whole = folder / f"{run.name}-whole"
    if not whole.exists():
        go(run, whole, [], [], [])
    expected, tasks = left_behind(run, whole), done(whole / run.store)
    chance = random.Random(f"{seed} {way} {run.name}")
    differ: list[str] = []
    midway = compared = 0
    while midway < kills:  # a kill that came when all was over does not count
        where = folder / "killed"
        points = sorted(
            (chance.randrange(tasks), chance.uniform(0.0, 0.3)) for _ in range(kills - midway)
        )
        midway += go(run, where, options, points, nannies)
        found = left_behind(run, where)
        names = expected.keys() | found.keys()
        differ += sorted(name for name in names if expected.get(name) != found.get(name))
        compared += len(names)
        shutil.rmtree(where)
    return {"run": run.name, "way": way, "seed": seed, "killed": midway, "compared": compared} | {
        "differ": differ
    }


def go(
    run: KilledRun,
    where: Path,
    options: list[str],
    points: list[tuple[int, float]],
    nannies: list[int],
) -> int:
    """All steps of a run, killed at these points (tasks done, seconds more); how often it was."""
    run.files(where)
    waiting, hits = list(points), 0
    for step in run.steps:
        if callable(step):
            step(where)
            continue
        command = [*step, *(options if step[0] not in _WITHOUT_WORKERS else [])]
        ended = False
        while waiting and not ended:
            victim = nannies[hits % len(nannies)] if nannies and hits % 2 else None
            if killed(run, where, command, waiting[0], victim):
                hits += 1
                waiting.pop(0)
                ended = victim is not None
            else:
                ended = True
        if not ended:
            process = begin(where, command)
            _, errors = process.communicate(timeout=1800)
            if process.returncode != 0:
                raise SystemExit(f"exit {process.returncode} of {command}:\n{errors.decode()}")
    return hits


def killed(
    run: KilledRun, where: Path, command: list[str], after: tuple[int, float], victim: int | None
) -> bool:
    """Start a command and kill it, or a worker of the cluster; whether that was in mid-run.

    A command whose worker is killed must come to its end all the same.
    """
    process = begin(where, command)
    while process.poll() is None and done(where / run.store) < after[0]:
        time.sleep(0.01)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(after[1])
    midway = process.poll() is None
    if victim is None:
        process.kill()
    elif midway:
        kill_worker(victim)
    _, errors = process.communicate(timeout=1800)
    if process.returncode not in (0, -signal.SIGKILL):
        raise SystemExit(f"exit {process.returncode} of {command}:\n{errors.decode()}")
    return midway


def kill_worker(nanny: int) -> None:
    """The process that works for a nanny, which then starts another."""
    for worker in Path(f"/proc/{nanny}/task/{nanny}/children").read_text().split():
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            if "resource_tracker" not in Path(f"/proc/{worker}/cmdline").read_text():
                os.kill(int(worker), signal.SIGKILL)


def begin(where: Path, command: list[str]) -> subprocess.Popen[bytes]:
    """A command in a session of its own, so that it can be killed with nothing around it."""
    settings = {"FIREASSAY_SETTINGS": str(where / "settings"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "fireassay", *command],
        cwd=where,
        env=os.environ | settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


@contextlib.contextmanager
def started(way: str, folder: Path) -> Iterator[tuple[list[str], list[int]]]:
    """Options of the commands for a way to run, and the nannies of a cluster's workers."""
    if way != "cluster":
        yield (["--workers", "2"] if way == "two workers" else []), []
        return
    file, code = folder / "scheduler.json", folder / "code"
    code.mkdir(exist_ok=True)
    RUNS[0].files(code / "files")  # workers import the model's module from here
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    more = ["--port", "0", "--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(file)]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file)]
    worker += ["--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    path = os.pathsep.join([str(code / "files"), os.environ.get("PYTHONPATH", "")])
    quiet |= {"cwd": folder, "env": os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}}
    processes = [subprocess.Popen([*dask, *more], **quiet)]
    try:
        while not file.exists():
            time.sleep(0.1)
        processes += [subprocess.Popen(worker, **quiet) for _ in range(2)]
        address = json.loads(file.read_text())["address"]
        yield ["--cluster", address], [process.pid for process in processes[1:]]
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(60)


if __name__ == "__main__":
    main()
