"""What people wait for, as ratios to a floor that is measured in the same run.

    python benchmarks/speed.py [--keep]

Each line: our CPU seconds, those of the floor (the least that the work could take), their ratio,
and the ratio that was stored with ``--keep``. Minutes, not a test: machines differ.
"""

import argparse
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from marked_tables import refresh
from measuring import cpu

RESULTS = Path(__file__).resolve().parent / "results" / "speed.json"
PAGE = RESULTS.parents[2] / "docs" / "speed.md"
MODEL = """
import numpy as np
def model(X):
    return np.column_stack([1 - X[:, 0], X[:, 0]])
"""


def started(words, folder):
    """CPU seconds of a program, the least of three."""
    found = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in (0, 3):
            raise SystemExit(f"{words}: {done.stderr[-800:]}")
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def commands(folder):
    """Start-up: against Python with numpy."""
    X = np.random.default_rng(0).random((400, 8))
    y = (X[:, 0] > 0.45).astype(int)
    np.savez(folder / "test.npz", X=X, y=y)
    (folder / "half.py").write_text(MODEL)
    floor = started([sys.executable, "-c", "import numpy"], folder)
    program = [sys.executable, "-m", "fireassay"]
    given = ["--model", "half:model", "--data", "test.npz", "--trust", "--force"]
    yield (
        "fireassay --help (floor: Python with numpy)",
        started([*program, "--help"], folder),
        floor,
    )
    yield "fireassay init, a small model", started([*program, "init", *given], folder), floor
    yield "fireassay plan, a small model", started([*program, "plan", "--trust"], folder), floor
    yield "fireassay run, nothing to do", nothing_to_do(program, folder, X, y), floor


def nothing_to_do(program, folder, X, y):
    """A run that is done already: known from hashes, as a model that is code never is."""
    import skops.io
    from sklearn.linear_model import LogisticRegression

    skops.io.dump(LogisticRegression().fit(X, y), folder / "model.skops")
    given = ["--model", "model.skops", "--data", "test.npz", "--force"]
    run = [*program, "run", "--quiet"]
    for words in ([*program, "init", *given], run):
        subprocess.run(words, cwd=folder, capture_output=True, check=True)
    return started(run, folder)


def least(work, turns=3):
    work()
    return min(cpu(work)[1] for _ in range(turns))


def computations(folder):
    """Work of the packages: against one pass over the same numbers, or what it is made of."""
    from fireassay import discovery, supervision, survival
    from fireassay.core.row_index import RowIndex
    from fireassay.engine import RunStore
    from fireassay.statistics import fit_temperature
    from survival import COLUMNS, simulated

    rng = np.random.default_rng(0)
    classes, asked = rng.integers(0, 10, 6_000), rng.integers(0, 10, 3_000)
    centres = np.maximum(rng.standard_normal((10, 128)), 0)
    train, test = (
        np.maximum(centres[c] + 0.4 * rng.standard_normal((len(c), 128)), 0).astype(np.float32)
        for c in (classes, asked)
    )
    yield (
        "DSA, 3,000 x 6,000 x 128 (floor: one float32 product)",
        least(lambda: supervision.dsa_scores(train, classes, test, asked)),
        least(lambda: test @ train.T),
    )
    x = rng.random(1_000_000)
    y = np.sin(9 * x) + rng.standard_normal(len(x))
    yield (
        "LOESS, a million points (floor: sorting them)",
        least(lambda: discovery.loess(x, y), 1),
        least(lambda: np.sort(x)),
    )
    frame = simulated(rows=100_000)["right"]
    names = [f"x{i}" for i in range(COLUMNS)]
    table = frame[names].to_numpy()
    yield (
        "Weibull regression, 100,000 x 20 (floor: one weighted product)",
        least(lambda: survival.fit(frame, "weibull", names)),
        least(lambda: (table * table[:, :1]).T @ table),
    )
    logits, labels = rng.normal(size=(5_000, 1_000)), rng.integers(0, 1_000, 5_000)
    logits[np.arange(5_000), labels] += 3
    yield (
        "temperature, 5,000 x 1,000 (floor: one exponential each)",
        least(lambda: fit_temperature(logits, labels)),
        least(lambda: np.exp(logits)),
    )
    rows = rng.random((20_000, 784)).astype(np.float32)
    some = rows[rng.permutation(len(rows))]
    yield (
        "finding 20,000 x 784 kept rows (floor: comparing them)",
        least(lambda: RowIndex(rows).find(some)),
        least(lambda: (rows == some).all(axis=1)),
    )
    n = 3_000

    def journalled():
        with tempfile.TemporaryDirectory(dir=folder) as name, RunStore(name) as store:
            store.expect([str(i) for i in range(n)], name="t", function="m:t")
            for i in range(n):
                store.record(str(i), i, 0.0)

    def plain():
        with tempfile.TemporaryDirectory(dir=folder) as name:
            file = sqlite3.connect(f"{name}/a.sqlite", isolation_level=None)
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = NORMAL")
            file.execute("CREATE TABLE t (id TEXT PRIMARY KEY, value TEXT)")
            for i in range(n):
                file.execute("INSERT INTO t VALUES (?, ?)", (str(i), str(i)))
            file.close()

    yield f"journal, {n:,} tasks (floor: plain SQLite)", least(journalled), least(plain)


def main():
    """Print the table; keep it if asked to."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--keep", action="store_true", help="store the ratios of this run")
    keep = reader.parse_args().keep
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # compiling anew is nobody's start-up
    stored = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    found = {}
    sys.stdout.write(f"{'what':<64}{'ours s':>9}{'floor s':>9}{'ratio':>8}{'stored':>8}\n")
    with tempfile.TemporaryDirectory() as name:
        for part in (commands, computations):
            for what, ours, floor in part(Path(name)):
                found[what] = {"ours_cpu_s": ours, "floor_cpu_s": floor, "ratio": ours / floor}
                before = stored.get(what, {}).get("ratio")
                told = "" if before is None else f"{before:.1f}"
                sys.stdout.write(
                    f"{what:<64}{ours:>9.3f}{floor:>9.3f}{ours / floor:>8.1f}{told:>8}\n"
                )
                sys.stdout.flush()
    if keep:
        RESULTS.write_text(json.dumps(found, indent=2) + "\n")
        refresh(PAGE, "make speed", table(found))


def table(found):
    """What was measured, for the docs."""
    lines = ["| what | ours, CPU s | floor | ratio |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {what} | {row['ours_cpu_s']:.3f} | {row['floor_cpu_s']:.3f} | {row['ratio']:.1f} |"
        for what, row in found.items()
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
