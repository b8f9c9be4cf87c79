"""Pairs of classes to look between where there are too many: those the model itself confuses."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fireassay.assessment.context import Context
from fireassay.core.arrays import IntArray
from fireassay.core.validation import check_class_indices
from fireassay.data import DataSet

MOST_PAIRS = 50
LEAST_ROWS = 20  # of each class, as the generator asks for


def confused_pairs(context: Context, rows: DataSet) -> list[tuple[Any, Any]]:
    """At most fifty pairs of classes: the first and second answers that most often meet.

    Classes with too few rows to learn from are left out.
    """
    classes = context.model.classes
    wanted = set(enough_rows(rows).tolist())
    answers = context.model.predict_proba(rows.X)
    truth = check_class_indices(rows.labels, classes)
    from fireassay.assessment.accuracy_rows import top_columns

    first, second = top_columns(answers, 2).T
    other = np.where(first == truth, second, first)
    counts: dict[tuple[int, int], int] = {}
    for a, b in zip(truth.tolist(), other.tolist(), strict=True):
        if classes[a] in wanted and classes[b] in wanted:
            pair = (min(a, b), max(a, b))
            counts[pair] = counts.get(pair, 0) + 1
    ranked = sorted(counts, key=lambda pair: (-counts[pair], pair))
    return [(classes[a], classes[b]) for a, b in ranked[:MOST_PAIRS]]


def enough_rows(rows: DataSet) -> IntArray:
    """The classes with rows enough to learn what lies between them."""
    values, counts = np.unique(rows.labels, return_counts=True)
    return np.asarray(values[counts >= LEAST_ROWS])


def number_of_pairs(classes: Sequence[Any]) -> int:
    """All pairs of these classes."""
    return len(classes) * (len(classes) - 1) // 2
