"""A run of 200 small tasks, to be killed: RUN_FOLDER LOG RESULT WORKERS [OFFSET]."""

import os
import sys
import time

import numpy as np

from fireassay.core import codec, generator
from fireassay.engine import Executor, RunStore

ROWS = 200


def simulate(row, log, data):
    """Slow enough to be caught at work; says in the log that it ran."""
    time.sleep(0.005)
    rng = generator(7, "row", row)
    sample = rng.normal(size=20) + data[row % len(data)]
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(file, f"{row}\n".encode())
    os.close(file)
    return {"row": row, "mean": float(sample.mean()), "sample": sample, "none": float("nan")}


def main():
    folder, log, result, workers = sys.argv[1:5]
    offset = float(sys.argv[5]) if len(sys.argv) > 5 else 0.0
    data = np.linspace(0.0, 1.0, 50) + offset
    with RunStore(folder) as store:
        executor = Executor(workers=int(workers), store=store)
        results = executor.map(
            simulate, range(ROWS), shared={"log": log, "data": data}, name="simulate"
        )
    codec.save(results, result)


if __name__ == "__main__":
    main()
