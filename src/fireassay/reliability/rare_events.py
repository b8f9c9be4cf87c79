"""Failure probability inside boxes: Monte Carlo draws or multilevel splitting."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Protocol

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.lazy import special
from fireassay.core.seeds import derived_seed, generator
from fireassay.reliability.plan import Workers
from fireassay.statistics.counts import clopper_pearson

Margin = Callable[[FloatArray, IntArray], FloatArray]
_BOXES_AT_ONCE = 64
_MOST_NUMBERS = 500_000
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class BoxFailures:
    """Failure probabilities of boxes, as natural logarithms.

    Attributes:
        log_p: Estimates; -inf where no failure was met.
        low, high: Interval of each; where ``log_p`` is -inf, ``high`` says how much is still
            possible.
        moved: Smallest share of copied particles that left their place (1 for plain Monte Carlo).
        acceptance: Mean share of accepted moves (1 for plain Monte Carlo).
        levels: Levels climbed in each box.
        queries: Rows sent to the model.
    """

    log_p: FloatArray
    low: FloatArray
    high: FloatArray
    moved: FloatArray
    acceptance: FloatArray
    levels: IntArray
    queries: int


class RareEventEstimator(Protocol):
    """Anything that estimates failure probabilities of boxes; pass your own where one is taken."""

    def __call__(
        self, margin: Margin, low: FloatArray, high: FloatArray, labels: IntArray, seed: int
    ) -> BoxFailures:
        """Failure probabilities of boxes; ``margin(rows, labels)`` is positive for failures."""
        ...


def map_boxes(
    estimator: RareEventEstimator,
    margin: Margin,
    low: FloatArray,
    high: FloatArray,
    labels: IntArray,
    seed: int,
    workers: Workers,
) -> BoxFailures:
    """Many boxes, some at a time; how many, and the random numbers, do not depend on workers."""
    at_once = getattr(estimator, "boxes_at_once", lambda _: _BOXES_AT_ONCE)(low.shape[1])
    rows = [(start, min(start + at_once, len(low))) for start in range(0, len(low), at_once)]
    shared = {"estimator": estimator, "margin": margin, "low": low, "high": high, "labels": labels}
    return joined(workers.run(some_boxes, rows, {**shared, "seed": seed}, "boxes"))


def some_boxes(
    row: tuple[int, int],
    estimator: RareEventEstimator,
    margin: Margin,
    low: FloatArray,
    high: FloatArray,
    labels: IntArray,
    seed: int,
) -> BoxFailures:
    """The failures of one run of boxes."""
    part, own = slice(*row), derived_seed(seed, "boxes", row[0])
    return estimator(margin, low[part], high[part], labels[part], own)


def joined(parts: list[BoxFailures]) -> BoxFailures:
    """The failures of consecutive boxes as one."""
    if len(parts) == 1:
        return parts[0]
    columns: dict[str, Any] = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(BoxFailures)
        if field.name != "queries"
    }
    return BoxFailures(**columns, queries=sum(part.queries for part in parts))


@dataclass(frozen=True)
class MonteCarlo:
    """Plain uniform draws: unbiased, exact intervals, useless below about one in ``samples``.

    Attributes:
        samples: Draws per box.
        confidence: Of the intervals.

    >>> from fireassay import as_classifier
    >>> from fireassay.reliability import box_failures
    >>> half = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1])
    >>> found = box_failures(half, [[0.0]], [[0.8]], [0], MonteCarlo(4000, confidence=0.999))
    >>> bool(found.low[0] < np.log(0.3 / 0.8) < found.high[0]), found.queries
    (True, 4000)
    """

    samples: int = 10_000
    confidence: float = 0.95

    def boxes_at_once(self, dims: int) -> int:
        """How many boxes are drawn together."""
        return max(1, _MOST_NUMBERS // (self.samples * dims))

    def __call__(
        self, margin: Margin, low: FloatArray, high: FloatArray, labels: IntArray, seed: int
    ) -> BoxFailures:
        """Failure probabilities of the boxes."""
        boxes, d = low.shape
        rng = generator(seed, "monte-carlo")
        failures = np.zeros(boxes)
        size = self.boxes_at_once(d)
        for start in range(0, boxes, size):
            rows = slice(start, start + size)
            width = (high - low)[rows, None]
            points = low[rows, None] + width * rng.random((len(width), self.samples, d))
            owner = np.repeat(labels[rows], self.samples)
            score = margin(points.reshape(-1, d), owner).reshape(len(width), self.samples)
            failures[rows] = (score > 0).sum(axis=1)
        below, above = clopper_pearson(failures, self.samples, self.confidence)
        with np.errstate(divide="ignore"):
            log_p, low_p, high_p = (np.log(v) for v in (failures / self.samples, below, above))
        ones = np.ones(boxes)
        levels = np.zeros(boxes, dtype=np.int64)
        return BoxFailures(log_p, low_p, high_p, ones, ones, levels, boxes * self.samples)


def margin_of(scores: Callable[[FloatArray], FloatArray]) -> Margin:
    """The best other class's score minus the own one, positive where wrong; ties as in argmax."""

    def margin(rows: FloatArray, labels: IntArray) -> FloatArray:
        values = scores(rows)
        columns = np.ascontiguousarray(values.T)
        own = columns[labels, np.arange(len(values))]
        gap = np.full(len(values), -np.inf)
        for index, column in enumerate(columns):
            np.maximum(gap, np.where(labels == index, -np.inf, column), out=gap)
        gap -= own
        tied = np.flatnonzero(np.abs(gap) < _TINY)
        if len(tied):
            wrong = values[tied].argmax(axis=1) != labels[tied]
            gap[tied] = np.where(wrong, _TINY, -_TINY)
        return gap

    return margin


Score = Callable[[FloatArray, IntArray], FloatArray]
# Half of the moves accepted: a quarter, as usual for random walks, took 1.8 times the queries
# for the same precision (balls, planes, strips and two corners in 2 to 50 dimensions).
_WANTED_ACCEPTANCE = 0.5
_ENOUGH_MOVED = 0.9
_ENOUGH_ACCEPTED = 2.0
_MANY = 50
_SMALLEST_STEP = 0.005
_REACH = 8.5  # beyond it the distribution function is 0 or 1 to double precision
_STEPS = 8192
_NUMBERS_AT_ONCE = 16_384


@dataclass
class Particles:
    """Copies of all boxes, sorted by box."""

    g: FloatArray
    score: FloatArray
    owner: IntArray
    boxes: IntArray
    bar: FloatArray
    step: FloatArray


def scatter(
    particles: Particles, score_of: Score, moves: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Move all copies in place; the mean acceptance and the share ever moved, of each box."""
    # A box stops before ``moves`` when its copies have left their places; few copies make every
    # move, since the moment of stopping would bias them.
    boxes = len(particles.boxes)
    count = np.bincount(particles.owner, minlength=boxes)
    accepted, tried, share = np.zeros(boxes), np.zeros(boxes), np.zeros(boxes)
    going = np.arange(boxes)
    rows = np.arange(len(particles.owner))
    g, score, owner = particles.g, particles.score, particles.owner
    ever = np.zeros(len(owner), dtype=bool)
    for left in reversed(range(moves)):
        start = np.concatenate([[0], np.cumsum(count[going])[:-1]])
        beta = particles.step.take(owner)[:, None]
        trial = rng.standard_normal(g.shape)
        trial *= beta
        trial += np.sqrt(1 - beta**2) * g
        value = score_of(trial, particles.boxes.take(owner))
        accept = value > particles.bar.take(owner)
        np.copyto(g, trial, where=accept[:, None])
        np.copyto(score, value, where=accept)
        ever |= accept
        rate = np.add.reduceat(accept, start, dtype=np.float64) / count[going]
        accepted[going] += rate
        tried[going] += 1
        share[going] = np.add.reduceat(ever, start, dtype=np.float64) / count[going]
        step = particles.step[going] * np.exp(rate - _WANTED_ACCEPTANCE)
        particles.step[going] = np.clip(step, _SMALLEST_STEP, 1.0)
        rested = (share[going] >= _ENOUGH_MOVED) & (accepted[going] >= _ENOUGH_ACCEPTED)
        rested &= count[going] >= _MANY
        if left == 0 or rested.any():
            stay = np.repeat(~rested, count[going])
            particles.g[rows], particles.score[rows] = g, score
            rows, going = rows[stay], going[~rested]
            if not len(going):
                break
            g, score, owner, ever = g[stay], score[stay], owner[stay], ever[stay]
    return accepted / tried, share


def normal_cdf(g: FloatArray) -> FloatArray:
    """Φ(g) from a table: increasing, relative error below 1e-4 in both tails."""
    value, slope = _table()
    found = np.empty(g.size)
    flat = g.reshape(-1)
    for start in range(0, g.size, _NUMBERS_AT_ONCE):  # what is at work stays in the cache
        part = slice(start, start + _NUMBERS_AT_ONCE)
        place = flat[part] * (_STEPS / (2 * _REACH))
        place += _STEPS / 2
        np.clip(place, 0, _STEPS, out=place)
        step = place.astype(np.int32)
        place -= step
        place *= slope.take(step)
        np.add(place, value.take(step), out=found[part])
    return found.reshape(g.shape)


@cache
def _table() -> tuple[FloatArray, FloatArray]:
    value = special.ndtr(np.linspace(-_REACH, _REACH, _STEPS + 1))
    return value, np.diff(value, append=value[-1])
