"""Adaptive multilevel splitting: probabilities of failures too rare to meet by chance.

Particles climb towards failure level by level. At each level the lowest are replaced by copies
of others, which are then moved at random without falling below the level. Points are Gaussian
coordinates mapped into the box, moved by a Crank-Nicolson step that keeps the Gaussian, and all
boxes climb together so that the model sees large batches.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers import Classifier, as_classifier
from fireassay.core import DataError, ParameterError, derived_seed, generator
from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.lazy import stats
from fireassay.core.validation import (
    check_choice,
    check_class_indices,
    check_features,
    check_integer,
    check_real,
)
from fireassay.reliability.plan import Workers
from fireassay.reliability.rare_events import (
    BoxFailures,
    Margin,
    Particles,
    RareEventEstimator,
    joined,
    map_boxes,
    margin_of,
    normal_cdf,
    scatter,
)
from fireassay.statistics.counts import clopper_pearson, poisson_interval

# Copies stay a little alike: the variance over repeated runs was 0.9 to 1.7 times that of
# independent particles (balls, planes, strips and two corners), 1.25 on average.
_ALIKE = 1.25
_ROWS_AT_ONCE = 16_384
_PARTICLES_AT_ONCE = 16_384
_MOST_NUMBERS = 10_000_000


@dataclass(frozen=True)
class Splitting:
    """Settings of multilevel splitting; an object of this class is a `RareEventEstimator`.

    Attributes:
        particles, moves: Points per box, and most moves of each copy per level (fewer where copies
            scatter fast).
        keep: Share of particles kept at each level; 0.5 has an ideal standard deviation of ln p of
            ``sqrt(-log2(p) / particles)``. ``last_particle`` drops one at a time instead.
        smallest: Climbing stops below this ln p, and only an upper bound is reported.
        confidence: Of the intervals.

    >>> from fireassay import as_classifier
    >>> from fireassay.reliability import box_failures
    >>> half = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1])
    >>> found = box_failures(half, [[0.0]], [[0.5002]], [0], Splitting(particles=500))
    >>> bool(found.low[0] < np.log(0.0002 / 0.5002) < found.high[0])
    True
    """

    particles: int = 1000
    moves: int = 20
    keep: float = 0.5
    last_particle: bool = False
    smallest: float = -30.0
    confidence: float = 0.95

    def boxes_at_once(self, dims: int) -> int:
        """How many boxes climb together: enough for large batches, few enough for the cache."""
        return max(1, min(_PARTICLES_AT_ONCE, _MOST_NUMBERS // dims) // self.particles)

    def __call__(
        self, margin: Margin, low: FloatArray, high: FloatArray, labels: IntArray, seed: int
    ) -> BoxFailures:
        """Failure probabilities of the boxes."""
        size = self.boxes_at_once(low.shape[1])
        parts = []
        for start in range(0, len(low), size):
            some = slice(start, start + size)
            climb = _Climb(self, margin, low[some], high[some], labels[some])
            parts.append(climb.run(generator(seed, "splitting", start)))
        return joined(parts)


class _Climb:
    """One batch of boxes on its way up."""

    def __init__(
        self,
        settings: Splitting,
        margin: Margin,
        low: FloatArray,
        high: FloatArray,
        labels: IntArray,
    ) -> None:
        self.settings, self.margin = settings, margin
        self.low, self.width, self.labels = low, high - low, labels
        boxes = len(low)
        self.log_p, self.variance = np.zeros(boxes), np.zeros(boxes)
        self.high = np.full(boxes, np.nan)
        self.step = np.full(boxes, 0.5)
        self.moved = np.ones(boxes)
        self.accepted = np.zeros(boxes)
        self.levels = np.zeros(boxes, dtype=np.int64)
        self.queries = 0

    def run(self, rng: np.random.Generator) -> BoxFailures:
        n = self.settings.particles
        self.g = rng.standard_normal((len(self.low), n, self.low.shape[1]))
        everyone = np.repeat(np.arange(len(self.low)), n)
        self.score = self._scores(self.g.reshape(len(everyone), -1), everyone)
        self.score = self.score.reshape(len(self.low), n)
        active = np.arange(len(self.low))
        drop = 1 if self.settings.last_particle else max(1, round(n * (1 - self.settings.keep)))
        while len(active):
            level = np.partition(self.score[active], drop - 1, axis=1)[:, drop - 1]
            arrived = level > 0
            self._finish(active[arrived])
            active, level = active[~arrived], level[~arrived]
            dead = self.score[active] <= level[:, None]
            lost = dead.sum(axis=1)
            stuck = lost == n
            self._give_up(active[stuck])
            active, level = active[~stuck], level[~stuck]
            dead, lost = dead[~stuck], lost[~stuck]
            self.log_p[active] += np.log1p(-lost / n)
            self.variance[active] += lost / ((n - lost) * n)
            self.levels[active] += 1
            deep = self.log_p[active] < self.settings.smallest
            self._give_up(active[deep])
            active, level, dead = active[~deep], level[~deep], dead[~deep]
            if len(active):
                self._move(active, level, dead, rng)
        low, high = self._intervals()
        levels = np.maximum(self.levels, 1)
        acceptance = np.where(self.levels > 0, self.accepted / levels, 1.0)
        return BoxFailures(self.log_p, low, high, self.moved, acceptance, self.levels, self.queries)

    def _finish(self, boxes: IntArray) -> None:
        if not len(boxes):
            return
        share = (self.score[boxes] > 0).mean(axis=1)
        self.log_p[boxes] += np.log(share)
        self.variance[boxes] += (1 - share) / (share * self.settings.particles)

    def _give_up(self, boxes: IntArray) -> None:
        """No particle is left above the level, or ln p is small enough: an upper bound remains."""
        n, tail = self.settings.particles, (1 - self.settings.confidence) / 2
        one_step = math.log(float(clopper_pearson(0, n, 1 - tail, "upper")[1]))
        z = float(stats.norm.isf(tail))
        deep = self.log_p[boxes] < self.settings.smallest
        rest = np.where(deep, 0.0, one_step)
        self.high[boxes] = self.log_p[boxes] + rest + z * np.sqrt(_ALIKE * self.variance[boxes])
        self.log_p[boxes] = -np.inf

    def _move(
        self, active: IntArray, level: FloatArray, dead: NDArray[np.bool_], rng: np.random.Generator
    ) -> None:
        owner, slot = np.nonzero(dead)
        box = active[owner]
        parent = _random_survivors(~dead, owner, rng)
        particles = Particles(
            self.g[box, parent], self.score[box, parent], owner, active, level, self.step[active]
        )
        acceptance, share = scatter(particles, self._scores, self.settings.moves, rng)
        self.g[box, slot], self.score[box, slot] = particles.g, particles.score
        self.step[active] = particles.step
        self.accepted[active] += acceptance
        self.moved[active] = np.minimum(self.moved[active], share)

    def _scores(self, g: FloatArray, box: IntArray) -> FloatArray:
        self.queries += len(g)
        values = np.empty(len(g))
        for start in range(0, len(g), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            here = box[part]
            rows = normal_cdf(g[part])
            rows *= self.width.take(here, axis=0)
            rows += self.low.take(here, axis=0)
            values[part] = self.margin(rows, self.labels[here])
        return values

    def _intervals(self) -> tuple[FloatArray, FloatArray]:
        met = np.isfinite(self.log_p)
        n = self.settings.particles
        if self.settings.last_particle:
            # Under ideal mixing the number of drops is Poisson with mean -n ln p.
            few, many = poisson_interval(self.levels, self.settings.confidence)
            low, high = -np.asarray(many) / n, -np.asarray(few) / n
        else:
            z = float(stats.norm.isf((1 - self.settings.confidence) / 2))
            error = z * np.sqrt(_ALIKE * self.variance)
            low, high = self.log_p - error, np.minimum(self.log_p + error, 0.0)
        return np.where(met, low, -np.inf), np.where(met, high, np.minimum(self.high, 0.0))


def _random_survivors(
    alive: NDArray[np.bool_], position: IntArray, rng: np.random.Generator
) -> IntArray:
    """For each copy, the slot of a random survivor of its box."""
    order = np.argsort(~alive, axis=1, kind="stable")
    count = alive.sum(axis=1)
    pick = (rng.random(len(position)) * count[position]).astype(np.int64)
    return np.asarray(order[position, pick], dtype=np.int64)


@dataclass(frozen=True)
class SplittingResult:
    """The probability of a failure in one box.

    Attributes:
        log_p, low, high: Natural logarithm of the probability, and its interval. Where nothing
            failed ``log_p`` is -inf and ``high`` is what is still possible: an upper bound, not
            zero.
        mixes: Whether copies moved away from their parents; if not, the interval is too narrow.
        replicates: ln p of each independent run.
        diagnostics: Levels, acceptance, smallest share of moved copies, queries.
        confidence: Of the interval.
    """

    log_p: float
    low: float
    high: float
    confidence: float
    mixes: bool
    replicates: FloatArray
    diagnostics: dict[str, float]

    @property
    def p(self) -> float:
        """The probability itself."""
        return math.exp(self.log_p)

    @property
    def is_upper_bound(self) -> bool:
        """Whether no failure was met."""
        return self.log_p == -math.inf


def splitting(
    model: Any,
    x: ArrayLike,
    label: Any,
    radius: float,
    particles: int = 1000,
    moves: int = 20,
    seed: int = 0,
    *,
    keep: float = 0.5,
    method: str = "levels",
    replicates: int = 1,
    confidence: float = 0.95,
    smallest: float = -30.0,
    workers: int = 1,
    cluster: Any = None,
) -> SplittingResult:
    """The probability that the model is wrong at a random point of the ball around x (L∞).

    Args:
        model: A `Classifier` or anything `as_classifier` takes. Logits are used where it has them.
        x, label: One input and its true class.
        radius: Half the side of the box, cut off at the model's declared bounds.
        particles, moves, keep: See `Splitting`.
        method: ``"levels"``, or ``"last-particle"`` with its Poisson interval.
        replicates: Independent runs; with two or more the interval comes from their spread.
        smallest: Climbing stops below this ln p.
        workers, cluster: Where replicates run, as in `fireassay.engine.Executor`; the result does
            not depend on it.
        seed: Of the random points.
        confidence: Of the interval, in (0, 1).

    >>> half = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=["a", "b"])
    >>> found = splitting(half, [0.4], "a", radius=0.101)  # wrong in 0.001 of a side of 0.202
    >>> found.low < math.log(0.001 / 0.202) < found.high
    True
    """
    check_integer(particles, "particles", low=10)
    check_integer(moves, "moves", low=1)
    check_integer(replicates, "replicates", low=1)
    check_real(radius, "radius", low=0)
    check_real(keep, "keep", low=0, high=1)
    check_real(confidence, "confidence", low=0, high=1)
    check_choice(method, "method", ("levels", "last-particle"))
    classifier = model if isinstance(model, Classifier) else as_classifier(model)
    row = check_features(np.asarray(x)[None], name="x").astype(np.float64)
    margin, low, high = ball_problem(classifier, row, radius)
    index = check_class_indices([label], classifier.classes, name="label")
    settings = Splitting(particles, moves, keep, method == "last-particle", smallest, confidence)
    tiled = np.zeros(replicates, dtype=np.int64)
    boxes = low[tiled], high[tiled], index[tiled]
    drawn, asked = derived_seed(seed, "splitting-ball"), Workers(classifier, workers, cluster)
    return _summary(map_boxes(settings, margin, *boxes, drawn, asked), settings)


def box_failures(
    model: Any,
    low: ArrayLike,
    high: ArrayLike,
    labels: ArrayLike,
    estimator: RareEventEstimator | None = None,
    seed: int = 0,
    *,
    workers: int = 1,
    cluster: Any = None,
) -> BoxFailures:
    """How likely the model is wrong at a random point of each of many boxes.

    Args:
        model: A `Classifier` or anything `as_classifier` takes.
        low, high: Corners, one row per box; rows have the shape of the model's inputs.
        labels: The true class of each box.
        estimator: `Splitting` (default), `MonteCarlo` or your own `RareEventEstimator`.
        workers, cluster: As in `fireassay.engine.Executor`; the result does not depend on them.
        seed: Of the random points.

    >>> half = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=["a", "b"])
    >>> found = box_failures(half, [[0.0]], [[0.8]], ["a"])  # wrong from 0.5 to 0.8
    >>> round(float(np.exp(found.log_p[0])), 1)  # 0.3 / 0.8
    0.4
    """
    classifier = model if isinstance(model, Classifier) else as_classifier(model)
    below = check_features(low, name="low").astype(np.float64)
    above = check_features(high, name="high").astype(np.float64)
    if below.shape != above.shape or not (below < above).all():
        raise DataError(
            "Boxes must have a lower corner below the upper one in every feature.",
            got=f"shapes {below.shape} and {above.shape}",
        )
    if classifier.bounds is not None and (
        below.min() < classifier.bounds[0] or above.max() > classifier.bounds[1]
    ):
        raise DataError("Boxes must lie within the model's bounds.", got="a corner outside")
    margin = margin_of(_scores_of(classifier, below.shape[1:]))
    index = check_class_indices(labels, classifier.classes, name="labels", n=len(below))
    boxes = below.reshape(len(below), -1), above.reshape(len(above), -1), index
    drawn, asked = derived_seed(seed, "box-failures"), Workers(classifier, workers, cluster)
    return map_boxes(estimator or Splitting(), margin, *boxes, drawn, asked)


def ball_problem(
    model: Classifier, rows: FloatArray, radius: float
) -> tuple[Margin, FloatArray, FloatArray]:
    """The margin function and the boxes of L∞ balls, cut off at the model's bounds."""
    shape = rows.shape[1:]
    flat = rows.reshape(len(rows), -1)
    low, high = flat - radius, flat + radius
    if model.bounds is not None:
        low, high = np.maximum(low, model.bounds[0]), np.minimum(high, model.bounds[1])
        if (low >= high).any():
            raise ParameterError("x must lie within the model's bounds.", got="a row outside")
    return margin_of(_scores_of(model, shape)), low, high


def _scores_of(model: Classifier, shape: tuple[int, ...]) -> Any:
    if hasattr(model, "logits"):
        return lambda rows: np.asarray(model.logits(rows.reshape(len(rows), *shape)))

    def log_probabilities(rows: FloatArray) -> FloatArray:
        p = model.predict_proba(rows.reshape(len(rows), *shape))
        return np.asarray(np.log(np.maximum(p, 1e-300, dtype=np.float64)))

    return log_probabilities


def _summary(found: BoxFailures, settings: Splitting) -> SplittingResult:
    runs = found.log_p
    moved = float(found.moved.min())
    diagnostics = {
        "levels": float(found.levels.mean()),
        "acceptance": float(found.acceptance.mean()),
        "moved": moved,
        "queries": float(found.queries),
    }
    mixes = moved >= 0.8 and bool(found.acceptance.min() > 0.02)
    low, high = float(found.low[0]), float(found.high[0])
    log_p = float(runs[0])
    if len(runs) > 1:
        if np.isfinite(runs).all():
            peak = runs.max()
            log_p = float(peak + np.log(np.exp(runs - peak).mean()))
            spread = runs.std(ddof=1) / math.sqrt(len(runs))
            spread = max(spread, float((found.high - found.low).mean()) / 4 / math.sqrt(len(runs)))
            reach = float(stats.t.isf((1 - settings.confidence) / 2, len(runs) - 1)) * spread
            low, high = log_p - reach, min(0.0, log_p + reach)
        else:
            peak = float(found.high.max())
            with np.errstate(divide="ignore"):
                log_p = float(np.log(np.exp(runs).mean()))
            low, high = float(found.low.min()), max(peak, log_p)
    return SplittingResult(log_p, low, high, settings.confidence, mixes, runs, diagnostics)
