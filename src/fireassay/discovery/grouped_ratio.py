"""Errors over expected errors where rows belong together: evidence counts groups, not rows."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.core.validation import check_labels

_BETS = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])[:, None]
_LARGEST_RATIO = 1e6


def grouped_evidence(
    stated: FloatArray, wrong: BoolArray, groups: ArrayLike, interval_confidence: float
) -> tuple[float, float, float]:
    """p-value and both ends of the ratio, whatever the dependence within groups.

    A group with e expected errors has at most ρe on average at the ratio ρ: the product over
    independent groups of 1 + b (errors / (ρe) − 1) exceeds 1/α with probability at most α, at
    every look (Ville). Groups count in the order in which they are first met.
    """
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
