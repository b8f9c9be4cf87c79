"""The score above which to raise an alarm, with a promise about false alarms."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from fireassay.core.errors import DataError, NotEnoughEvidenceError
from fireassay.core.validation import check_finite, check_real


@dataclass(frozen=True)
class AlarmRule:
    """Alarm if ``score > threshold``.

    Attributes
    ----------
    false_alarm, confidence
        With this confidence at most this share of nominal inputs raises an alarm.
    n_nominal
        Nominal rows the threshold was taken from.
    n_above
        How many of them lie above it.
    """

    threshold: float
    false_alarm: float
    confidence: float
    n_nominal: int
    n_above: int


def alarm_rule(
    nominal_scores: ArrayLike, false_alarm: float = 0.05, confidence: float = 0.95
) -> AlarmRule:
    """A threshold whose true false-alarm rate is at most ``false_alarm``, with ``confidence``.

    Parameters
    ----------
    nominal_scores
        Scores of nominal rows, used neither for fitting nor for choosing the supervisor.
    false_alarm, confidence
        In (0, 1).

    Raises
    ------
    NotEnoughEvidenceError
        If even the largest of so few scores cannot make the promise.

    Notes
    -----
    The threshold is the order statistic s_(n−k) with the largest k for which
    P(Bin(n, false_alarm) <= k) <= 1 − confidence. More than ``false_alarm`` of the nominal
    distribution lies above s_(n−k) only if at most k of n draws fell into its upper tail of that
    size. This holds for every distribution of scores, with ties as well.

    >>> alarm_rule(range(59)).threshold
    58.0
    """
    check_real(false_alarm, "false_alarm", low=0, high=1)
    check_real(confidence, "confidence", low=0, high=1)
    scores = np.asarray(nominal_scores, dtype=np.float64)
    if scores.ndim != 1:
        raise DataError("Nominal scores must have shape (n,).", got=f"{scores.shape}")
    check_finite(scores, name="nominal scores")
    n = len(scores)
    needed = rows_needed(false_alarm, confidence)
    if n < needed:
        raise NotEnoughEvidenceError(
            f"A false-alarm rate of {false_alarm:g} with confidence {confidence:g} needs at least "
            f"{needed} nominal rows.",
            got=f"{n}",
            do="Collect more nominal rows, or ask for less.",
        )
    counts = np.arange(n)
    tail = bdtr(counts, n, false_alarm)
    n_above = int(np.flatnonzero(tail <= 1.0 - confidence)[-1])
    threshold = float(np.sort(scores)[n - n_above - 1])
    above = int((scores > threshold).sum())
    return AlarmRule(threshold, float(false_alarm), float(confidence), n, above)


def rows_needed(false_alarm: float, confidence: float) -> int:
    """The smallest n for which the largest score makes the promise: (1 − α)^n <= 1 − confidence.

    >>> rows_needed(0.05, 0.95)
    59
    """
    n = max(1, int(np.floor(np.log1p(-confidence) / np.log1p(-false_alarm))))
    while bdtr(0, n, false_alarm) > 1.0 - confidence:
        n += 1
    return n
