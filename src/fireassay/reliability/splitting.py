"""The probability of a failure around one input, by adaptive multilevel splitting."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.classifiers import as_classifier
from fireassay.classifiers.protocol import Classifier
from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.lazy import stats
from fireassay.core.seeds import derived_seed
from fireassay.core.validation import (
    check_choice,
    check_class_indices,
    check_features,
    check_integer,
    check_real,
)
from fireassay.reliability.multilevel import Splitting
from fireassay.reliability.plan import Workers
from fireassay.reliability.rare_events import (
    BoxFailures,
    Margin,
    RareEventEstimator,
    map_boxes,
    margin_of,
)


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
    found = map_boxes(
        settings,
        margin,
        low[tiled],
        high[tiled],
        index[tiled],
        derived_seed(seed, "splitting-ball"),
        Workers(classifier, workers, cluster),
    )
    return _summary(found, settings)


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
    return map_boxes(
        Splitting() if estimator is None else estimator,
        margin_of(_scores_of(classifier, below.shape[1:])),
        below.reshape(len(below), -1),
        above.reshape(len(above), -1),
        check_class_indices(labels, classifier.classes, name="labels", n=len(below)),
        derived_seed(seed, "box-failures"),
        Workers(classifier, workers, cluster),
    )


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
        logs: FloatArray = np.log(np.maximum(p, 1e-300, dtype=np.float64))
        return logs

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
