"""The area under the ROC curve as the Mann–Whitney statistic."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import BoolArray
from fireassay.core.lazy_modules import special
from fireassay.statistics.ranks import average_ranks
from fireassay.statistics.samples import FloatVector, check_confidence, check_positive, check_sample

_MOST_EXACT = 8


@dataclass(frozen=True, slots=True)
class MannWhitney:
    """AUC with its interval and the test of AUC = 1/2.

    Attributes
    ----------
    auc, low, high
        With its interval.
    p_value
        Two-sided.
    n_positive, n_negative
        Rows of both classes.
    """

    auc: float
    low: float
    high: float
    p_value: float
    n_positive: int
    n_negative: int


def mann_whitney_auc(
    scores: ArrayLike, positive: ArrayLike, confidence: float = 0.95
) -> MannWhitney:
    """Probability that a positive scores above a negative, ties counted half.

    Parameters
    ----------
    scores
        Finite scores, larger meaning more positive.
    positive
        True or False per score; both must occur.
    confidence
        In (0, 1).

    Returns
    -------
    MannWhitney
        The p-value is two-sided: exact for small samples without ties, otherwise the normal
        approximation with correction for ties and continuity.

    Raises
    ------
    DataError
        For one class only, NaN or different lengths.

    Notes
    -----
    The interval is Newcombe's (2006) score interval with Hanley and McNeil's variance; it is not
    degenerate at AUC = 1. `delong_interval` needs no such model of the variance and is better for
    large samples.

    >>> mann_whitney_auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]).auc
    0.75
    """
    check_confidence(confidence)
    sample = check_sample(scores, "scores", min_rows=2)
    marks = check_positive(positive, len(sample))
    n_positive = int(marks.sum())
    n_negative = len(sample) - n_positive
    smallest = n_positive * (n_positive + 1) / 2
    auc = float((average_ranks(sample)[marks].sum() - smallest) / (n_positive * n_negative))
    low, high = auc_score_interval(auc, n_positive, n_negative, confidence)
    return MannWhitney(auc, low, high, _p_value(sample, marks), n_positive, n_negative)


def auc_score_interval(
    auc: float, n_positive: int, n_negative: int, confidence: float
) -> tuple[float, float]:
    """The AUCs from which the observed one is at most z standard errors away (Newcombe 2006)."""
    z = -float(special.ndtri((1.0 - confidence) / 2.0))
    half = (n_positive + n_negative) / 2.0 - 1.0

    def excess(theta: float) -> float:
        pairs = 1.0 + half * ((1.0 - theta) / (2.0 - theta) + theta / (1.0 + theta))
        variance = theta * (1.0 - theta) * pairs / (n_positive * n_negative)
        return abs(auc - theta) - z * math.sqrt(variance)

    return _crossing(excess, auc, 0.0), _crossing(excess, auc, 1.0)


def _crossing(excess: Callable[[float], float], inside: float, outside: float) -> float:
    """Where ``excess`` turns positive on the way from the estimate to the end of [0, 1]."""
    for _ in range(100):
        middle = (inside + outside) / 2.0
        if excess(middle) > 0:
            outside = middle
        else:
            inside = middle
    return outside


def _p_value(sample: FloatVector, marks: BoolArray) -> float:
    # scipy.stats takes half a second to import: only when it is needed.
    from scipy.stats import mannwhitneyu

    if np.ptp(sample) == 0:
        return 1.0
    x, y = sample[marks], sample[~marks]
    small = min(len(x), len(y)) <= _MOST_EXACT and len(x) * len(y) <= 50 * _MOST_EXACT
    exact = small and len(np.unique(sample)) == len(sample)
    method: Literal["exact", "asymptotic"] = "exact" if exact else "asymptotic"
    return float(mannwhitneyu(x, y, alternative="two-sided", method=method).pvalue)
