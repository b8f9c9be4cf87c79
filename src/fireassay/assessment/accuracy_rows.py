"""Accuracy row by row: which answers are right, and the wrong ones as samples."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.accuracy_result import AccuracyResult
from fireassay.assessment.context import Context
from fireassay.assessment.row_outcomes import Kind, RowOutcomes
from fireassay.assessment.shown_rows import MOST, Gallery
from fireassay.core import Sample
from fireassay.core.arrays import IntArray, Probabilities

_NUMBERS_AT_ONCE = 2**17  # in the cache


def outcomes(result: AccuracyResult) -> dict[str, RowOutcomes]:
    """Row by row: right, wrong, sure, dear; for each class whether it was found, or named."""
    rows, right = result.rows, result.correct

    def share(values: NDArray[Any], some: Any = slice(None), kind: Kind = "share") -> RowOutcomes:
        groups = None if rows.groups is None else rows.groups[some]
        return RowOutcomes(kind, rows.marks[some], values[some].astype(np.float64), groups=groups)

    found = {"accuracy": share(right), "error": share(~right), "above_majority": share(right)}
    sizes = np.bincount(rows.labels, minlength=len(result.classes))
    weight = len(right) / (np.count_nonzero(sizes) * sizes[rows.labels])
    found["balanced_accuracy"] = share(right * weight, kind="mean")
    for i, name in enumerate(result.classes):
        own, said = rows.labels == i, rows.predicted == i
        if own.any():
            found[f"recall[{name}]"] = share(right, own)
        if said.any():
            found[f"precision[{name}]"] = replace(share(right, kind="ratio"), positive=said)
        if not own.all():
            found[f"specificity[{name}]"] = share(~said, ~own)
        for j, other in enumerate(result.classes):
            if j != i and own.any():
                found[f"mistake[{name} -> {other}]"] = share(rows.predicted == j, own)
    if result.sure is not None:
        sure = share(rows.top_p[:, 0], kind="calibration")
        found["calibration_error"] = replace(sure, positive=rows.top[:, 0] == rows.labels)
    if rows.cost is not None:
        found["expected_cost"] = replace(share(rows.cost, kind="cost"), largest=rows.largest_cost)
    return found


def samples(context: Context, answer: AccuracyResult) -> tuple[Sample, ...]:
    """Wrong answers, the most confident first."""
    wrong = np.flatnonzero(~answer.correct)
    sure = answer.sure
    if sure is not None:
        wrong = wrong[np.argsort(-sure[wrong], kind="stable")]
    gallery = Gallery(context, context.test)
    return tuple(
        gallery.at(
            int(row),
            "wrong, the surest first" if sure is not None else "wrong",
            said=str(answer.classes[answer.rows.predicted[row]]),
            confidence=None if sure is None else float(sure[row]),
        )
        for row in wrong[:MOST]
    )


def rows_of_classes(labels: IntArray, n_classes: int) -> list[IntArray]:
    """The positions of each class's rows, in order.

    >>> [rows.tolist() for rows in rows_of_classes(np.array([1, 0, 1]), 3)]
    [[1], [0, 2], []]
    """
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels, minlength=n_classes))[:-1])


def top_columns(probabilities: Probabilities, count: int) -> NDArray[np.int32]:
    """The columns of the largest probabilities of each row, the largest first.

    Of equal ones the first comes first. A few passes over some rows at a time: sorting a
    thousand classes for three of them takes a hundred times as long.

    >>> top_columns(np.array([[0.2, 0.5, 0.2, 0.1]]), 3).tolist()
    [[1, 0, 2]]
    """
    n, k = probabilities.shape
    found = np.empty((n, min(count, k)), dtype=np.int32)
    step = max(1, _NUMBERS_AT_ONCE // k)
    for start in range(0, n, step):
        left = probabilities[start : start + step].copy()
        rows = np.arange(len(left))
        for place in range(found.shape[1]):
            largest = left.argmax(axis=1)
            found[start : start + step, place] = largest
            left[rows, largest] = -1.0
    return found
