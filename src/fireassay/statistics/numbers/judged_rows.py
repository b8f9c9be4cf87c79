"""Rows with truths, answers and probabilities, and the counts that the standard numbers need."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import BoolArray, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.validation import check_labels, check_lengths
from fireassay.statistics.samples import check_confidence

_NUMBERS_AT_ONCE = 2**15


@dataclass(frozen=True, eq=False)
class Margins:
    """Counts per class, of one table (k,) or of many units (units, k)."""

    right: FloatArray
    own: FloatArray
    said: FloatArray
    blank: FloatArray
    apart: FloatArray
    far: FloatArray

    @property
    def n(self) -> FloatArray:
        """Rows."""
        return np.asarray(self.own.sum(axis=-1))

    def shares(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Hits and rows of a share, for each class."""
        plain = {"sensitivity": self.own, "ppv": self.said}
        if name in plain:
            return self.right, plain[name]
        if name == "jaccard":
            return self.right, self.own + self.said - self.right
        n, blanks = self.n[..., None], self.blank.sum(axis=-1, keepdims=True)
        rejected = n - self.own - self.said + self.right - (blanks - self.blank)
        return rejected, n - self.own if name == "specificity" else n - blanks - self.said

    def without(self, units: "Margins") -> "Margins":
        """The table without each of the units."""
        return Margins(*(getattr(self, f) - getattr(units, f) for f in _FIELDS))


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Rows whose truth is known, as every standard number takes them; make it with `of`.

    Attributes:
        truth, answers: Positions of classes; -1 is an indeterminate answer.
        n_classes: How many classes there are.
        probabilities: (n, k), NaN in rows without an answer; None if there are none.
        groups: Which rows belong together, 0 … G-1; None: every row stands alone.
        confidence: Of every interval.
        largest_group: The most rows that a group can have; None: the largest seen.
    """

    truth: IntArray
    answers: IntArray
    n_classes: int
    probabilities: FloatArray | None = None
    groups: IntArray | None = None
    confidence: float = 0.95
    largest_group: float | None = None

    @classmethod
    def of(
        cls,
        truth: ArrayLike,
        answers: ArrayLike,
        n_classes: int,
        probabilities: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        confidence: float = 0.95,
        largest_group: float | None = None,
    ) -> "JudgedRows":
        """Check and keep the rows with a truth; groups of one row each are no groups.

        >>> rows = JudgedRows.of([0, 1, 1, -1], [0, 1, -1, 0], 2)
        >>> len(rows), rows.confusion.tolist()
        (3, [[1, 0, 0], [0, 1, 1]])
        """
        y, said = np.asarray(truth, dtype=np.int64), np.asarray(answers, dtype=np.int64)
        check_lengths(truth=len(y), answers=len(said))
        for codes in (y, said):
            if codes.ndim != 1 or (len(codes) and not -1 <= codes.min() <= codes.max() < n_classes):
                raise DataError(f"Classes must be -1 … {n_classes - 1}, one per row.", got="others")
        kept = y >= 0
        p = None
        if probabilities is not None:
            p = np.asarray(probabilities)
            p = p if p.dtype == np.float32 else p.astype(np.float64, copy=False)
            if p.shape != (len(y), n_classes):
                raise DataError("There must be a probability per row and class.", got=f"{p.shape}")
            p = p if kept.all() else p[kept]
        member = None
        if groups is not None:
            labels = check_labels(groups, name="groups", n=len(y))[kept]
            member = np.unique(labels, return_inverse=True)[1].ravel().astype(np.int64)
            if not len(member) or member.max() + 1 == len(member):
                member = None
        return cls(
            y[kept], said[kept], n_classes, p, member, check_confidence(confidence), largest_group
        )

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def n_units(self) -> int:
        """Groups, or rows where each stands alone."""
        return len(self) if self.groups is None else int(self.groups.max()) + 1

    @cached_property
    def confusion(self) -> IntArray:
        """Counts (k, k + 1): truth in rows, answers in columns, the last one indeterminate."""
        counts = np.zeros((self.n_classes, self.n_classes + 1), dtype=np.int64)
        truth, answers, times = self.cells
        counts[truth, answers] = times
        return counts

    @cached_property
    def cells(self) -> tuple[IntArray, IntArray, IntArray]:
        """Row, column and count of the cells of ``confusion`` that are not empty, in order."""
        width = self.n_classes + 1
        said = np.where(self.answers < 0, self.n_classes, self.answers)
        cells, times = np.unique(self.truth * width + said, return_counts=True)
        return cells // width, cells % width, times

    @cached_property
    def margins(self) -> Margins:
        """The counts of all rows."""
        truth, answers, times = self.cells
        k, inner, steps = self.n_classes, answers < self.n_classes, np.abs(truth - answers)

        def counted(classes: IntArray, some: BoolArray | slice) -> FloatArray:
            return np.bincount(classes[some], weights=times[some], minlength=k).astype(np.float64)

        apart = (times * (steps / max(1, k - 1)) ** 2)[inner].sum() + times[~inner].sum()
        return Margins(
            counted(truth, truth == answers), counted(truth, slice(None)), counted(answers, inner),
            counted(truth, ~inner), np.asarray(apart, dtype=np.float64),
            np.asarray(times[~inner | (steps >= 2)].sum(), dtype=np.float64),
        )  # fmt: skip

    @cached_property
    def of_groups(self) -> Margins:
        """The counts of each group, (groups, k)."""
        assert self.groups is not None
        k, shape = self.n_classes, (self.n_units, self.n_classes)
        answered = self.answers >= 0

        def counted(classes: IntArray, rows: BoolArray | slice) -> FloatArray:
            cells = np.asarray(self.groups)[rows] * k + classes[rows]
            return np.bincount(cells, minlength=shape[0] * k).reshape(shape).astype(np.float64)

        steps = np.abs(self.truth - self.answers)
        apart = np.where(answered, (steps / max(1, k - 1)) ** 2, 1.0)
        return Margins(
            counted(self.truth, self.truth == self.answers),
            counted(self.truth, slice(None)),
            counted(self.answers, answered),
            counted(self.truth, ~answered),
            np.bincount(self.groups, weights=apart).astype(np.float64),
            np.bincount(self.groups, weights=~answered | (steps >= 2)).astype(np.float64),
        )

    def without_each(self) -> Iterator[tuple[Margins, FloatArray]]:
        """Counts without each group or row, in blocks, and how many units are alike.

        Rows of one cell of the confusion matrix leave the same counts behind.
        """
        whole, block = self.margins, max(1, _NUMBERS_AT_ONCE // self.n_classes)
        if self.groups is None:
            for start in range(0, len(self.cells[0]), block):
                i, j, times = (part[start : start + block] for part in self.cells)
                yield whole.without(_of_cells(i, j, self.n_classes)), times.astype(np.float64)
            return
        units = self.of_groups
        for start in range(0, self.n_units, block):
            part = Margins(*(getattr(units, f)[start : start + block] for f in _FIELDS))
            yield whole.without(part), np.ones(len(part.own))

    def at(self, positive: int, threshold: float) -> "JudgedRows":
        """Two classes, ``positive`` answered from a probability on; the new class 1 is it."""
        assert self.probabilities is not None
        stated = self.probabilities[:, positive].astype(np.float64)
        answers = np.where(np.isnan(stated), -1, (stated >= threshold).astype(np.int64))
        both, truth = np.column_stack([1.0 - stated, stated]), (self.truth == positive).astype(int)
        return replace(self, truth=truth, answers=answers, n_classes=2, probabilities=both)

    def answered(self) -> "JudgedRows":
        """Without the rows whose answer is indeterminate."""
        return self.keeping(np.asarray(self.answers >= 0))

    def keeping(self, kept: BoolArray) -> "JudgedRows":
        """Some of the rows."""
        p, groups = self.probabilities, self.groups
        if groups is not None:
            groups = groups[kept]
            present = np.bincount(groups) > 0
            groups = (np.cumsum(present) - 1)[groups]
            groups = None if not len(groups) or groups.max() + 1 == len(groups) else groups
        return replace(
            self, truth=self.truth[kept], answers=self.answers[kept], groups=groups,
            probabilities=None if p is None else p[kept],
        )  # fmt: skip


_FIELDS = tuple(Margins.__dataclass_fields__)


def _of_cells(truth: IntArray, answers: IntArray, k: int) -> Margins:
    """The counts of one row in each of these cells; the answer k is indeterminate."""
    own, given = np.eye(k)[truth], np.eye(k + 1)[answers]
    blank, steps = given[:, k], np.abs(truth - answers)
    return Margins(
        own * given[:, :k],
        own,
        given[:, :k],
        own * blank[:, None],
        np.where(blank > 0, 1.0, (steps / max(1, k - 1)) ** 2),
        ((blank > 0) | (steps >= 2)).astype(np.float64),
    )
