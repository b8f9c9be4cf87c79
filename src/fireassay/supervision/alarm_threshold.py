"""The score above which to raise an alarm, with a promise about false alarms."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError, NotEnoughEvidenceError
from fireassay.core.lazy_modules import special
from fireassay.core.validation import check_finite, check_labels, check_real
from fireassay.statistics.grouped_share import GroupCounts, upper_share


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
    n_groups
        Groups of these rows that the promise counts, or None where rows are independent.
    """

    threshold: float
    false_alarm: float
    confidence: float
    n_nominal: int
    n_above: int
    n_groups: int | None = None


def alarm_rule(
    nominal_scores: ArrayLike,
    false_alarm: float = 0.05,
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
) -> AlarmRule:
    """A threshold whose true false-alarm rate is at most ``false_alarm``, with ``confidence``.

    Parameters
    ----------
    nominal_scores
        Scores of nominal rows, used neither for fitting nor for choosing the supervisor.
    false_alarm, confidence
        In (0, 1).
    groups
        For each row the patient or device it belongs to: the promise is then about rows of groups
        drawn like these (approximate, as `statistics.grouped_share`).

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
    if groups is not None:
        return _grouped_rule(scores, groups, false_alarm, confidence)
    needed = rows_needed(false_alarm, confidence)
    if n < needed:
        raise NotEnoughEvidenceError(
            f"A false-alarm rate of {false_alarm:g} with confidence {confidence:g} needs at least "
            f"{needed} nominal rows.",
            got=f"{n}",
            do="Collect more nominal rows, or ask for less.",
        )
    counts = np.arange(n)
    tail = special.bdtr(counts, n, false_alarm)
    n_above = int(np.flatnonzero(tail <= 1.0 - confidence)[-1])
    threshold = float(np.sort(scores)[n - n_above - 1])
    above = int((scores > threshold).sum())
    return AlarmRule(threshold, float(false_alarm), float(confidence), n, above)


def _grouped_rule(
    scores: FloatArray, groups: ArrayLike, false_alarm: float, confidence: float
) -> AlarmRule:
    """The lowest threshold at which the bound on the share above it keeps the promise.

    The bound falls as the threshold rises. If the threshold lies below the true quantile, the
    bound was too low at that quantile, a fixed number: so the promise fails no more often than the
    bound does.
    """
    labels = check_labels(groups, name="groups", n=len(scores))
    n_groups = len(np.unique(labels))
    levels = np.unique(scores)[::-1]

    def kept(k: int) -> bool:
        counts = GroupCounts.of(scores > levels[k], labels)
        return upper_share(counts, 1.0 - confidence) <= false_alarm

    if not kept(0):
        raise NotEnoughEvidenceError(
            f"A false-alarm rate of {false_alarm:g} with confidence {confidence:g} needs nominal "
            "rows of more groups.",
            got=f"{len(scores)} rows of {n_groups} groups",
            do="Collect nominal rows of more patients or devices, or ask for less.",
        )
    good, bad = 0, len(levels)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if kept(middle) else (good, middle)
    threshold = float(levels[good])
    above = int((scores > threshold).sum())
    return AlarmRule(threshold, float(false_alarm), float(confidence), len(scores), above, n_groups)


def rows_needed(false_alarm: float, confidence: float) -> int:
    """The smallest n for which the largest score makes the promise: (1 − α)^n <= 1 − confidence.

    >>> rows_needed(0.05, 0.95)
    59
    """
    n = max(1, int(np.floor(np.log1p(-confidence) / np.log1p(-false_alarm))))
    while special.bdtr(0, n, false_alarm) > 1.0 - confidence:
        n += 1
    return n
