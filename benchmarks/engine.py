"""What a task costs beyond itself: without and with a run store, here, in workers, on a cluster.

Run: python benchmarks/engine.py [--tasks 100000] [--only here cluster feeding]

The cluster is a Dask scheduler and two workers in processes of their own on 127.0.0.1.
"""

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import joblib
import numpy as np

from fireassay.engine import Executor, RunStore

RESULTS = Path(__file__).with_name("results") / "engine.json"
BUDGET_MS = 2.0


def empty(row):
    return row


def small_table(row):
    return {"row": row, "values": np.arange(20.0)}


def per_task_ms(work, n):
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return 1e3 * (time.perf_counter() - wall) / n, 1e3 * (time.process_time() - cpu) / n


def overheads(n):
    """Milliseconds of wall and driver CPU time for each of ``n`` tasks."""
    rows = {}
    rows["serial"] = per_task_ms(lambda: Executor(1).map(empty, range(n)), n)
    Executor(2).map(empty, range(50))  # the workers' start is not a task's cost
    rows["2 workers"] = per_task_ms(lambda: Executor(2).map(empty, range(n)), n)
    joblib.Parallel(2)(joblib.delayed(empty)(i) for i in range(50))
    rows["peer: joblib.Parallel(2)"] = per_task_ms(
        lambda: joblib.Parallel(2)(joblib.delayed(empty)(i) for i in range(n)), n
    )
    with tempfile.TemporaryDirectory() as folder, RunStore(f"{folder}/run") as store:
        kept = Executor(1, store=store)
        rows["serial, journalled"] = per_task_ms(lambda: kept.map(empty, range(n)), n)
        rows["serial, read back from the journal"] = per_task_ms(
            lambda: kept.map(empty, range(n)), n
        )
        rows["serial, journalled arrays"] = per_task_ms(lambda: kept.map(small_table, range(n)), n)
        Executor(2).map(empty, range(50))
        rows["2 workers, journalled"] = per_task_ms(
            lambda: Executor(2, store=store).map(empty, range(n, 2 * n)), n
        )
        cached = joblib.Memory(f"{folder}/cache", verbose=0).cache(empty)
        rows["peer: joblib.Memory, first call"] = per_task_ms(
            lambda: [cached(i) for i in range(n)], n
        )
        rows["peer: joblib.Memory, read back"] = per_task_ms(
            lambda: [cached(i) for i in range(n)], n
        )
    return rows


def growth(total, blocks=10):
    """Milliseconds of CPU time for each task in successive tenths of one journalled run."""
    marks = []

    def note(done, _total):
        if done % (total // blocks) == 0:
            marks.append((time.process_time(), time.perf_counter()))

    with tempfile.TemporaryDirectory() as folder, RunStore(f"{folder}/run") as store:
        start = time.perf_counter()
        Executor(1, store=store, progress=note).map(empty, range(total), name="growth")
        seconds = time.perf_counter() - start
        assert store.progress("growth").done == total
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    cpu = np.diff([mark[0] for mark in marks]) * 1e3 * blocks / total
    return cpu.tolist(), seconds, size


def on_a_cluster(total, blocks=10):
    """Journalled empty tasks through a scheduler: tasks per second, and who is busy."""
    with (
        loopback_cluster() as (address, processes),
        tempfile.TemporaryDirectory() as folder,
        RunStore(f"{folder}/run") as store,
    ):
        Executor(cluster=address, progress=False).map(empty, range(200))
        marks = []

        def note(done, _total):
            if done % (total // blocks) == 0:
                marks.append(time.perf_counter())

        busy = [cpu_seconds(process.pid) for process in processes]
        wall, cpu = time.perf_counter(), time.process_time()
        executor = Executor(cluster=address, store=store, progress=note)
        executor.map(empty, range(total), name="empty")
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        assert store.progress("empty").done == total
        busy = [cpu_seconds(p.pid) - b for p, b in zip(processes, busy, strict=True)]
    return {
        "tasks": total, "seconds": wall, "tasks_per_s": total / wall,
        "wall_ms_by_tenth": (np.diff(marks) * 1e3 * blocks / total).tolist(),
        "cpu_ms_per_task": {
            "driver and journal": 1e3 * cpu / total,
            "scheduler": 1e3 * busy[0] / total,
            "each worker": 1e3 * sum(busy[1:]) / 2 / total,
        },
    }  # fmt: skip


def nap(_row):
    time.sleep(0.3)


def feeding(tasks=6000, threads=100):
    """Tasks too long to travel together: how many a second can one scheduler hand out?

    Two workers of ``threads`` sleeping threads each stand for that many cores.
    """
    with loopback_cluster(threads=threads) as (address, processes):
        Executor(cluster=address, progress=False).map(nap, range(2 * threads))
        busy = [cpu_seconds(process.pid) for process in processes]
        wall, cpu = time.perf_counter(), time.process_time()
        Executor(cluster=address, progress=False).map(nap, range(tasks))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        busy = [cpu_seconds(p.pid) - b for p, b in zip(processes, busy, strict=True)]
    return {
        "tasks": tasks, "cores_stood_for": 2 * threads, "tasks_per_s": tasks / wall,
        "ideal_per_s": 2 * threads / 0.3, "cpu_ms_per_task": {
            "driver": 1e3 * cpu / tasks,
            "scheduler": 1e3 * busy[0] / tasks,
            "both workers": 1e3 * sum(busy[1:]) / tasks,
        },
    }  # fmt: skip


@contextlib.contextmanager
def loopback_cluster(workers=2, threads=1):
    """A scheduler and workers in processes of their own; nothing listens but on 127.0.0.1."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    port = address.rsplit(":", 1)[1]
    commands = [[*dask, "--host", "127.0.0.1", "--port", port, "--dashboard-address",
                 "127.0.0.1:0", "--no-dashboard"]]  # fmt: skip
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--host", "127.0.0.1",
              "--nthreads", str(threads), "--no-nanny", "--no-dashboard", "--dashboard-address",
              "127.0.0.1:0"]  # fmt: skip
    commands += [worker] * workers
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    processes = [subprocess.Popen(command, env=environment, **quiet) for command in commands]
    try:
        yield address, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--only", nargs="+", default=["here", "cluster", "feeding"])
    options = parser.parse_args()
    record = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if "here" in options.only:
        record |= here(options.tasks)
    if "cluster" in options.only:
        record["cluster"] = on_a_cluster(options.tasks)
        print(json.dumps(record["cluster"], indent=1))
    if "feeding" in options.only:
        record["feeding"] = feeding()
        print(json.dumps(record["feeding"], indent=1))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(record, indent=2) + "\n")


def here(total):
    rows = overheads(2000)
    print(f"{'2,000 empty tasks':38} {'wall ms/task':>14} {'CPU ms/task':>14}")
    for name, (wall, cpu) in rows.items():
        print(f"{name:38} {wall:14.3f} {cpu:14.3f}")
    cpu, seconds, size = growth(total)
    print(
        f"\n{total} journalled tasks: {seconds:.1f} s, {total / seconds:.0f} tasks/s, "
        f"{size / total:.0f} bytes/task"
    )
    print("CPU ms/task in successive tenths:", " ".join(f"{value:.3f}" for value in cpu))
    worst = max(wall for name, (wall, _) in rows.items() if not name.startswith("peer"))
    print(
        f"worst overhead {worst:.3f} ms (budget {BUDGET_MS} ms); last tenth / second tenth: "
        f"{cpu[-1] / cpu[0]:.2f}"
    )
    return {
        "overhead_ms": {name: {"wall": w, "cpu": c} for name, (w, c) in rows.items()},
        "journalled": {
            "tasks": total,
            "seconds": seconds,
            "bytes_per_task": size / total,
            "cpu_ms_by_tenth": cpu,
        },
    }


if __name__ == "__main__":
    main()
