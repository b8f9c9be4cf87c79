"""A file of predictions: which column is the truth, the answer, a probability, a patient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.files import MAX_BYTES
from fireassay.core.lazy import pd
from fireassay.data.prediction_roles import Reading
from fireassay.data.prediction_table import prediction_table

_MOST_SLICES = 20


@dataclass(frozen=True, eq=False)
class Predictions:
    """Truths, answers and probabilities of the same rows, as a file gave them.

    Attributes:
        truth, answers: Positions in ``classes``; -1: no truth, and an indeterminate answer.
        classes: Names of the classes.
        probabilities: (n, k); NaN in rows without an answer. None: there are none.
        confidence: Of the answer alone, where that is all there is.
        positive: The positive class of two, or None where it is not clear.
        threshold: By class: the cut that explains answers which are not the most probable class.
            None: the most probable class is answered, or there are no probabilities.
        ids, groups, time, weights: One value per row, or None.
        others: Columns without a role; ``offered`` names those that can be slices.
        findings: One line for each thing that was found.
        asks: What only the user knows, with the flag to type; the conditions of a verdict.
    """

    truth: IntArray
    answers: IntArray
    classes: tuple[Any, ...]
    probabilities: FloatArray | None
    confidence: FloatArray | None
    positive: Any | None
    threshold: dict[str, float] | None
    ids: AnyArray | None
    groups: AnyArray | None
    time: AnyArray | None
    weights: FloatArray | None
    others: pd.DataFrame
    offered: tuple[str, ...]
    findings: tuple[str, ...]
    asks: tuple[str, ...] = ()
    name: str = ""

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def indeterminate(self) -> BoolArray:
        """Rows without a usable answer."""
        return np.asarray(self.answers < 0)

    @property
    def roles(self) -> dict[str, str]:
        """The column of each role, as the findings say."""
        found = (line.partition(": ") for line in self.findings)
        return {role: column.partition(" (")[0] for role, _, column in found}

    def slice_values(self, column: str) -> AnyArray:
        """The slice of each row by one column: its values, or four ranges of many numbers."""
        if column not in self.others:
            raise DataError(
                f"There is no column {column!r} to slice by.",
                got=", ".join(self.others.columns[:12]) or "no other columns",
            )
        values = self.others[column]
        if pd.api.types.is_numeric_dtype(values.dtype) and values.nunique() > _MOST_SLICES:
            # Named by the values within, not by the cuts between them.
            ranges = values.groupby(pd.qcut(values, 4, duplicates="drop"), observed=True)
            ends = zip(ranges.transform("min"), ranges.transform("max"), strict=True)
            named = [f"{low:.4g} to {high:.4g}" if low == low else None for low, high in ends]
            values = pd.Series(named, index=values.index, dtype=object)
        texts = values.astype(object).where(values.notna(), "(missing)")
        return texts.astype(str).to_numpy(dtype=object)


def read_predictions(
    source: Any,
    *,
    truth: str | None = None,
    answer: str | None = None,
    probability: str | Sequence[str] | None = None,
    answer_confidence: str | None = None,
    id_column: str | None = None,
    group: str | None = None,
    time: str | None = None,
    weight: str | None = None,
    classes: Sequence[Any] | None = None,
    positive: Any | None = None,
    indeterminate: Any | None = None,
    threshold: float | None = None,
    unlabelled: Any | None = None,
    max_bytes: int = MAX_BYTES,
) -> Predictions:
    """Read predictions and find the role of each column by its usual names.

    Args:
        source: A CSV, Parquet, JSON lines or npz file, a pandas frame, or "-" for standard input.
        truth, answer, probability, answer_confidence, id_column, group, time, weight: Columns of
            these roles, where their names do not say it; "none": there is none. Several
            probabilities are given in the order of the classes.
        classes: All classes in their order; None: those that occur, sorted.
        positive: The positive class of two.
        indeterminate: The answer that stands for "cannot tell"; an empty answer always does.
        threshold: Answer the positive class from this probability on, whatever the answers say.
        unlabelled: The truth that stands for "not known"; an empty truth always does.
        max_bytes: Refuse files that unpack to more.

    Raises:
        DataError: Where a role has no or several candidates, or values do not fit their role.

    >>> frame = pd.DataFrame({"y_true": [0, 1, 1], "y_prob": [0.2, 0.7, 0.4], "ward": list("aab")})
    >>> found = read_predictions(frame)
    >>> found.answers.tolist(), found.positive, found.offered
    ([0, 1, 0], 1, ('ward',))
    """
    frame, tables, name = prediction_table(source, max_bytes=max_bytes)
    given = {"truth": truth, "answer": answer, "id": id_column, "group": group, "time": time,
             "weight": weight}  # fmt: skip
    reading = Reading(frame, tables, name, given)
    options = (classes, positive, indeterminate, threshold, unlabelled)
    return Predictions(**reading.roles(probability, answer_confidence, *options))


def per_group(found: Predictions, how: str) -> Predictions:
    """One row per group instead of its rows."""
    # "any": positive if one of its rows is, with the highest probability; "majority": the most
    # frequent class, with the mean probabilities; "last": the last row by time, or in the file.
    if found.groups is None or how not in ("any", "majority", "last"):
        raise DataError(
            "--per needs groups and any, majority or last.", got=repr(how),
            do="Type --per patient=any.",
        )  # fmt: skip
    names, member = np.unique(found.groups, return_inverse=True)
    member, n, k = member.ravel(), len(names), len(found.classes)
    order = np.arange(len(found)) if found.time is None else np.argsort(found.time, kind="stable")
    last = np.empty(n, dtype=np.int64)
    last[member[order]] = order
    p = found.probabilities
    if how == "last":
        truth, answers = found.truth[last], found.answers[last]
        p = None if p is None else p[last]
    elif how == "any":
        if found.positive is None:
            raise DataError("--per …=any is of the positive class.", do="Type --positive CLASS.")
        yes = found.classes.index(found.positive)
        truth, answers = (_any(codes, member, n, yes) for codes in (found.truth, found.answers))
        if p is not None:
            top = np.full(n, -np.inf)
            np.maximum.at(top, member, np.where(np.isnan(p[:, yes]), -np.inf, p[:, yes]))
            top = np.where(np.isinf(top), np.nan, top)
            p = np.column_stack([1.0 - top, top]) if yes else np.column_stack([top, 1.0 - top])
    else:
        truth, answers = (_most(codes, member, n, k) for codes in (found.truth, found.answers))
        if p is not None:
            sums = [np.bincount(member, weights=column, minlength=n) for column in p.T]
            p = np.column_stack(sums) / np.bincount(member, minlength=n)[:, None]
    line = f"{n:,} groups are judged instead of {len(found):,} rows, by {how}"
    return replace(
        found, truth=truth, answers=answers, probabilities=p, confidence=None, ids=names,
        groups=None, time=None, weights=None, others=found.others.iloc[last],
        findings=(*found.findings, line), threshold=found.threshold if how == "last" else None,
    )  # fmt: skip


def _any(codes: IntArray, member: IntArray, n: int, yes: int) -> IntArray:
    """Positive where one row is; unknown where none is and one is unknown; else the other class."""
    hit = np.bincount(member, weights=codes == yes, minlength=n) > 0
    blank = np.bincount(member, weights=codes < 0, minlength=n) > 0
    return np.where(hit, yes, np.where(blank, -1, 1 - yes))


def _most(codes: IntArray, member: IntArray, n: int, k: int) -> IntArray:
    """The most frequent class of each group, the first of equal ones; unknown where all are."""
    known = codes >= 0
    cells = np.bincount(member[known] * k + codes[known], minlength=n * k).reshape(n, k)
    return np.where(cells.any(axis=1), cells.argmax(axis=1), -1)


def predictions_of(
    y: ArrayLike,
    proba: ArrayLike | None = None,
    answers: ArrayLike | None = None,
    *,
    ids: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    time: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    slices: Mapping[str, ArrayLike] | None = None,
    classes: Sequence[Any] | None = None,
    positive: Any | None = None,
    indeterminate: Any | None = None,
    threshold: float | None = None,
    unlabelled: Any | None = None,
) -> Predictions:
    """Predictions from arrays, checked as those of a file are.

    Args:
        y, proba, answers: Truths, probabilities (n,) of the positive class or (n, k), and answers.
        ids, groups, time, weights, slices: Further columns.
        classes, positive, indeterminate, threshold, unlabelled: As for `read_predictions`.

    >>> predictions_of(["no", "yes"], [0.1, 0.8]).answers.tolist()
    [0, 1]
    """
    roles = {"truth": y, "answer": answers, "id": ids, "group": groups, "time": time,
             "weight": weights}  # fmt: skip
    columns = {role: np.asarray(values) for role, values in roles.items() if values is not None}
    p = None if proba is None else np.asarray(proba, dtype=np.float64)
    tables = {"y_prob": p} if p is not None and p.ndim == 2 else {}
    if p is not None and p.ndim == 1:
        columns["y_prob"] = p
    frame = pd.DataFrame(columns | {k: np.asarray(v) for k, v in (slices or {}).items()})
    given = {role: role if role in columns else "none" for role in roles}
    reading = Reading(frame, tables, "arrays", given)
    options = (classes, positive, indeterminate, threshold, unlabelled)
    return Predictions(**reading.roles("y_prob" if "y_prob" in columns else None, None, *options))
