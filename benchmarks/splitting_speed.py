"""Splitting against the published one, on failures whose probability is known."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fireassay import as_classifier, reliability
from fireassay.reliability.rare_events import margin_of


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
