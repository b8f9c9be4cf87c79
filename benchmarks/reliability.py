"""Reliability: does the bound hold, how wide is it, and how fast are its parts?

    python benchmarks/reliability.py [--only coverage] [--worlds 500] [--kinds '2-D easy']

Prints a table per part and writes benchmarks/results/reliability.json. Times are CPU seconds; the
slow way is measured in the same run, on a sample of the work where all of it would take hours.
"""

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KernelDensity
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from fireassay import as_classifier, reliability
from fireassay.core.seeds import generator
from fireassay.data import unit_square
from fireassay.reliability.cell_shares import estimator_for
from fireassay.reliability.cells import Grid
from fireassay.reliability.inputs import Inputs
from fireassay.reliability.rare_events import margin_of
from fireassay.reliability.rectified_bound import RectifiedBound, rectified_bound
from fireassay.reliability.surrogate import user_risk
from fireassay.reliability.weighted_cells import CentreDensity, assess_cells
from fireassay.statistics.kde import BinnedKde

ALPHA = 0.025
SHIFTED = "shifted labels"
EVERY = 5  # slower methods run in every fifth world
RESULTS = Path(__file__).parent / "results" / "reliability.json"


@dataclass(frozen=True)
class World:
    """Inputs, labels, a trained model and its true error probability."""

    model: Any
    draw: Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]
    pmi: float
    risk: Callable[[np.ndarray], np.ndarray] | None = None


def curved(dims: int, noise: float) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """Uniform inputs, a curved boundary in the first two, and flipped labels near it."""

    def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X = rng.random((n, dims))
        height = X[:, 1] if dims > 1 else 0.0
        gap = X[:, 0] - 0.5 - 0.15 * np.sin(6 * height)
        flip = rng.random(n) < noise * np.exp(-np.abs(gap) * 8)
        return X, ((gap > 0) ^ flip).astype(np.int64)

    return draw


def trained_world(dims: int, rows: int, noise: float, rng: np.random.Generator) -> World:
    return trained_on(curved(dims, noise), rows, rng)


def trained_on(draw: Callable[..., Any], rows: int, rng: np.random.Generator) -> World:
    X, y = draw(rows, rng)
    state = int(rng.integers(2**31))
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=state).fit(X, y)
    X, y = draw(60_000, rng)
    return World(tree, draw, float((tree.predict(X) != y).mean()))


def nearly_perfect(dims: int) -> World:
    """A threshold that is off by 0.0005: with 200 labels mostly no error is seen."""

    def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X = rng.random((n, dims))
        return X, (X[:, 0] > 0.5).astype(np.int64)

    def probabilities(X: np.ndarray) -> np.ndarray:
        p = ndtr((X[:, 0] - 0.5005) * 20)
        return np.column_stack([1 - p, p])

    return World(as_classifier(probabilities, classes=[0, 1]), draw, 0.0005)


def half_explained() -> World:
    """A tenth of the inputs is pure chance, and the surrogate knows which."""

    def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X = rng.random((n, 2))
        y = (X[:, 0] > 0.5).astype(np.int64)
        return X, np.where(X[:, 1] < 0.1, rng.integers(0, 2, n), y)

    def probabilities(X: np.ndarray) -> np.ndarray:
        p = (X[:, 0] > 0.5) * 0.98 + 0.01
        return np.column_stack([1 - p, p])

    model = as_classifier(probabilities, classes=[0, 1])
    return World(model, draw, 0.05, lambda X: 0.5 * (X[:, 1] < 0.1))


def lopsided(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Uniform inputs whose labels are noisy at small x₀ only."""
    X = rng.random((n, 2))
    flip = rng.random(n) < 0.4 * (1 - X[:, 0]) ** 2
    return X, ((X[:, 1] > 0.5 + 0.15 * np.sin(6 * X[:, 0])) ^ flip).astype(np.int64)


def shifted_labels(
    world: World, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels with density 0.2 + 1.6 x₀ instead of 1: errors at small x₀ are seen too rarely."""
    X, y = world.draw(8 * n, rng)
    density = 0.2 + 1.6 * X[:, 0]
    kept = np.flatnonzero(rng.random(len(X)) < density / 1.8)[:n]
    return X[kept], y[kept], 1 / density[kept]


CONFIGURATIONS: dict[str, tuple[Callable[[np.random.Generator], World], int]] = {
    "2-D easy": (lambda rng: trained_world(2, 3000, 0.0, rng), 400),
    "2-D hard": (lambda rng: trained_world(2, 150, 0.4, rng), 400),
    "5-D easy": (lambda rng: trained_world(5, 1500, 0.0, rng), 200),
    "5-D hard": (lambda rng: trained_world(5, 150, 0.4, rng), 400),
    "20-D easy": (lambda rng: trained_world(20, 1500, 0.0, rng), 400),
    "20-D hard": (lambda rng: trained_world(20, 150, 0.4, rng), 200),
    "mostly 0 errors": (lambda _: nearly_perfect(2), 200),
    "surrogate explains half": (lambda _: half_explained(), 1000),
}


def coverage(worlds: int, names: list[str]) -> list[dict[str, Any]]:
    rows = []
    for name, (make, n) in CONFIGURATIONS.items():
        if name not in names:
            continue
        rng = generator(0, "coverage", name)
        record: dict[str, list[float]] = {}
        truths = []
        for index in range(worlds):
            world = make(rng)
            X, y = world.draw(n, rng)
            field = world.draw(20 * n, rng)[0]
            found = default_bound(world, X, y, field, index)
            truths.append(world.pmi)
            _put(record, "rectified (default)", found.pmi_upper)
            _put(record, "Clopper-Pearson", found.clopper_pearson_alone)
            _put(record, "normal PPI", found.normal_upper)
            if index % EVERY == 0:
                _other_methods(record, world, X, y, field)
        rows += _coverage_rows(name, record, np.array(truths), worlds)
    if SHIFTED in names:
        rows += shift_coverage(worlds)
    return rows


def default_bound(
    world: World, X: np.ndarray, y: np.ndarray, field: np.ndarray, seed: int
) -> RectifiedBound:
    """The default bound without the ledger; now and then the whole assessment must agree."""
    ask = world.model.predict_proba
    risk = None if world.risk is None else user_risk(world.risk, X.shape[1:])
    found = rectified_bound(
        Inputs(X, ask(X)), y, Inputs(field, ask(field)), alpha=ALPHA, risk=risk, seed=seed
    )
    if seed % 100 == 0:
        method = reliability.Rectified(surrogate=world.risk)
        whole = reliability.assess(world.model, X, y, field, method=method, seed=seed)
        assert abs(whole.pmi_upper - found.pmi_upper) < 1e-9
    return found


def _other_methods(
    record: dict[str, list[float]], world: World, X: np.ndarray, y: np.ndarray, field: np.ndarray
) -> None:
    errors = int((world.model.predict(X) != y).sum())
    worst = reliability.assess(world.model, X, y, operational=field, method="worst-case")
    _put(record, "worst-case", worst.pmi_upper)
    # A prior that is true here: every world's pmi is above 1e-4; half below it is not.
    prior = reliability.ConservativePrior(epsilon=2e-4, theta=0.1, floor=1e-4)
    _put(
        record,
        "conservative-bayes",
        reliability.conservative_upper(errors, len(y), prior, 1 - ALPHA),
    )
    if X.shape[1] == 2:
        model = world.model if hasattr(world.model, "queries") else as_classifier(world.model)
        ram = assess_cells(
            lambda rows: model.predict_proba(rows).argmax(axis=1),
            X,
            y,
            grid=Grid.regular(250, (0, 1), dimensions=2),
            profile=CentreDensity(X, 0.2),
            estimator=estimator_for(model, 100),
            n_classes=2,
            alpha=ALPHA,
            samples=10_000,
            seed=0,
        )
        _put(record, "ram (published)", ram.pmi_upper)


def shift_coverage(worlds: int) -> list[dict[str, Any]]:
    rng = generator(0, "coverage", "shift")
    record: dict[str, list[float]] = {}
    truths, flagged = [], 0
    for index in range(worlds):
        world = trained_on(lopsided, 500, rng)
        X, y, weights = shifted_labels(world, 600, rng)
        field = world.draw(12_000, rng)[0]
        truths.append(world.pmi)
        ask = world.model.predict_proba
        known = rectified_bound(
            Inputs(X, ask(X)),
            y,
            Inputs(field, ask(field)),
            alpha=ALPHA,
            weights=weights,
            weight_bound=5.0,
            seed=index,
        )
        _put(record, "rectified, known weights", known.pmi_upper)
        plain = reliability.assess(world.model, X, y, operational=field, seed=index)
        _put(record, "rectified, weights not given", plain.pmi_upper)
        flagged += plain.labels_from_elsewhere
        if index % EVERY == 0:
            guessed = reliability.assess(
                world.model, X, y, operational=field, weights="estimate", seed=index
            )
            _put(record, "estimated weights (no claim)", guessed.pmi_upper)
            assert not guessed.is_bound
    rows = _coverage_rows(SHIFTED, record, np.array(truths), worlds)
    for row in rows:
        if row["method"] == "rectified, weights not given":
            row["said not to hold"] = f"{flagged} of {worlds}"
    return rows


def _put(record: dict[str, list[float]], method: str, bound: float) -> None:
    record.setdefault(method, []).append(bound)


def _coverage_rows(
    name: str, record: dict[str, list[float]], truths: np.ndarray, worlds: int
) -> list[dict[str, Any]]:
    exact = np.array(record.get("Clopper-Pearson", []))
    base = float((exact - truths).mean()) if len(exact) else float("nan")
    rows = []
    for method, bounds in record.items():
        value = np.array(bounds)
        truth = truths if len(value) == worlds else truths[::EVERY]
        misses = int((value < truth).sum())
        rows.append(
            {
                "world": name,
                "method": method,
                "worlds": len(value),
                "mean pmi": round(float(truth.mean()), 5),
                "misses": misses,
                "allowed": int(binom.ppf(0.999, len(value), ALPHA)),
                "mean bound": round(float(value.mean()), 5),
                "excess / Clopper-Pearson": round(float((value - truth).mean()) / base, 3),
            }
        )
    return rows


def cells() -> list[dict[str, Any]]:
    data = unit_square(5000, seed=0)
    X, y = data.X, data.y
    forest = RandomForestClassifier(10, random_state=5).fit(X[:4000], y[:4000])
    network = MLPClassifier((64, 64), max_iter=200, random_state=0)
    network.fit(X[:4000], y[:4000])
    rows = []
    for name, model in (("forest, 10 trees", forest), ("MLP 64-64", network)):
        grid = Grid.regular(250, (0, 1), dimensions=2)
        wrapped = (
            as_classifier(model, batch_size=4096) if name == "MLP 64-64" else as_classifier(model)
        )
        predict = lambda R, w=wrapped: w.predict_proba(R).argmax(axis=1)  # noqa: E731
        estimator = estimator_for(wrapped, 10_000)
        estimator(predict, Grid.regular(5, (0, 1), dimensions=2), 2, 0)  # imports are not work
        started = time.process_time()
        shares = estimator(predict, grid, 2, 0)
        ours = (time.process_time() - started) / grid.n_cells
        rng = np.random.default_rng(0)
        border = np.flatnonzero((shares.shares > 0).all(axis=1))
        chosen = np.concatenate([rng.choice(grid.n_cells, 20), rng.choice(border, 20)])
        low, high = grid.boxes(chosen)
        started = time.process_time()
        loop = np.array(
            [
                (model.predict(a + (b - a) * rng.random((10_000, 2))) == 0).mean()
                for a, b in zip(low, high, strict=True)
            ]
        )
        theirs = (time.process_time() - started) / len(chosen)
        error = np.abs(loop - shares.shares[chosen, 0])
        rows.append(
            {
                "model": name,
                "method": shares.method,
                "µs per cell": round(1e6 * ours, 2),
                "loop of 10,000 draws, µs": round(1e6 * theirs, 1),
                "times less CPU": round(theirs / ours),
                "largest difference": round(float(error.max()), 4),
                "cells proven whole": round(float((shares.proven >= 1 - 1e-9).mean()), 4),
            }
        )
    return rows


def kde() -> list[dict[str, Any]]:
    X = unit_square(100_000, seed=1).X
    grid = Grid.regular(500, (0, 1), dimensions=2)
    rows = []
    for bandwidth in (0.2, 0.04):
        elapsed = []
        for _ in range(3):
            started = time.process_time()
            density = BinnedKde(X, bandwidth).density(grid.centres)
            elapsed.append(time.process_time() - started)
        peer = KernelDensity(bandwidth=bandwidth).fit(X)
        rng = np.random.default_rng(0)
        some = rng.choice(grid.n_cells, 100, replace=False)
        low, high = grid.boxes(some)
        started = time.process_time()
        theirs = np.exp(peer.score_samples((low + high) / 2))
        slow = (time.process_time() - started) * grid.n_cells / len(some)
        error = np.abs(density.ravel()[some] / theirs - 1)
        heavy = theirs > 1e-3 * theirs.max()
        rows.append(
            {
                "bandwidth": bandwidth,
                "seconds": round(min(elapsed), 4),
                "scikit-learn (scaled from 100 cells)": round(slow, 1),
                "times faster": round(slow / min(elapsed)),
                "largest relative error": float(f"{error[heavy].max():.2g}"),
            }
        )
    return rows


def splitting(boxes: int = 48, repeats: int = 3, rivals: int = 8) -> list[dict[str, Any]]:
    """Failure beyond a plane through a corner of the box, for which the probability is known.

    All boxes at once, then some boxes one at a time with the published moves and with as few as
    ours, in turn, three times; the smallest CPU time of each is kept.
    """
    rows = []
    for dims, p in ((2, 1e-2), (2, 1e-3), (2, 1e-5), (10, 1e-4)):
        reach = (p * math.factorial(dims)) ** (1 / dims)
        model = as_classifier(_plane_model(dims, reach), classes=[0, 1], batch_size=1000)
        margin = margin_of(model.predict_proba)
        low, high = np.zeros((boxes, dims)), np.ones((boxes, dims))
        settings, truth = reliability.Splitting(1000, 20), math.log(p)
        runs, inside, queries = [], 0, 0
        slow: dict[int, list[float]] = {200: [], 20: []}
        seconds: dict[str, list[float]] = {"ours": [], "200": [], "20": []}
        for repeat in range(repeats):
            with _cpu(seconds["ours"], boxes):
                found = settings(margin, low, high, np.zeros(boxes, dtype=np.int64), repeat)
            runs.append(found.log_p)
            inside += int(((found.low <= truth) & (truth <= found.high)).sum())
            queries += found.queries
            for moves, values in slow.items():
                with _cpu(seconds[str(moves)], rivals):
                    values += [
                        _random_walk(margin, dims, rivals * repeat + i, moves=moves)
                        for i in range(rivals)
                    ]
        ours, sd = min(seconds["ours"]), float(np.std(runs, ddof=1))
        row = {
            "dims": dims,
            "p": p,
            "mean ln p - truth": round(float(np.mean(runs) - truth), 3),
            "sd of ln p": round(sd, 3),
            "interval covers": f"{inside} of {boxes * repeats}",
            "queries per box": round(queries / boxes / repeats),
            "seconds per box": round(ours, 4),
        }
        for moves, values in slow.items():
            theirs, their_sd = min(seconds[str(moves)]), float(np.std(values, ddof=1))
            row[f"random walk, {moves} moves: s"] = round(theirs, 4)
            row[f"{moves}: bias"] = round(float(np.mean(values)) - truth, 3)
            row[f"{moves}: sd"] = round(their_sd, 3)
            row[f"{moves}: times less CPU"] = round(theirs / ours, 1)
            row[f"{moves}: at equal sd"] = round(theirs * their_sd**2 / (ours * sd**2), 1)
        rows.append(row)
    return rows


@contextmanager
def _cpu(into: list[float], boxes: int) -> Iterator[None]:
    """CPU seconds per box of what is done inside."""
    started = time.process_time()
    yield
    into.append((time.process_time() - started) / boxes)


def _plane_model(dims: int, reach: float) -> Callable[[np.ndarray], np.ndarray]:
    """A small network's work per row, with the plane in its last layer."""
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((dims, 64)) * 1e-9

    def probabilities(rows: np.ndarray) -> np.ndarray:
        gap = rows.sum(axis=1) - dims + reach + np.maximum(rows @ hidden, 0).sum(axis=1)
        p = 0.5 + 0.5 * gap / dims
        return np.column_stack([1 - p, p])

    return probabilities


def _random_walk(
    margin: Any, dims: int, seed: int, particles: int = 1000, moves: int = 200
) -> float:
    """Splitting as published: one box at a time, a tenth kept, uniform random-walk moves."""
    rng = np.random.default_rng(seed)
    label = np.zeros(particles, dtype=np.int64)
    x = rng.random((particles, dims))
    score = margin(x, label)
    log_p, width = 0.0, 0.3
    while log_p > -30:
        level = min(float(np.quantile(score, 0.9)), 0.0)
        alive = np.flatnonzero(score >= level)
        log_p += math.log(len(alive) / particles)
        if level >= 0:
            return log_p
        pick = rng.choice(alive, particles)
        x, score = x[pick], score[pick]
        for _ in range(moves):
            trial = x + width * (2 * rng.random(x.shape) - 1)
            value = margin(np.clip(trial, 0, 1), label)
            accept = (value >= level) & ((trial >= 0) & (trial <= 1)).all(axis=1)
            x[accept], score[accept] = trial[accept], value[accept]
            width = float(np.clip(width * math.exp(accept.mean() - 0.25), 1e-4, 1))
    return log_p


def show(title: str, rows: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    print(f"\n{title}\n\n| " + " | ".join(names) + " |")
    print("|" + "---|" * len(names))
    for row in rows:
        print("| " + " | ".join(str(row.get(name, "")) for name in names) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=["cells", "kde", "splitting", "coverage"])
    parser.add_argument("--worlds", type=int, default=500)
    every = [*CONFIGURATIONS, SHIFTED]
    parser.add_argument("--kinds", nargs="*", default=every, choices=every, metavar="WORLD")
    options = parser.parse_args()
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    parts: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "cells": cells,
        "kde": kde,
        "splitting": splitting,
        "coverage": lambda: coverage(options.worlds, options.kinds),
    }
    for name in options.only:
        started = time.process_time()
        rows = parts[name]()
        show(f"{name} ({time.process_time() - started:.0f} CPU s)", rows)
        if name == "coverage":
            before = [r for r in stored.get(name, []) if r["world"] not in options.kinds]
            rows = sorted([*before, *rows], key=lambda row: every.index(row["world"]))
        stored[name] = rows
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
