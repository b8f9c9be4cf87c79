"""Harrell's concordance in O(n log n), for exact and interval-censored times."""

import numpy as np

from fireassay.core.arrays import AnyArray, IntArray
from fireassay.core.errors import NotEnoughEvidenceError
from fireassay.survival.times import Times


def concordance(times: Times, predicted: AnyArray) -> float:
    """The share of comparable pairs that the prediction puts in the right order.

    A pair is comparable if one row surely failed before the other; a tied prediction counts half.

    Raises
    ------
    NotEnoughEvidenceError
        If no two rows can be compared.
    """
    # Sort by the lower end; at equal ends an exact time comes before "later than this".
    order = np.lexsort((~times.exact, times.lower))
    lower, exact = times.lower[order], times.exact[order]
    _, ranks = np.unique(predicted[order], return_inverse=True)
    failed = np.flatnonzero(np.isfinite(times.upper[order]))
    upper = times.upper[order][failed]
    # Rows that surely failed later: open intervals from `upper` on, exact times beyond it.
    later = np.searchsorted(lower, upper, side="left")
    ties = np.cumsum(np.append(0, exact))
    end = np.searchsorted(lower, upper, side="right")
    first = later + (ties[end] - ties[later])
    n = len(lower)
    comparable = int((n - first).sum())
    if comparable == 0:
        raise NotEnoughEvidenceError(
            "Concordance needs at least one pair of rows of which one surely failed first.",
            got=f"{times.n_events} failure(s) in {len(times)} rows",
        )
    below = _count_below(ranks, first, ranks[failed])
    not_above = _count_below(ranks, first, ranks[failed] + 1)
    concordant = int((n - first - not_above).sum())
    tied = int((not_above - below).sum())
    return (concordant + 0.5 * tied) / comparable


def _count_below(ranks: IntArray, first: IntArray, limits: IntArray) -> IntArray:
    """For each query, how many of ``ranks[first:]`` are below ``limit`` (a wavelet matrix)."""
    n = len(ranks)
    start, stop = first.astype(np.int64).copy(), np.full(len(first), n, dtype=np.int64)
    counted = np.zeros(len(first), dtype=np.int64)
    bits = max(int(limits.max(initial=0)), int(ranks.max(initial=0)), 1).bit_length()
    level = ranks.astype(np.int64)
    for bit in range(bits - 1, -1, -1):
        is_zero = (level >> bit) & 1 == 0
        zeros = np.append(0, np.cumsum(is_zero))
        n_zeros = int(zeros[-1])
        zero_start, zero_stop = zeros[start], zeros[stop]
        goes_right = (limits >> bit) & 1 == 1
        counted += np.where(goes_right, zero_stop - zero_start, 0)
        start = np.where(goes_right, n_zeros + start - zero_start, zero_start)
        stop = np.where(goes_right, n_zeros + stop - zero_stop, zero_stop)
        level = np.concatenate([level[is_zero], level[~is_zero]])
    return counted
