"""Has the error rate risen above what was promised? Looked at after every label, for ever."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.errors import ParameterError
from fireassay.statistics.counts import clopper_pearson

_TIMES = (1.5, 2.0, 3.0, 5.0, 10.0)
_BLOCK_STAKES = (0.02, 0.05, 0.1, 0.2, 0.4)
_START = 15
_TOTAL = 0.36486  # sum over t >= 1 of 1 / ((t + 15) ln²(t + 15)): the weights sum to 1 at most
WINDOW = 500
_LARGEST_LOG = 700.0


@dataclass(frozen=True, slots=True)
class ErrorDetector:
    """An alarm that is false with probability at most ``alpha``, ever, while the rate is ``limit``.

    Attributes:
        limit: The error rate p0 that is accepted.
        alpha: The probability of ever a false alarm.
        block: 1 for labels that are independent given the past; otherwise labels are judged in
            blocks of so many, which is approximate for labels that depend on each other.
        seen, steps, waiting, log_capital: What it has learnt so far; `after` goes on from it.
        alarm_at: The label with which the alarm came; None: no alarm.

    For each alternative q the capital is M ← (M + ω_t) (q/p0)^x ((1-q)/(1-p0))^(1-x), with
    weights ω that sum to 1: a change may begin at any time. The mean of the M plus the weights to
    come is a nonnegative supermartingale that starts at 1 (Ville's inequality).

    >>> detector = ErrorDetector(limit=0.01).after([0] * 200 + [1, 0, 1, 1] * 8)
    >>> detector.alarm
    True
    """

    limit: float
    alpha: float = 0.05
    block: int = 1
    seen: int = 0
    steps: int = 0
    waiting: tuple[float, ...] = ()
    log_capital: tuple[float, ...] = (-math.inf,) * len(_TIMES)
    alarm_at: int | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.limit < 0.9:
            raise ParameterError("The limit must be in (0, 0.9).", got=f"{self.limit}")
        if not 0.0 < self.alpha < 1.0:
            raise ParameterError("alpha must be in (0, 1).", got=f"{self.alpha}")
        if self.block < 1:
            raise ParameterError("The block must have at least 1 label.", got=f"{self.block}")

    @property
    def alarm(self) -> bool:
        """Whether the alarm was ever raised; it stays."""
        return self.alarm_at is not None

    @property
    def evidence(self) -> float:
        """The mean capital; the alarm is raised at 1 / alpha."""
        return _mean_of_logs(self.log_capital)

    def after(self, wrong: ArrayLike | Iterable[bool]) -> "ErrorDetector":
        """The detector after more labels, in the order in which they came: 1 for an error."""
        labels = np.asarray(wrong if isinstance(wrong, np.ndarray) else list(wrong), dtype=float)  # type: ignore[arg-type]
        if labels.size and not np.isin(labels, (0.0, 1.0)).all():
            raise ParameterError("Labels are 1 for an error and 0 otherwise.", got="other values")
        capital = self.log_capital
        growths = {label: self._growth(label) for label in (0.0, 1.0)}
        steps, alarm_at, seen = self.steps, self.alarm_at, self.seen
        waiting = list(self.waiting)
        for label in labels.tolist():
            seen += 1
            waiting.append(label)
            if len(waiting) < self.block:
                continue
            steps += 1
            weight = math.log(start_weight(steps))
            share = sum(waiting) / len(waiting)
            growth = growths[share] if share in growths else self._growth(share)
            capital = tuple(_log_sum(m, weight) + g for m, g in zip(capital, growth, strict=True))
            waiting = []
            if alarm_at is None and _mean_of_logs(capital) >= 1.0 / self.alpha:
                alarm_at = seen
        return replace(
            self,
            seen=seen,
            steps=steps,
            waiting=tuple(waiting),
            log_capital=capital,
            alarm_at=alarm_at,
        )

    def _growth(self, share: float) -> tuple[float, ...]:
        """Log growth of each capital by one label, or by the share of errors in a block."""
        if self.block > 1:
            return tuple(
                math.log1p(stake / self.limit * (share - self.limit)) for stake in _BLOCK_STAKES
            )
        others = (min(0.9, self.limit * times) for times in _TIMES)
        if share:
            return tuple(math.log(q / self.limit) for q in others)
        return tuple(math.log((1.0 - q) / (1.0 - self.limit)) for q in others)


def _log_sum(a: float, b: float) -> float:
    """log(exp(a) + exp(b)); a may be minus infinity."""
    high, low = (a, b) if a > b else (b, a)
    return high + math.log1p(math.exp(low - high))


def _mean_of_logs(logs: tuple[float, ...]) -> float:
    """The mean of the numbers whose logarithms are given; no overflow."""
    return sum(math.exp(min(log, _LARGEST_LOG)) for log in logs) / len(logs)


def start_weight(step: int) -> float:
    """The stake that a change beginning at this step gets: all steps together get 1 at most."""
    return 1.0 / (_TOTAL * (step + _START) * math.log(step + _START) ** 2)


def recent_rate_upper(wrong: ArrayLike, confidence: float = 0.975, window: int = WINDOW) -> float:
    """Upper bound of the average error rate over the last labels, at this look.

    Clopper–Pearson on the last ``window`` labels: it also holds when their rates differ
    (Hoeffding 1956). It says nothing about labels before the window, or about other looks.

    Args:
        wrong: One per label, the latest last.
        confidence: One-sided, in (0, 1).
        window: How many of the last labels count.

    >>> round(recent_rate_upper([1] * 500 + [0] * 500), 4)
    0.0074
    """
    recent = np.asarray(wrong, dtype=float)[-window:]
    if not len(recent):
        return 1.0
    return float(clopper_pearson(float(recent.sum()), float(len(recent)), confidence, "upper")[1])


def all_looks_upper(wrong: ArrayLike, confidence: float = 0.975) -> float:
    """`recent_rate_upper` for all looks: block i of 2^j labels at alpha 2^-(j-4) / (i (i+1))."""
    labels = np.asarray(wrong, dtype=float)
    best = 1.0
    for j in range(5, len(labels).bit_length()):
        size = 2**j
        i = len(labels) // size
        block = labels[(i - 1) * size : i * size]
        level = (1.0 - confidence) * 2.0 ** -(j - 4) / (i * (i + 1))
        upper = clopper_pearson(float(block.sum()), float(size), 1.0 - level, "upper")[1]
        best = min(best, upper)
    return best
