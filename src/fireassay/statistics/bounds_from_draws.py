"""Bounds on a mean from labels drawn with known chances, or with the help of a surrogate."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.lazy import stats
from fireassay.core.validation import check_lengths
from fireassay.statistics.betting import crossing, largest_rejected
from fireassay.statistics.counts import clopper_pearson
from fireassay.statistics.samples import check_confidence, check_sample

_EVEN = 0.5  # the share of the labels that goes to all rows alike
_FEWEST_ERRORS = 50.0
_PRIOR_ROWS = 4.0
_LARGEST_STAKE = 0.8


@dataclass(frozen=True)
class Thinning:
    """With which chance each row of a pool is drawn for a label, fixed before any label is seen.

    Attributes:
        chances: One per row, in the fixed order in which the rows are judged.
        even: The share of labels for all rows alike; 1 where suspicion does not pay.
        labels: How many labels are expected.
        first_variance: Of a row's weighted error, foreseen from rows outside the pool.
    """

    chances: FloatArray
    even: float
    labels: int
    first_variance: float

    def draw(self, rng: np.random.Generator) -> BoolArray:
        """Which rows to label: each by its own chance, independently."""
        return np.asarray(rng.random(len(self.chances)) < self.chances)


def thinning(risk: ArrayLike, outside_risk: ArrayLike, labels: int) -> Thinning:
    """How to spend about ``labels`` labels on a pool of rows of the field.

    Args:
        risk: How likely each row of the pool seems wrong, in [0, 1], from all but its label.
        outside_risk: The same for rows outside the pool, on which alone stakes are tuned.
        labels: The expected number of labels.

    >>> even = thinning([0.01] * 1000, [0.01] * 100, labels=200)
    >>> float(even.chances.max()), even.even
    (0.2, 1.0)
    """
    suspicion = check_sample(risk, "risk")
    outside = check_sample(outside_risk, "outside_risk")
    for values in (suspicion, outside):
        if values.min() < 0.0 or values.max() > 1.0:
            raise DataError("A risk is a probability.", got=f"{values.min():g} to {values.max():g}")
    if not 1 <= labels <= len(suspicion):
        raise ParameterError(
            f"labels must be from 1 to the {len(suspicion):,} rows of the pool.", got=f"{labels}"
        )
    share = labels / len(suspicion)
    scale = float(np.sqrt(outside).mean())
    if labels * float(outside.mean()) < _FEWEST_ERRORS or scale == 0.0:
        return Thinning(np.full(len(suspicion), share), 1.0, labels, float(outside.mean()) / share)

    def chance(values: FloatArray) -> FloatArray:
        return np.minimum(1.0, share * (_EVEN + (1.0 - _EVEN) * np.sqrt(values) / scale))

    first = float((outside / chance(outside)).mean())
    return Thinning(chance(suspicion), _EVEN, labels, first)


def thinned_upper(
    plan: Thinning, drawn: ArrayLike, wrong: ArrayLike, confidence: float = 0.975
) -> float:
    """Upper bound of the error rate that the pool was drawn from.

    Args:
        plan: From `thinning`.
        drawn: True for each row that was drawn, in the order of the plan.
        wrong: True for each drawn row that was wrong; values of rows not drawn are ignored.
        confidence: One-sided, in (0, 1).

    A row's ``error × drawn / chance`` has the field's error rate as its mean, so a bet against
    each rate m grows fairly: ``1 + λ (m - z)``. Rows that were not drawn count as zeros; without
    suspicion (``plan.even = 1``) the drawn rows are a plain sample with the exact binomial bound.

    >>> plan = thinning([0.01] * 1000, [0.01] * 100, labels=200)
    >>> drawn = np.arange(1000) % 5 == 0
    >>> round(thinned_upper(plan, drawn, np.zeros(1000)), 4)  # no error: 1 - 0.025 ** (1 / 200)
    0.0183
    """
    taken, errors = _checked(plan, drawn, wrong, confidence)
    if plan.even == 1.0:
        hits = int((taken & errors).sum())
        return float(clopper_pearson(hits, int(taken.sum()), confidence, "upper")[1])
    target = math.log(1.0 / (1.0 - confidence))
    z, bets = _game(plan, taken, errors, target)
    stakes = np.minimum(bets, _LARGEST_STAKE * plan.even * plan.labels / len(taken))
    return crossing(partial(_best_capital, z, stakes), target)


def thinned_lower(
    plan: Thinning, drawn: ArrayLike, wrong: ArrayLike, confidence: float = 0.975
) -> float:
    """Lower bound of the error rate that the pool was drawn from.

    Args:
        plan, drawn, wrong, confidence: As for `thinned_upper`.

    >>> plan = thinning([0.01] * 1000, [0.01] * 100, labels=200)
    >>> drawn = np.arange(1000) % 5 == 0
    >>> round(thinned_lower(plan, drawn, np.arange(1000) < 100), 3)  # 20 of 200 rows
    0.062
    """
    taken, errors = _checked(plan, drawn, wrong, confidence)
    if plan.even == 1.0:
        hits = int((taken & errors).sum())
        return float(clopper_pearson(hits, int(taken.sum()), confidence, "lower")[0])
    target = math.log(1.0 / (1.0 - confidence))
    z, bets = _game(plan, taken, errors, target)

    def rejected(rate: float) -> bool:
        stakes = np.minimum(bets, _LARGEST_STAKE / max(rate, 1e-300))
        return bool(np.cumsum(np.log1p(stakes * (z - rate))).max() >= target)

    return largest_rejected(rejected, 0.0, 1.0, 44)


def _checked(
    plan: Thinning, drawn: ArrayLike, wrong: ArrayLike, confidence: float
) -> tuple[BoolArray, BoolArray]:
    check_confidence(confidence)
    taken, errors = np.asarray(drawn).astype(bool), np.asarray(wrong).astype(bool)
    check_lengths(drawn=len(taken), wrong=len(errors), plan=len(plan.chances))
    return taken, errors


def _game(
    plan: Thinning, taken: BoolArray, errors: BoolArray, target: float
) -> tuple[FloatArray, FloatArray]:
    """Weighted errors in the order of the plan, and stakes that depend on earlier ones only."""
    z = (taken & errors) / plan.chances
    return z, _tuned(z, plan.first_variance, target, 1e-300)


def _tuned(values: FloatArray, first_variance: float, target: float, least: float) -> FloatArray:
    """Stakes tuned to the sample size, each by the variance of earlier values alone."""
    n = len(values)
    time = np.arange(1, n + 1)
    deviation = np.cumsum((values - np.cumsum(values) / time) ** 2)
    variance = (_PRIOR_ROWS * first_variance + deviation) / (time + _PRIOR_ROWS)
    before = np.concatenate([[first_variance], variance[:-1]])
    return np.asarray(np.sqrt(2.0 * target / (n * np.maximum(before, least))))


@dataclass(frozen=True)
class RectifiedValues:
    """One value per label in the order of the game; ceilings and variance are known before it."""

    values: FloatArray
    ceilings: FloatArray
    expected_variance: float = 0.25


def betting_upper(game: RectifiedValues, alpha: float) -> float:
    """Upper bound on the common mean of values by betting ``1 + stake · (m - value)`` (Ville)."""
    target = math.log(1 / alpha)
    bets = _tuned(game.values, game.expected_variance, target, 1e-12)
    stakes = np.minimum(bets, _LARGEST_STAKE / game.ceilings)
    # Every round's win grows with m, and so does the best capital.
    return crossing(partial(_best_capital, game.values, stakes), target)


@dataclass(frozen=True)
class Moments:
    """Count, mean and variance of numbers that are no longer there."""

    n: int = 0
    mean: float = 0.0
    variance: float = 0.0

    @classmethod
    def of(cls, values: FloatArray) -> "Moments":
        """Moments of an array."""
        return cls(len(values), float(values.mean()), float(values.var())) if len(values) else cls()

    def with_(self, other: "Moments") -> "Moments":
        """Moments of both together."""
        n = self.n + other.n
        if not n:
            return self
        share = other.n / n
        mean = self.mean + share * (other.mean - self.mean)
        between = share * (1 - share) * (other.mean - self.mean) ** 2
        inside = (1 - share) * self.variance + share * other.variance
        return Moments(n, mean, inside + between)


def ppi_interval(
    wrong: FloatArray, risk: FloatArray, risk_operational: FloatArray | Moments, alpha: float
) -> tuple[float, float, float]:
    """Prediction-powered estimate, its standard error and its upper bound, which is asymptotic."""
    field = risk_operational
    if not isinstance(field, Moments):
        field = Moments.of(np.asarray(field, dtype=np.float64))
    n, N = len(wrong), field.n
    spread = Moments.of(risk).with_(field).variance
    known = spread > 0 and n > 1
    factor = float(np.cov(wrong, risk)[0, 1]) / (spread * (1 + n / N)) if known else 0.0
    rest = wrong - factor * risk
    estimate = float(rest.mean() + factor * field.mean)
    error = math.sqrt(rest.var() / max(1, n - 1) + factor**2 * field.variance / N)
    return estimate, error, estimate + float(stats.norm.isf(alpha)) * error


def _best_capital(values: FloatArray, stakes: FloatArray, mean: float) -> float:
    return float(np.cumsum(np.log1p(stakes * (mean - values))).max())
