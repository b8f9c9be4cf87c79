"""How many labels a claim costs, before they are bought."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fireassay.core.lazy_modules import pd, stats
from fireassay.core.percent import percent
from fireassay.core.result import Result
from fireassay.core.validation import check_real
from fireassay.statistics.clopper_pearson import clopper_pearson


@dataclass(frozen=True)
class LabelPlan(Result):
    """Labels needed to claim that the pmi is at most ``target``.

    Attributes
    ----------
    labels
        The least that can do: this many labels, all of them without an error.
    table
        For assumed true error rates: labels, errors allowed, and chance of success.
    """

    target: float
    confidence: float
    labels: int
    labels_with_operational: int
    table: pd.DataFrame

    def frame(self) -> pd.DataFrame:
        """The table."""
        return self.table

    def summary(self) -> str:
        """What the claim costs at the least."""
        return (
            f"pmi ≤ {self.target:g} at {percent(self.confidence, 1)} confidence takes at least "
            f"{self.labels} labels, none of them an error."
        )

    def __int__(self) -> int:
        return self.labels


def plan(target: float = 1e-3, confidence: float = 0.975, *, power: float = 0.8) -> LabelPlan:
    """How many labels it takes to claim ``pmi <= target`` with this confidence.

    Parameters
    ----------
    target
        The largest acceptable probability of a misclassification, in (0, 1).
    confidence
        One-sided, in (0, 1).
    power
        The chance that the claim succeeds, for the rows of the table.

    >>> plan(target=1e-3, confidence=0.975).labels
    3688
    """
    check_real(target, "target", low=0, high=1)
    alpha = 1 - check_real(confidence, "confidence", low=0, high=1)
    check_real(power, "power", low=0, high=1)
    rows = []
    for share in (0.0, 0.01, 0.1, 0.25, 0.5, 0.75):
        n, allowed, reached = _cheapest(target, target * share, alpha, power)
        rows.append((target * share, n, allowed, reached))
    table = pd.DataFrame(rows, columns=["true_pmi", "labels", "errors_allowed", "power"])
    return LabelPlan(
        target, confidence, _zero_errors(target, alpha), _zero_errors(target, 0.9 * alpha), table
    )


def _zero_errors(target: float, alpha: float) -> int:
    return max(1, math.ceil(math.log(alpha) / math.log1p(-target) - 1e-9))


def _cheapest(target: float, true: float, alpha: float, power: float) -> tuple[int, int, float]:
    """The smallest allowed number of errors whose label count gives the wanted power."""
    for allowed in range(100_000):
        n = _labels_for(allowed, target, alpha)
        reached = float(stats.binom.cdf(allowed, n, true))
        if reached >= power:
            return n, allowed, reached
    raise AssertionError("a claim above the true rate succeeds with enough labels")


def _labels_for(allowed: int, target: float, alpha: float) -> int:
    """The fewest labels at which this many errors still support the target."""
    low = allowed
    high = math.ceil((allowed + 10 * math.sqrt(allowed + 1) + 20 * -math.log(alpha)) / target)
    while high - low > 1:
        middle = (low + high) // 2
        bound = float(np.asarray(clopper_pearson(allowed, middle, 1 - alpha, "upper")[1]))
        low, high = (low, middle) if bound <= target else (middle, high)
    return high
