"""Which parts of a run gain from a cluster: whose CPU seconds they take, with 1 and 2 workers.

    python benchmarks/cluster_parts.py [--docs]     # results/cluster_parts.json, docs/scale.md

A network on the built-in digits, each part by itself in a run folder of its own: in one process,
then with a scheduler and one or two workers on 127.0.0.1. What the driver must do itself bounds
the gain whatever the cluster; walls of workers that share busy cores say nothing, so that CPU
seconds are counted, by process. What every process imports is loaded before, and what a process
takes that waits is not counted.
"""

import argparse
import hashlib
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
from digits_network import digits_network
from marked_tables import refresh
from measuring import stamp
from onnx_networks import write

from engine import cpu_seconds, loopback_cluster
from fireassay.assessment import initialise, read_config, run_assessment
from fireassay.assessment.run.folder import read_costs

RESULTS = Path(__file__).resolve().parent / "results" / "cluster_parts.json"
PAGE = RESULTS.parents[2] / "docs" / "scale.md"
PARTS = ("accuracy", "ambiguity", "supervision", "discovery", "reliability", "survival")
WHAT = {
    "accuracy": "–",
    "ambiguity": "the autoencoders' training",
    "supervision": "a supervisor each; its scores",
    "discovery": "–",
    "reliability": "– (cells, with method = ram)",
    "survival": "a block of 64 attacked rows",
}


def project(folder):
    """A model file, data and a configuration with all parts."""
    module, _, X, y = digits_network()
    write(module, X.shape[1:], folder / "model.onnx")
    from fireassay.data import digits

    seen = digits()
    np.savez(folder / "train.npz", X=seen.X[:797].astype(np.float32), y=seen.y[:797])
    np.savez(folder / "test.npz", X=X, y=y)
    data = {"test": "test.npz", "train": "train.npz"}
    started = initialise("model.onnx", data, folder=folder, accept_below_baseline=True)
    (folder / "fireassay.toml").write_text(started.text)
    return read_config(folder / "fireassay.toml")


def loaded():
    """What tasks import, so that it is nobody's work."""
    import onnxruntime  # noqa: F401
    import sklearn.ensemble  # noqa: F401
    import torch

    import fireassay.ambiguity
    import fireassay.reliability
    import fireassay.supervision
    import fireassay.survival  # noqa: F401

    torch.zeros(1).requires_grad_().sum().backward()


def idle_rates(processes, seconds=6):
    """CPU seconds a second of processes that have nothing to do: their heartbeats."""
    busy = [cpu_seconds(process.pid) for process in processes]
    time.sleep(seconds)
    return [(cpu_seconds(p.pid) - b) / seconds for p, b in zip(processes, busy, strict=True)]


def one(config, part, name, address=None, processes=(), idle=()):
    """CPU seconds of driver, scheduler and workers for one part; rows asked and sent."""
    run = config.folder / config.run.folder
    busy = [cpu_seconds(process.pid) for process in processes]
    begun, wall = time.process_time(), time.perf_counter()
    outcome = run_assessment(config, only=[part], trust=True, cluster=address)
    found = {"driver_s": time.process_time() - begun, "wall_s": time.perf_counter() - wall}
    busy = [
        max(0.0, cpu_seconds(p.pid) - before - rate * found["wall_s"])
        for p, before, rate in zip(processes, busy, idle, strict=True)
    ]
    if busy:
        found |= {"scheduler_s": busy[0], "workers_s": busy[1:]}
    actual = read_costs(run)[part]["actual"]
    found |= {"queries": actual["queries"], "rows_sent": actual["delivered"]}
    found["status"] = outcome.report[part].status
    found["sha256"] = hashlib.sha256((run / "result.json").read_bytes()).hexdigest()
    shutil.rmtree(run)
    print(part, name, json.dumps(found), flush=True)
    return found


def main():
    """Measure all parts, keep the figures, and refresh the table of the docs if asked to."""
    reader = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    reader.add_argument("--docs", action="store_true", help="only refresh docs/scale.md")
    reader.add_argument("--only", nargs="+", default=PARTS, choices=PARTS)
    asked = reader.parse_args()
    if asked.docs:
        refresh(PAGE, "parts", table(json.loads(RESULTS.read_text())))
        return
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    import distributed

    record = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"parts": {}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = project(folder)
        loaded()
        for part in asked.only:
            record["parts"][part] = {"here": one(config, part, "here")}
            keep(record)
        for workers in (1, 2):
            with loopback_cluster(workers=workers) as (address, processes):
                with distributed.Client(address, set_as_default=False) as client:
                    client.wait_for_workers(workers)
                    client.run(loaded)
                idle = idle_rates(processes)
                for part in asked.only:
                    key = f"{workers} workers"
                    record["parts"][part][key] = one(config, part, key, address, processes, idle)
                    keep(record)
    keep(record | stamp(("fireassay", "distributed", "onnxruntime", "torch")))
    refresh(PAGE, "parts", table(record))


def keep(record):
    """Write down what is measured so far."""
    RESULTS.write_text(json.dumps(record, indent=1) + "\n")


def table(record):
    """For each part who works, and what that allows at most."""
    head = (
        "| part | tasks | one process | one worker: driver + worker | two: driver + workers "
        "| scheduler | in workers | at most | rows sent / asked: here, two workers |"
    )
    lines = [head, "|---|---|---|---|---|---|---|---|---|"]
    for part, found in record["parts"].items():
        here, single, two = (found[way] for way in ("here", "1 workers", "2 workers"))
        work = sum(two["workers_s"])
        share = work / (work + two["driver_s"])
        most = (work + two["driver_s"]) / (two["driver_s"] + work / 2)
        ratios = ", ".join(
            f"{one['rows_sent'] / max(1, one['queries']):.2f}" for one in (here, two)
        )
        assert len({found[way]["sha256"] for way in ("here", "1 workers", "2 workers")}) == 1
        lines.append(
            f"| {part} | {WHAT[part]} | {here['driver_s']:.1f} | {single['driver_s']:.1f} + "
            f"{single['workers_s'][0]:.1f} | {two['driver_s']:.1f} + {work:.1f} "
            f"| {two['scheduler_s']:.1f} | {share:.0%} | ×{most:.2f} | {ratios} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
