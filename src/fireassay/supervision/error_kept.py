"""AURC: the model's error among the rows kept, over all coverages, with its interval."""

import numpy as np

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray
from fireassay.core.estimate import Estimate
from fireassay.core.lazy_modules import special

_FURTHER, _OF_A_GROUP = 0.9, 0.5


def error_kept(
    scores: FloatArray, wrong: BoolArray, confidence: float, groups: AnyArray | None = None
) -> Estimate:
    """Mean error of the model over the rows kept, keeping the least suspicious first.

    It is a sum over the wrong rows, each with a weight that depends on its rank alone: a wrong
    answer that is kept first counts most. So its interval is that of a weighted sum of rare events,
    Fay and Feuer's gamma interval (1997), whose upper end allows for a further event. That event
    weighs as much as nine rows in ten at the most, or as half of such a group: approximate.

    Parameters
    ----------
    scores
        Higher is more suspicious.
    wrong
        Whether the model is wrong, row by row.
    confidence
        In (0, 1).
    groups
        For each row the patient or device it belongs to.

    >>> found = error_kept(np.arange(100.0), np.arange(100) > 89, 0.95)
    >>> round(found.value, 4), found.low < found.value < found.high
    (0.0057, True)
    """
    weights = _weights(scores)
    units = np.arange(len(scores))
    if groups is not None:
        units = np.unique(groups, return_inverse=True)[1].ravel()
    events = np.bincount(units, weights * wrong)
    value, variance = float(events.sum()), float(np.square(events).sum())
    further = float(np.quantile(weights, _FURTHER))
    method = "gamma interval of a weighted sum (Fay and Feuer)"
    if groups is not None:
        of_groups = float(np.quantile(np.bincount(units, weights), _FURTHER))
        further = max(further, _OF_A_GROUP * of_groups)
        method += f", {len(events):,} groups"
    low, high = _gamma_ends(value, variance, further, (1.0 - confidence) / 2.0)
    return Estimate.around(
        value, low, min(1.0, high), confidence=confidence, n=len(scores), method=method
    )


def _weights(scores: FloatArray) -> FloatArray:
    """What a wrong answer of each row adds; rows of one score are kept together."""
    _, place, many = np.unique(scores, return_inverse=True, return_counts=True)
    after = np.cumsum((many / np.cumsum(many))[::-1])[::-1] / len(scores)
    return np.asarray(after[place.ravel()])


def _gamma_ends(value: float, variance: float, further: float, tail: float) -> tuple[float, float]:
    low = 0.0
    if variance > 0.0:
        low = float(special.gammaincinv(value**2 / variance, tail)) * variance / value
    mean, spread = value + further, variance + further**2
    return low, float(special.gammainccinv(mean**2 / spread, tail)) * spread / mean
