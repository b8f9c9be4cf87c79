"""Errors found over errors expected: at a preset budget, and label by label while one looks."""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.core.errors import DataError
from fireassay.core.validation import check_labels, check_lengths, check_real
from fireassay.statistics import poisson_binomial_tail, poisson_interval

_BETS = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])[:, None]


def grouped_evidence(
    stated: FloatArray, wrong: BoolArray, groups: ArrayLike, interval_confidence: float
) -> tuple[float, float, float]:
    """p-value and both ends of the ratio, whatever the dependence within groups."""
    # A group with e expected errors has at most ρe on average at the ratio ρ: the product over
    # independent groups of 1 + b (errors / (ρe) − 1) exceeds 1/α with probability at most α, at
    # every look (Ville). Groups count in the order in which they are first met.
    labels = check_labels(groups, name="groups", n=len(wrong))
    _, first, member = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    found, expected, sizes = (
        np.bincount(member.ravel(), weights)[order]
        for weights in (wrong.astype(np.float64), 1.0 - stated, np.ones(len(wrong)))
    )
    expected = np.maximum(expected, 1e-12)
    tail = (1.0 - interval_confidence) / 2.0

    def above(ratio: float) -> float:
        return _capital(found / (ratio * expected))

    def below(ratio: float) -> float:
        # At a ratio at which a group would expect more errors than rows, it says nothing.
        left = sizes - ratio * expected
        told = left > 1e-9
        return _capital((sizes - found)[told] / left[told]) if told.any() else 0.0

    low = _crossing(above, 1.0 / tail, 1e-6) if found.any() else 0.0
    high = _highest(below, 1.0 / tail, float((sizes / expected).max()))
    return min(1.0, 1.0 / max(above(1.0), 1e-300)), low, high


def _capital(gains: FloatArray) -> float:
    """The largest capital of a gambler who spreads over several bets, at least the first."""
    returns = np.cumsum(np.log1p(_BETS * (gains - 1.0)[None, :]), axis=1)
    return max(1.0, float(np.exp(np.minimum(returns, 700.0)).mean(axis=0).max()))


def _crossing(capital: Callable[[float], float], target: float, low: float) -> float:
    high = _LARGEST_RATIO
    if capital(low) < target:
        return 0.0
    for _ in range(80):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if capital(middle) >= target else (low, middle)
    return low


def _highest(capital: Callable[[float], float], target: float, largest: float) -> float:
    """The smallest ratio above which all are refuted, on a grid; infinite if none is."""
    grid = np.linspace(0.0, largest, 400, endpoint=False)
    kept = [k for k, ratio in enumerate(grid) if capital(float(ratio)) < target]
    if not kept:
        return float(grid[1])
    return float(grid[kept[-1] + 1]) if kept[-1] + 1 < len(grid) else float("inf")


_HIGHER = (1.5, 2.0, 3.0, 4.0, 6.0)
_LOWER = (0.05, 0.15, 0.3, 0.5, 0.7)
_LARGEST_CHANCE = 0.99
_LARGEST_RATIO = 1e6
_LARGEST_LOG = 700.0
_MOST_POINTS = 60
_MOST_WORK = 60_000


@dataclass(frozen=True)
class DiscoveryRatio:
    """The standardised discovery ratio and what it is made of.

    Attributes:
        value, low, high: Errors over expected errors and its interval. NaN without queries; inf if
            errors were found where none was expected.
        p_value: Of "no prediction is wrong more often than its confidence says".
        errors, expected, n: Errors among the queried rows, the sum of 1 − confidence, the rows.
        valid_as: "fixed": interval (exact Poisson) and p-value (Poisson-binomial) hold for rows
            that were chosen without looking at labels, in a number fixed beforehand. "sequential":
            they hold under any search and at every look. "groups": so do they, for groups of rows.
        interval_confidence: Of the interval.
    """

    value: float
    low: float
    high: float
    p_value: float
    errors: int
    expected: float
    n: int
    valid_as: str
    interval_confidence: float

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends."""
        return self.low, self.high

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True, eq=False)
class RunningRatio:
    """The ratio after each label, and what may be concluded now.

    Attributes:
        now: With all labels.
        confidence, wrong: Of each label, in order: the model's confidence, and whether it erred.
    """

    confidence: FloatArray
    wrong: BoolArray
    now: DiscoveryRatio

    @cached_property
    def errors(self) -> FloatArray:
        """Errors found so far, after each label."""
        return np.cumsum(self.wrong, dtype=np.float64)

    @cached_property
    def expected(self) -> FloatArray:
        """Errors expected so far, after each label."""
        return np.cumsum(1.0 - self.confidence)

    @cached_property
    def values(self) -> FloatArray:
        """The ratio after each label."""
        pairs = zip(self.errors, self.expected, strict=True)
        return np.array([ratio(errors, expected) for errors, expected in pairs])

    def points(self, most: int = _MOST_POINTS) -> tuple[DiscoveryRatio, ...]:
        """At most about so many points of the curve, each valid at every look; always the last."""
        return tuple(
            sdr(self.confidence[:n], self.wrong[:n], self.now.interval_confidence, fixed=False)
            for n in _looks(len(self.wrong), most)
        )


def sdr(
    confidence: ArrayLike,
    wrong: ArrayLike,
    interval_confidence: float = 0.95,
    *,
    fixed: bool = True,
    groups: ArrayLike | None = None,
) -> DiscoveryRatio:
    """Errors found / errors expected from the confidences of the queried rows.

    Args:
        confidence: Calibrated confidence of each queried prediction, in [0, 1].
        wrong: Whether each of them turned out wrong.
        interval_confidence: Of the interval, in (0, 1).
        fixed: Whether the number of queries was fixed in the plan. If one stopped by looking, pass
            False: interval and p-value are then the sequential ones.
        groups: For each row the patient or device it belongs to, where errors come in groups:
            interval and p-value then count groups, hold under any dependence within them and at
            every look.

    Eq. 3 of Bennette, Maurer and Sisti 2021. Interval and p-value hold for rows chosen without
    looking at labels, at a number of queries fixed beforehand; for adaptive searches and live
    curves use `running_ratio`. An expected SDR above 1 proves overconfidence for rows drawn
    independently at random only (their Theorem 3.1).

    >>> found = sdr([0.9, 0.9, 0.8], [True, False, True])
    >>> round(found.value, 6), found.errors, round(found.expected, 6)
    (5.0, 2, 0.4)
    """
    stated, flags = check_queried(confidence, wrong)
    if groups is not None and len(flags):
        p_value, *ends = grouped_evidence(stated, flags, groups, interval_confidence)
        return _with(stated, flags, ends, p_value, "groups", interval_confidence)
    if not fixed:
        return _sequential(stated.tobytes(), flags.tobytes(), interval_confidence)
    errors, expected = int(flags.sum()), float((1.0 - stated).sum())
    # The count is a sum of independent, rare, unequal events: its spread is at most Poisson's, so
    # Garwood's interval is conservative.
    low, high = (float(end) for end in poisson_interval(errors, interval_confidence))
    ends = [ratio(low, expected) if errors else 0.0, ratio(high, expected)]
    p_value = poisson_binomial_tail(1.0 - stated, errors)
    return _with(stated, flags, ends, p_value, "fixed", float(interval_confidence))


def running_ratio(
    confidence: ArrayLike,
    wrong: ArrayLike,
    *,
    fixed: bool = False,
    interval_confidence: float = 0.95,
) -> RunningRatio:
    """The ratio label by label, with intervals that hold while one looks.

    Args:
        confidence, wrong: Of the queried rows, in the order they were asked.
        fixed: Whether the preset budget of a search that does not look at labels is spent: then the
            ratio of all labels has the exact interval of `sdr`; otherwise the sequential one.
        interval_confidence: Of the intervals, in (0, 1).

    >>> running_ratio([0.9, 0.9, 0.8], [True, False, True]).values.round(2).tolist()
    [10.0, 5.0, 5.0]
    """
    stated, flags = check_queried(confidence, wrong)
    return RunningRatio(stated, flags, sdr(stated, flags, interval_confidence, fixed=fixed))


def e_process(confidence: ArrayLike, wrong: ArrayLike) -> FloatArray:
    """Evidence after each label against "no prediction is wrong more often than 1 − confidence".

    Args:
        confidence: Of each labelled prediction, in the order of the labels.
        wrong: Whether it was wrong.

    E_t = mean over s of Π s_i^{e_i} ((1 − s_i r_i) / (1 − r_i))^{1 − e_i}, r = 1 − confidence,
    s_i = min(s, .99 / r_i), s in {1.5, 2, 3, 4, 6}. Whatever rule chose the rows, and whenever one
    stops, E exceeds 1/α with probability at most α if the confidences are right.

    >>> float(e_process([0.9], [True])[0])
    3.3
    """
    stated, flags = check_queried(confidence, wrong)
    return np.asarray(np.exp(np.minimum(_log_evidence(1.0 - stated, flags, _HIGHER), _LARGEST_LOG)))


def sequential_p_value(confidence: ArrayLike, wrong: ArrayLike) -> float:
    """1 / the largest evidence so far, at most 1: a p-value under any search and any stopping.

    Args:
        confidence, wrong: As in `e_process`.

    >>> round(sequential_p_value([0.9], [True]), 4)
    0.303
    """
    stated, flags = check_queried(confidence, wrong)
    evidence = _log_evidence(1.0 - stated, flags, _HIGHER)
    return float(np.exp(-max(0.0, evidence.max(initial=0.0))))


def sequential_interval(
    confidence: ArrayLike, wrong: ArrayLike, interval_confidence: float = 0.95
) -> tuple[float, float]:
    """An interval for the true ratio of errors to expectation that holds at every step at once.

    The ratio is the ρ for which a queried prediction is wrong with chance ρ (1 − confidence); if it
    differs between rows, the lower end lies below the largest and the upper above the smallest.

    Args:
        confidence, wrong: As in `e_process`.
        interval_confidence: Of the interval, in (0, 1).

    >>> sequential_interval([], [])
    (0.0, inf)
    """
    sure = check_real(interval_confidence, "interval_confidence", low=0.0, high=1.0)
    stated, flags = check_queried(confidence, wrong)
    chances = 1.0 - stated
    if not len(flags) or chances.max(initial=0.0) <= 0:
        return 0.0, float("inf")
    limit = np.log(2.0 / (1.0 - sure))
    low = 0.0
    if flags.any() and _peak(chances * 1e-6, flags, _HIGHER) >= limit:
        low = _bisect(chances, flags, _HIGHER, limit, 1e-6, _LARGEST_RATIO)
    high = float("inf")
    if _peak(chances * _LARGEST_RATIO, flags, _LOWER) >= limit:
        high = _bisect(chances, flags, _LOWER, limit, low, _LARGEST_RATIO, falling=False)
    return low, high


def check_queried(confidence: ArrayLike, wrong: ArrayLike) -> tuple[FloatArray, BoolArray]:
    """Confidences in [0, 1] and booleans of the same length."""
    stated = np.asarray(confidence, dtype=np.float64).ravel()
    flags = np.asarray(wrong).ravel()
    check_lengths(confidence=len(stated), wrong=len(flags))
    if not ((stated >= 0) & (stated <= 1)).all():
        raise DataError(
            "confidence must be in [0, 1].", got="NaN or a value outside", do="Pass probabilities."
        )
    if flags.dtype != np.bool_:
        if not np.isin(flags, (0, 1)).all():
            raise DataError("wrong must be booleans.", got=f"dtype {flags.dtype}")
        flags = flags.astype(np.bool_)
    return stated, flags


def ratio(errors: float, expected: float) -> float:
    """errors / expected; NaN for 0 / 0 and inf for a positive number over 0."""
    if expected > 0:
        return errors / expected
    return float("inf") if errors else float("nan")


@functools.lru_cache(maxsize=20_000)
def _sequential(confidence: bytes, wrong: bytes, interval_confidence: float) -> DiscoveryRatio:
    """Kept: a point in the past does not change when a label is added."""
    stated, flags = np.frombuffer(confidence), np.frombuffer(wrong, dtype=np.bool_)
    ends = sequential_interval(stated, flags, interval_confidence)
    p_value = sequential_p_value(stated, flags)
    return _with(stated, flags, ends, p_value, "sequential", interval_confidence)


def _with(
    stated: FloatArray,
    flags: BoolArray,
    ends: Sequence[float],
    p_value: float,
    valid_as: str,
    sure: float,
) -> DiscoveryRatio:
    """The ratio of some rows, with its interval and p-value."""
    errors, expected = int(flags.sum()), float((1.0 - stated).sum())
    value, (low, high) = ratio(errors, expected), ends
    return DiscoveryRatio(value, low, high, p_value, errors, expected, len(flags), valid_as, sure)


def _looks(n: int, most: int) -> list[int]:
    """After how many labels the curve has a point: always the last one."""
    if not n:
        return []
    # Fewer for long curves; steps are powers of two, so that points computed before are met again.
    points = max(2, min(most, _MOST_WORK // n))
    step = 2 ** math.ceil(math.log2(max(1.0, n / points)))
    return [*range(step, n, step), n]


def _bisect(
    chances: FloatArray,
    flags: BoolArray,
    factors: tuple[float, ...],
    limit: float,
    low: float,
    high: float,
    *,
    falling: bool = True,
) -> float:
    """The ratio at which the evidence crosses the limit (evidence falls or rises in the ratio)."""
    for _ in range(50):
        middle = (low + high) / 2
        refuted = _peak(chances * middle, flags, factors) >= limit
        if refuted == falling:
            low = middle
        else:
            high = middle
    return low if falling else high


def _peak(chances: FloatArray, flags: BoolArray, factors: tuple[float, ...]) -> float:
    """Logarithm of the largest evidence over time."""
    return float(_log_evidence(chances, flags, factors).max())


def _log_evidence(chances: FloatArray, flags: BoolArray, factors: tuple[float, ...]) -> FloatArray:
    rates = np.clip(chances, 1e-12, _LARGEST_CHANCE)[None, :]
    bets = np.asarray(factors)[:, None]
    bets = np.minimum(bets, _LARGEST_CHANCE / rates)
    steps = np.where(flags, np.log(bets), np.log1p(-bets * rates) - np.log1p(-rates))
    totals = np.logaddexp.reduce(np.cumsum(steps, axis=1), axis=0)
    return np.asarray(totals - np.log(len(factors)))
