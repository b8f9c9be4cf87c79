"""One fitted thing per predicted class, and one of all rows for classes with too few."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray

T = TypeVar("T")
POOLED = "-1"


def group_rows(labels: IntArray) -> dict[int, IntArray]:
    """Row numbers of each label."""
    if not len(labels):
        return {}
    order = np.argsort(labels, kind="stable")
    values, starts = np.unique(labels[order], return_index=True)
    return dict(zip(values.tolist(), np.split(order, starts[1:]), strict=True))


def fit_per_class(
    predictions: IntArray, fit: Callable[[str, IntArray], T], fewest: int
) -> dict[str, T]:
    """``fit(name, rows)`` of each class with at least ``fewest`` rows, and of all rows."""
    groups = {str(k): rows for k, rows in group_rows(predictions).items() if len(rows) >= fewest}
    groups[POOLED] = np.arange(len(predictions))
    return {name: fit(name, rows) for name, rows in groups.items()}


def score_per_class(
    fitted: Mapping[str, T],
    activations: FloatArray,
    predictions: IntArray,
    score: Callable[[T, FloatArray, IntArray], FloatArray],
) -> FloatArray:
    """``score(fitted, activations, rows)`` with what was fitted to each row's class."""
    scores = np.empty(len(activations))
    for label, rows in group_rows(predictions).items():
        scores[rows] = score(fitted.get(str(label), fitted[POOLED]), activations, rows)
    return scores
