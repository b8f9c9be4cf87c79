"""How cost grows with size (n, 10 n, 100 n), and how far it is from what the machine could do.

    python benchmarks/scaling.py [--only curation] [--repeats 3] [--quick]

Beside each curve stands a physical limit: one pass over the data at the measured memory bandwidth,
the matrix products alone at their measured speed, or the model's own forward pass. CPU seconds,
one thread. Add a curve: one function, one row in CURVES.
"""

import argparse
import json
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from digits_network import digits_network
from measuring import cpu, exponent, stamp

RESULTS = Path(__file__).parent / "results" / "scaling.json"
Machine = dict[str, float]


@dataclass(frozen=True)
class Curve:
    """Work of several sizes; ``limit(size, machine)`` is the least time it could take."""

    sizes: tuple[int, int, int]
    work: Callable[[int], Callable[[], Any]]
    limit: Callable[[int, Machine], float]
    limit_is: str


def _one_pass(bytes_per_item: float) -> Callable[[int, Machine], float]:
    return lambda n, machine: n * bytes_per_item / machine["read_bytes_per_s"]


def curate() -> Curve:
    from fireassay import curation

    def work(n):
        votes = curation.simulate_votes(np.linspace(0.55, 0.9, 10), 0.6, n, seed=0)[0]
        return lambda: curation.curate(votes, labeler="snorkel", prune=None).datasets

    return Curve((100_000, 1_000_000, 10_000_000), work, _one_pass(10), "one pass over the votes")


def curate_stream() -> Curve:
    from fireassay import curation

    def work(n):
        folder = tempfile.mkdtemp()
        votes = np.lib.format.open_memmap(f"{folder}/votes.npy", "w+", np.int8, (n, 10))
        block = curation.simulate_votes(np.linspace(0.55, 0.9, 10), 0.6, 1 << 17, seed=0)[0]
        for start in range(0, n, len(block)):
            votes[start : start + len(block)] = block[: n - start]
        votes.flush()
        return lambda: curation.curate_stream(f"{folder}/votes.npy", f"{folder}/out")

    return Curve(
        (1_000_000, 10_000_000, 100_000_000), work, lambda n, m: 2 * _one_pass(10)(n, m),
        "two passes over the votes",
    )  # fmt: skip


def _table(n: int):
    from survival import COLUMNS, simulated

    return simulated(0, rows=n)["right"], [f"x{i}" for i in range(COLUMNS)]


def weibull() -> Curve:
    from fireassay import survival

    def work(n):
        frame, names = _table(n)
        return lambda: survival.fit(frame, "weibull", names)

    return Curve(
        (10_000, 100_000, 1_000_000), work, _one_pass(22 * 8), "one pass over the table"
    )  # fmt: skip


def kaplan_meier() -> Curve:
    from fireassay import survival

    def work(n):
        frame, _ = _table(n)
        return lambda: survival.kaplan_meier(frame[["duration", "event"]])

    return Curve((10_000, 100_000, 1_000_000), work, _one_pass(16), "one pass over the times")


def loess() -> Curve:
    from fireassay import discovery

    def work(n):
        rng = np.random.default_rng(0)
        x = rng.random(n)
        y = np.sin(9 * x) + rng.standard_normal(n)
        return lambda: discovery.loess(x, y)

    return Curve((10_000, 100_000, 1_000_000), work, _one_pass(16), "one pass over the points")


def dsa() -> Curve:
    from fireassay import supervision

    rng = np.random.default_rng(0)
    centres = np.maximum(rng.standard_normal((10, 128)), 0)

    def activations(n):
        classes = rng.integers(0, 10, n)
        noise = 0.4 * rng.standard_normal((n, 128))
        return np.maximum(centres[classes] + noise, 0).astype(np.float32), classes

    train = activations(18_000)

    def work(n):
        test = activations(n)
        return lambda: supervision.dsa_scores(*train, *test)

    return Curve(
        (1_000, 10_000, 100_000), work,
        # the distances to a tenth of the training rows (the own class), as one matrix product
        lambda n, m: 2 * n * 1_800 * 128 / m["float32_flops_per_s"],
        "the products with rows of the own class",
    )  # fmt: skip


def delong() -> Curve:
    from fireassay.statistics import delong_interval

    def work(n):
        rng = np.random.default_rng(0)
        positive = rng.random(n) < 0.3
        scores = rng.standard_normal(n) + positive
        return lambda: delong_interval(scores, positive)

    return Curve((10_000, 100_000, 1_000_000), work, _one_pass(9), "one pass over the scores")


def kde() -> Curve:
    from fireassay.data import unit_square
    from fireassay.reliability.cells import Grid
    from fireassay.statistics.kde import BinnedKde

    grid = Grid.regular(500, (0, 1), dimensions=2)

    def work(n):
        X = unit_square(n, seed=1).X
        return lambda: BinnedKde(X, 0.04).density(grid.centres)

    return Curve((10_000, 100_000, 1_000_000), work, _one_pass(16), "one pass over the points")


def rectified() -> Curve:
    from sklearn.linear_model import LogisticRegression

    from fireassay import as_classifier, reliability

    rng = np.random.default_rng(0)
    X = rng.standard_normal((2_000, 5))
    y = (X[:, 0] + 0.5 * rng.standard_normal(2_000) > 0).astype(int)
    estimator = LogisticRegression().fit(X[:1_000], y[:1_000])

    def work(n):
        field = rng.standard_normal((n, 5))
        model = as_classifier(estimator)
        return lambda: reliability.assess(model, X[1_000:], y[1_000:], operational=field)

    return Curve((10_000, 100_000, 1_000_000), work, _one_pass(40), "one pass over the field rows")


def splitting() -> Curve:
    from fireassay import reliability
    from fireassay.reliability.rare_events import margin_of

    def probabilities(rows):
        p = 0.5 + 0.5 * (rows.sum(axis=1) - 2 + 0.0447) / 2  # p = 1e-3
        return np.column_stack([1 - p, p])

    margin = margin_of(probabilities)

    def work(n):
        low, high, label = np.zeros((n, 2)), np.ones((n, 2)), np.zeros(n, dtype=np.int64)
        return lambda: reliability.Splitting(1000, 20)(margin, low, high, label, 0)

    def limit(n, machine):  # ten levels of 500 survivors and 20 moves at 16 bytes a row
        return n * 10 * 500 * 20 * 16 / machine["read_bytes_per_s"]

    return Curve((1, 10, 100), work, limit, "one pass over the particles' moves")


def _forward_s(module, X) -> float:
    """CPU seconds of the bare model for one row, in blocks of 256."""
    import torch

    block = torch.from_numpy(np.resize(X, (256, *X.shape[1:])))
    with torch.no_grad():
        module(block)
        return min(cpu(lambda: module(block))[1] for _ in range(20)) / 256


def pgd() -> Curve:
    from fireassay import attacks

    module, model, X, y = digits_network()
    each = _forward_s(module, X)

    def work(n):
        rows = np.resize(np.arange(len(X)), n)
        noise = np.random.default_rng(0).uniform(0, 0.02, (n, 8, 8)).astype(np.float32)
        images = np.clip(X[rows] + noise, 0, 1)
        return lambda: attacks.pgd(model, images, y[rows], eps=0.05, steps=10)

    # every row is asked for itself, and most stand through ten gradients (three passes each)
    return Curve((1_000, 10_000, 100_000), work, lambda n, _: n * 31 * each,
                 "the model's passes alone, no row falling early")  # fmt: skip


def entropy() -> Curve:
    from fireassay import supervision

    module, model, X, y = digits_network()
    each = _forward_s(module, X)
    fitted = supervision.make("softmax-entropy").fit(model, X[:500], y[:500])

    def work(n):
        images = X[np.resize(np.arange(len(X)), n)]
        return lambda: fitted.score(images)

    return Curve((1_000, 10_000, 100_000), work, lambda n, _: n * each, "the forward pass alone")


def journal() -> Curve:
    from fireassay.engine import Executor, RunStore

    def work(n):
        def run():
            with tempfile.TemporaryDirectory() as folder, RunStore(f"{folder}/run") as store:
                return Executor(1, store=store, progress=False).map(abs, range(n))

        return run

    return Curve((1_000, 10_000, 100_000), work, _one_pass(450), "one pass over the journal")


# package, what grows, curve
CURVES: dict[str, tuple[str, str, Callable[[], Curve]]] = {
    "curation.curate": ("curation", "rows of 10 votes", curate),
    "curation.curate_stream": ("curation", "rows of 10 votes in a file", curate_stream),
    "survival.fit, Weibull": ("survival", "rows of 20 covariates", weibull),
    "survival.kaplan_meier": ("survival", "rows", kaplan_meier),
    "discovery.loess": ("discovery", "points", loess),
    "supervision.dsa_scores": ("supervision", "rows against 18,000 × 128", dsa),
    "supervision, softmax entropy": ("supervision", "images of 8 × 8", entropy),
    "statistics.delong_interval": ("statistics", "scores", delong),
    "reliability.assess, rectified": ("reliability", "field rows, 1,000 labels", rectified),
    "binned KDE on 250,000 cells": ("reliability", "points", kde),
    "reliability.Splitting": ("reliability", "boxes, p = 0.001", splitting),
    "attacks.pgd": ("attacks", "images of 8 × 8, 10 steps", pgd),
    "engine, journalled tasks": ("engine", "tasks", journal),
}


def measure(name: str, repeats: int, quick: bool, machine: Machine) -> dict[str, Any]:
    package, unit, make = CURVES[name]
    curve = make()
    sizes = curve.sizes[:2] if quick else curve.sizes
    every, points = [], []
    for size in sizes:
        work = curve.work(size)
        if size == sizes[0]:
            work()  # imports
        seconds = [cpu(work)[1] for _ in range(repeats)]
        every += [(size, s) for s in seconds]
        limit = curve.limit(size, machine)
        points.append({"n": size, "cpu_s": float(np.median(seconds)), "limit_s": limit})
    slope, low, high = exponent(*zip(*every, strict=True))
    # The start of every call is a constant: between the two largest sizes growth shows itself.
    last = points[-1]["cpu_s"] / points[-2]["cpu_s"]
    return {
        "name": name, "package": package, "unit": unit, "points": points, "repeats": repeats,
        "exponent": slope, "low": low, "high": high,
        "exponent_of_the_last_step": float(np.log10(last)),
        "limit_is": curve.limit_is, "times_limit": points[-1]["cpu_s"] / points[-1]["limit_s"],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the curves' names")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="two sizes; nothing is written")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"rows": []}
    rows = {row["name"]: row for row in stored["rows"]}
    now = stamp(("fireassay", "numpy", "scipy", "pandas", "torch"))
    for name in CURVES:
        if not any(part.lower() in name.lower() for part in options.only):
            continue
        row = rows[name] = measure(name, options.repeats, options.quick, now["machine"])
        steps = ", ".join(f"{p['n']:,}: {p['cpu_s']:.3g} s" for p in row["points"])
        print(f"{name:32} {steps}; exponent {row['exponent']:.2f} (last step "
              f"{row['exponent_of_the_last_step']:.2f}); ×{row['times_limit']:.1f} of "
              f"{row['limit_is']}", flush=True)  # fmt: skip
        if not options.quick:
            record = {**now, "rows": [rows[key] for key in CURVES if key in rows]}
            RESULTS.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
