"""Intervals that hold for the best of many, because they hold for all of them at once."""

import math

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray
from fireassay.core.estimate import Estimate
from fireassay.core.seeds import generator
from fireassay.core.validation import check_choice
from fireassay.statistics.auc import delong, delong_interval
from fireassay.statistics.samples import check_confidence, logit_ends

_DRAWS = 20_000
_NO_SPREAD = 1e-15


def largest_z(covariance: ArrayLike, confidence: float, freedom: float = math.inf) -> float:
    """The quantile of the largest |z| among jointly normal (or t) statistics, by simulation."""
    check_confidence(confidence)
    matrix = np.atleast_2d(np.asarray(covariance, dtype=np.float64))
    kept = np.flatnonzero(np.diag(matrix) > _NO_SPREAD)
    if not len(kept):
        return 0.0
    scale = np.sqrt(np.diag(matrix)[kept])
    correlation = matrix[np.ix_(kept, kept)] / np.outer(scale, scale)
    # Correlations of scores that rank alike are singular: eigenvalues, not Cholesky.
    values, vectors = np.linalg.eigh((correlation + correlation.T) / 2.0)
    # All pairs of 28 have a covariance of rank 27: more normal numbers would be drawn for nothing.
    used = values > _NO_SPREAD * len(kept)
    root = vectors[:, used] * np.sqrt(values[used])
    rng = generator(0, "largest z")
    draws = np.abs(rng.standard_normal((_DRAWS, root.shape[1])) @ root.T).max(axis=1)
    if math.isfinite(freedom):
        draws = draws / np.sqrt(rng.chisquare(freedom, _DRAWS) / freedom)
    return float(np.quantile(draws, confidence))


def simultaneous_aucs(
    scores: ArrayLike, positive: ArrayLike, confidence: float = 0.95
) -> list[Estimate]:
    """AUCs of several scores on the same rows, with intervals that hold all at once.

    Whatever is then chosen because it looked best, worst or odd keeps its interval.

    Args:
        scores: Shape (m, n): m scores of n rows, larger meaning more positive.
        positive: True or False per row.
        confidence: That all m intervals contain their AUC.

    Returns:
        On the logit scale from DeLong's covariance; never narrower than the single interval.

    >>> rows = [[1, 2, 3, 5, 4, 6], [2, 1, 3, 4, 6, 5]]
    >>> [e.method for e in simultaneous_aucs(rows, [0, 0, 1, 0, 1, 1])][0]
    'DeLong, simultaneous over 2'
    """
    table = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    aucs, covariance = delong(table, positive)
    marks = np.asarray(positive).astype(bool)
    freedom = float(min(marks.sum(), (~marks).sum()) - 1)
    inside = (aucs > 0.0) & (aucs < 1.0)
    slope = np.where(inside, 1.0 / np.where(inside, aucs * (1.0 - aucs), 1.0), 0.0)
    on_logits = covariance * np.outer(slope, slope)
    quantile = largest_z(on_logits, confidence, freedom)
    found, method = [], f"DeLong, simultaneous over {len(table)}"
    for i, row in enumerate(table):
        # The share of the error that this one would have if all shared it equally.
        alone = delong_interval(row, marks, 1.0 - (1.0 - confidence) / len(table))
        low, high = alone.low, alone.high
        if inside[i] and on_logits[i, i] > _NO_SPREAD and "Newcombe" not in alone.method:
            half = quantile * math.sqrt(on_logits[i, i])
            low, high = logit_ends(float(aucs[i]), half)
        ends, n = (float(aucs[i]), low, high), table.shape[1]
        found.append(Estimate.around(*ends, confidence=confidence, n=n, method=method))
    return found


def worse_than_best(
    values: ArrayLike, covariance: ArrayLike, confidence: float = 0.95, better: str = "high"
) -> list[bool]:
    """Which of several dependent statistics are worse than the best of them, beyond doubt.

    The largest difference over all pairs judges (Tukey), since the best was found by looking.

    Args:
        values, covariance: The statistics and their covariance matrix.
        confidence: In (0, 1).
        better: ``"high"`` or ``"low"``.

    >>> worse_than_best([0.9, 0.5, 0.89], np.diag([1e-4, 1e-4, 1e-4]))
    [False, True, False]
    """
    check_choice(better, "better", ("high", "low"))
    given = np.asarray(values, dtype=np.float64) * (1.0 if better == "high" else -1.0)
    matrix = np.atleast_2d(np.asarray(covariance, dtype=np.float64))
    m = len(given)
    if m < 2:
        return [False] * m
    first, second = np.triu_indices(m, 1)
    contrasts = np.zeros((len(first), m))
    contrasts[np.arange(len(first)), first] = 1.0
    contrasts[np.arange(len(first)), second] = -1.0
    quantile = largest_z(contrasts @ matrix @ contrasts.T, confidence)
    best = int(given.argmax())
    return [bool(_beyond(given, matrix, best, i, quantile)) for i in range(m)]


def _beyond(given: FloatArray, matrix: FloatArray, best: int, other: int, quantile: float) -> bool:
    spread = matrix[best, best] + matrix[other, other] - 2.0 * matrix[best, other]
    gap = float(given[best] - given[other])
    return spread > _NO_SPREAD and gap > quantile * math.sqrt(float(spread))
