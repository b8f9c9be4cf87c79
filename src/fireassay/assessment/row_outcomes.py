"""What each row contributed to a number, so that two runs on the same rows can be paired."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal

import numpy as np

from fireassay.assessment.context import Context
from fireassay.core import Estimate, sha256
from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.byte_images import ByteImages
from fireassay.statistics import (
    mean_cost,
    paired_auc_difference,
    paired_calibration_difference,
    paired_difference,
    paired_mean_difference,
    paired_ratio_difference,
)

Kind = Literal["share", "mean", "auc", "ratio", "calibration", "cost"]
_LEAST_COMMON = 0.9


@dataclass(frozen=True)
class RowOutcomes:
    """The rows of one number, each with what it contributed.

    Attributes
    ----------
    kind
        The number is a share of the rows, their mean, the AUC of their scores, a share of those
        rows that a model answers so (ratio), a calibration error, or a mean of bounded costs.
    rows
        What tells rows apart, the same in both runs; numbers that `row_marks` gives.
    values
        Whether each row counts (share, ratio), its own number (mean, cost), its score (auc), or how
        sure the model was (calibration).
    positive
        For an AUC: which rows should score high; for a ratio: which rows are in it at all; for a
        calibration error: which answers are right.
    largest
        The largest possible cost.
    groups
        For each row the patient or device it belongs to.
    about
        What the row numbers are about; runs with another one have no rows in common.
    """

    kind: Kind
    rows: IntArray
    values: FloatArray
    positive: AnyArray | None = None
    groups: AnyArray | None = None
    about: str = ""
    largest: float = 0.0


def row_marks(X: Any, y: AnyArray) -> IntArray:
    """A number for each labelled row; equal rows with equal labels are numbered on.

    Rows are numbers, texts, or those of a data frame.

    >>> row_marks(np.array([[1.0], [2.0], [1.0]]), np.array([0, 0, 0])).shape
    (3,)
    """
    marks: list[bytes] = []
    seen: dict[bytes, int] = {}
    for row, label in zip(_contents(X), np.asarray(y).tolist(), strict=True):
        plain = blake2b(row + str(label).encode(), digest_size=16).digest()
        again = seen.get(plain, 0)
        seen[plain] = again + 1
        marks.append(blake2b(plain + again.to_bytes(4, "big"), digest_size=8).digest())
    return np.frombuffer(b"".join(marks), dtype=">i8").astype(np.int64)


def marks_of(context: Context, labels: AnyArray) -> IntArray:
    """The `row_marks` of the test rows, computed once: a million rows take seconds."""
    key = sha256("row marks", context.test.sha256, labels)
    if key not in context.known:
        context.known[key] = row_marks(context.test.X, labels)
    found: IntArray = context.known[key]
    return found


def _contents(X: Any) -> Iterator[bytes]:
    """The content of each row."""
    if hasattr(X, "itertuples"):
        return (repr(row).encode() for row in X.itertuples(index=False, name=None))
    rows = X if isinstance(X, ByteImages) else np.ascontiguousarray(X)
    if rows.dtype.kind in "OUS":
        return (repr(row).encode() for row in rows.tolist())
    return (row.tobytes() for row in rows)


def paired_change(before: RowOutcomes, after: RowOutcomes, confidence: float) -> Estimate | None:
    """The change of a number row by row; None if the runs share too few of their rows."""
    if before.kind != after.kind or before.about != after.about:
        return None
    _, first, second = np.intersect1d(before.rows, after.rows, return_indices=True)
    if len(first) < max(4, _LEAST_COMMON * max(len(before.rows), len(after.rows))):
        return None
    a, b = before.values[first], after.values[second]
    groups = None if after.groups is None else after.groups[second]
    if after.kind == "auc":
        if before.positive is None or after.positive is None or groups is not None:
            return None
        marks = after.positive[second]
        if not (before.positive[first] == marks).all() or min(marks.sum(), (~marks).sum()) < 2:
            return None
        return paired_auc_difference(a, b, marks, confidence)
    if before.positive is not None and after.positive is not None:
        sides = ((a, before.positive[first]), (b, after.positive[second]))
        if after.kind == "ratio":
            some = all(np.asarray(inside).any() for _, inside in sides)
            return paired_ratio_difference(*sides, confidence, groups) if some else None
        return paired_calibration_difference(*sides, confidence, groups=groups)
    if after.kind == "cost":
        largest = max(before.largest, after.largest)
        return mean_cost(b - a, (-largest, largest), confidence, groups=groups)
    if after.kind == "mean":
        return paired_mean_difference(a, b, confidence, groups)
    return paired_difference(a > 0, b > 0, confidence, groups)
