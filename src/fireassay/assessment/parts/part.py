"""What a part of an assessment is, what it answers, and what other parts may take from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from fireassay import statistics
from fireassay.assessment.context import Context, Cost
from fireassay.core import Claim, Estimate, Evidence, Measure, Sample, row_index, sha256
from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.chart import Chart
from fireassay.core.result import Answer
from fireassay.report.open_points import NEEDS_A_MODEL

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class PartAnswer(Answer):
    """The answer of a package, with what the assessment and other parts keep besides."""

    result: Answer
    kept: dict[str, Any] = field(default_factory=dict)
    part: InitVar[str] = ""  # written by 0.2.0, not read

    def frame(self) -> pd.DataFrame:
        """The package's own table."""
        return self.result.frame()

    def charts(self) -> dict[str, Chart]:
        """The package's own charts."""
        return self.result.charts()

    def evidence(self) -> Evidence:
        """The package's own evidence; `Part.evidence` adds what the part knows."""
        return self.result.evidence()


def _evidence(answer: Any) -> Evidence:
    found: Evidence = answer.evidence()
    return found


@dataclass(frozen=True)
class Part:
    """A question of an assessment: its settings, its needs and costs, and how it is answered."""

    name: str
    settings: type[BaseModel]
    missing: Callable[[Context], str | None]  # why it cannot run, or None
    cost: Callable[[Context, Any], Cost]
    run: Callable[[Context, Any], Answer]
    uses: tuple[str, ...] = ()  # parts whose results it takes
    evidence: Callable[[Any], Evidence] = _evidence
    samples: Callable[[Context, Any], tuple[Sample, ...]] = lambda _, __: ()
    outcomes: Callable[[Any], Mapping[str, RowOutcomes]] = lambda _: {}
    # Writes files besides the result into the run's folder; without a result it takes them away.
    files: Callable[[Path, Context, Any], None] = lambda _, __, ___: None
    state: Callable[[Context], Any] = lambda _: None  # other things its answer depends on
    measures: tuple[Measure, ...] | None = None  # the numbers it can have; None: not declared
    asks: bool = True  # whether it must ask the model; recorded answers cannot be asked

    def why_not(self, context: Context) -> str | None:
        """Why it cannot run, or None."""
        if self.asks and context.recorded:
            return NEEDS_A_MODEL
        return self.missing(context)


def with_uses(evidence: Evidence, uses: Sequence[str]) -> Evidence:
    """The evidence with a line on what it took from other parts; unchanged if that is nothing."""
    if not uses or evidence.status != "done":
        return evidence
    return replace(evidence, claims=(*evidence.claims, Claim(f"Uses: {'; '.join(uses)}.")))


def with_range(evidence: Evidence, found: str | None) -> Evidence:
    """The evidence with a line on the range in which inputs were changed, if they have one."""
    if found is None or evidence.status != "done":
        return evidence
    claim = Claim(f"Inputs were changed within {found}.")
    return replace(evidence, claims=(*evidence.claims, claim))


Kind = Literal["share", "mean", "auc", "ratio", "calibration", "cost"]
_LEAST_COMMON = 0.9


@dataclass(frozen=True)
class RowOutcomes:
    """Per-row values behind an estimate, so that two runs can be compared in pairs."""

    kind: Kind
    rows: IntArray
    values: FloatArray
    positive: AnyArray | None = None
    groups: AnyArray | None = None
    about: str = ""
    largest: float = 0.0


def row_marks(X: Any, y: AnyArray) -> IntArray:
    """A number for each row and its label; equal ones are numbered on."""
    known = np.asarray(y)
    known = known.astype(str) if known.dtype.kind == "O" else known
    labels, member = _numbered(known)
    of_label = np.array([_hashed(str(label).encode()) for label in labels], dtype=np.uint64)
    if hasattr(X, "dtype") and X.dtype.kind in "fiub":
        rows = row_index.row_marks(X)
    else:
        rows = np.array([_hashed(row) for row in _contents(X)], dtype=np.uint64)
    plain = _mixed(rows * np.uint64(_ODD) + of_label[member])
    if not (np.diff(np.sort(plain)) == 0).any():  # sorting is fast, an order takes long
        return _mixed(plain).view(np.int64)
    order = np.argsort(plain, kind="stable")
    first = np.flatnonzero(np.diff(plain[order], prepend=~plain[order[:1]]))
    again = np.empty(len(plain), dtype=np.uint64)
    again[order] = np.arange(len(plain)) - np.repeat(first, np.diff(first, append=len(plain)))
    return _mixed(plain + again * np.uint64(_ODD)).view(np.int64)


def _numbered(labels: AnyArray) -> tuple[AnyArray, AnyArray]:
    """The labels there are, and the number of each row's; small whole numbers are counted."""
    if labels.dtype.kind in "iu" and len(labels):
        least, most = int(labels.min()), int(labels.max())
        if most - least < len(labels) and most < 2**62:
            places = labels.astype(np.int64) - least
            known = np.flatnonzero(np.bincount(places))
            number = np.zeros(most - least + 1, dtype=np.int64)
            number[known] = np.arange(len(known))
            return known + least, number[places]
    found, member = np.unique(labels, return_inverse=True)
    return found, member.ravel()


_ODD = 0x9E3779B97F4A7C15


def _hashed(content: bytes) -> int:
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "big")


def _mixed(marks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers of which every bit depends on every bit (the last steps of splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        marks = (marks ^ (marks >> np.uint64(shift))) * np.uint64(factor)
    return marks ^ (marks >> np.uint64(31))


def id_marks(ids: Any, y: AnyArray) -> IntArray:
    """A number for each labelled row of recorded answers, by its id and its label."""
    from fireassay.core.lazy import pd

    texts = (np.asarray(values).astype(str).astype(object) for values in (ids, y))
    one, other = (pd.util.hash_array(text) for text in texts)
    return np.asarray(one * np.uint64(31) + other).view(np.int64)


def marks_of(context: Context, labels: AnyArray) -> IntArray:
    """The `row_marks` of the test rows, computed once: a million rows take seconds."""
    key = sha256("row marks", context.digest(context.test), labels)
    if key not in context.known:
        data = context.test
        context.known[key] = (
            id_marks(data.ids, labels) if context.recorded else row_marks(data.X, labels)
        )
    found: IntArray = context.known[key]
    return found


def _contents(X: Any) -> Iterator[bytes]:
    """The content of each row of texts or of a data frame."""
    if hasattr(X, "itertuples"):
        return (repr(row).encode() for row in X.itertuples(index=False, name=None))
    return (repr(row).encode() for row in X.tolist())


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
        return statistics.paired_auc_difference(a, b, marks, confidence)
    if before.positive is not None and after.positive is not None:
        sides = ((a, before.positive[first]), (b, after.positive[second]))
        if after.kind == "ratio":
            some = all(np.asarray(inside).any() for _, inside in sides)
            return statistics.paired_ratio_difference(*sides, confidence, groups) if some else None
        return statistics.paired_calibration_difference(*sides, confidence, groups=groups)
    if after.kind == "cost":
        largest = max(before.largest, after.largest)
        return statistics.mean_cost(b - a, (-largest, largest), confidence, groups=groups)
    if after.kind == "mean":
        return statistics.paired_mean_difference(a, b, confidence, groups)
    return statistics.paired_difference(a > 0, b > 0, confidence, groups)
