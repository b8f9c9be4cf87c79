"""How likely a model fails inside boxes: one protocol, plain draws or multilevel splitting."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.seeds import derived_seed, generator
from fireassay.reliability.workers import Workers
from fireassay.statistics.clopper_pearson import clopper_pearson

Margin = Callable[[FloatArray, IntArray], FloatArray]
_BOXES_AT_ONCE = 64
_MOST_NUMBERS = 500_000
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class BoxFailures:
    """Failure probabilities of boxes, as natural logarithms.

    Attributes
    ----------
    log_p
        Estimates; -inf where no failure was met.
    low, high
        Interval of each; where ``log_p`` is -inf, ``high`` says how much is still possible.
    moved
        Smallest share of copied particles that left their place (1 for plain Monte Carlo).
    acceptance
        Mean share of accepted moves (1 for plain Monte Carlo).
    levels
        Levels climbed in each box.
    queries
        Rows sent to the model.
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
        """Failure probabilities of the boxes ``low`` to ``high`` with true class ``labels``.

        ``margin`` maps rows and labels to a score that is positive exactly for failures.
        """
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
    """Many boxes, some at a time, wherever there is room.

    How many go together depends on the estimator and the dimensions alone (its method
    ``boxes_at_once(dims)``, else 64), and so do the random numbers: neither depends on workers.
    """
    at_once = getattr(estimator, "boxes_at_once", lambda _: _BOXES_AT_ONCE)(low.shape[1])
    tasks = [
        {"start": start, "stop": min(start + at_once, len(low)), "seed": seed}
        for start in range(0, len(low), at_once)
    ]
    shared = {"estimator": estimator, "margin": margin, "low": low, "high": high, "labels": labels}
    return joined(workers.run(some_boxes, tasks, shared, "boxes"))


def some_boxes(
    row: dict[str, int],
    estimator: RareEventEstimator,
    margin: Margin,
    low: FloatArray,
    high: FloatArray,
    labels: IntArray,
) -> BoxFailures:
    """The failures of one run of boxes."""
    part = slice(row["start"], row["stop"])
    seed = derived_seed(row["seed"], "boxes", row["start"])
    return estimator(margin, low[part], high[part], labels[part], seed)


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

    Attributes
    ----------
    samples
        Draws per box.
    confidence
        Of the intervals.

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


def margin_of(
    scores: Callable[[FloatArray], FloatArray],
) -> Margin:
    """The best other class's score minus the own one; positive exactly where the model is wrong.

    Ties go to the first class, as in ``argmax``.
    """

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
