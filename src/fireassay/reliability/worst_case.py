"""Partial identification: where no label was seen, the model may be wrong every time."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import NotEnoughEvidenceError
from fireassay.core.words import percent
from fireassay.reliability.cells import box, box_around, default_cells
from fireassay.reliability.label_bounds import exact_limits, exact_row
from fireassay.reliability.ledger import full_ledger, separation_of
from fireassay.reliability.problem import Problem
from fireassay.reliability.result import FROM_THE_FIELD, Details, ReliabilityResult, build_result


@dataclass(frozen=True)
class WorstCaseInterval(Details):
    """An interval that needs no trust in the model's own vote.

    Attributes:
        low, high: Confidence limits: no error in unseen cells, an error at every input in them.
        identified_low, identified_high: The same shares without sampling error.
        unseen: Share of operational rows in cells without a label, or with several.
        cells_seen, cells_mixed: Cells with exactly one label, and with several.
        from_labels: Whether labelled rows had to stand for operational ones.

    >>> from fireassay.reliability import assess
    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = np.linspace(0.01, 0.49, 100)[:, None]  # labels on the left, the field everywhere
    >>> found = assess(half, X, [False] * 100, np.linspace(0.001, 0.999, 200)[:, None],
    ...                method=WorstCase(cells=10, bounds=(0, 1))).details
    >>> found.cells_seen, found.unseen
    (5, 0.5)
    """

    low: float
    high: float
    identified_low: float
    identified_high: float
    unseen: float
    cells_seen: int
    cells_mixed: int
    from_labels: bool = False

    how: ClassVar[str] = "worst case over unlabelled cells, Clopper-Pearson"

    @property
    def rests_on(self) -> tuple[str, ...]:
        """On the cells; on where labels come from only if they stand for operational rows."""
        found = ("one-label-per-cell", "independent-rows", "labels-right")
        return (FROM_THE_FIELD, *found) if self.from_labels else found


@dataclass(frozen=True)
class WorstCase:
    """No trust where there is no label: the model may be wrong there every time.

    Args:
        cells: Cells per axis; by default 250, and above two features cells of the side of
            r-separation.
        bounds: The box that they divide; the unit cube if it holds the rows, else the range of the
            rows.

    >>> from fireassay.reliability import assess
    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = np.random.default_rng(0).random((200, 1))
    >>> found = assess(half, X, X[:, 0] > 0.5, method=WorstCase(cells=10))
    >>> round(found.pmi_upper, 4)  # all cells have labels, 100 rows judge: 1 - 0.025 ** 0.01
    0.0362
    """

    cells: int | tuple[int, ...] | None = None
    bounds: ArrayLike | None = None

    name: ClassVar[str] = "worst-case"
    summary: ClassVar[str] = (
        "cells without a label may fail every time; holds if each cell has one true label"
    )
    uses: ClassVar[tuple[str, ...]] = ()

    def run(self, problem: Problem) -> ReliabilityResult:
        """Bound the pmi."""
        labelled, y, field = problem.labelled, problem.y, problem.field
        notes: list[str] = []
        if field is None:
            if len(y) < 2:
                raise NotEnoughEvidenceError(
                    "Method 'worst-case' needs operational rows, or at least 2 labelled ones.",
                    got=f"{len(y)} labelled row(s)",
                )
            # Rows that label cells must not be the rows that show how often cells come.
            half = len(y) // 2
            field, labelled = labelled.take(slice(half, None)), labelled.take(slice(half))
            y = y[:half]
            notes.append("Without operational rows, half of the labelled rows stand for them.")
        side, origin = self._sides(problem)
        label_of = _labels_by_cell(labelled.X, y, side, origin)
        unknown, wrong = 0, 0
        for block in field.blocks():
            keys = _keys(block.inputs.X, side, origin)
            seen = np.array([label_of.get(key, -1) for key in keys], dtype=np.int64)
            unknown += int((seen < 0).sum())
            wrong += int(((seen >= 0) & (seen != block.inputs.predicted)).sum())
        n, confidence = len(field), problem.confidence
        mixed = sum(label < 0 for label in label_of.values())
        found = WorstCaseInterval(
            low=exact_limits(wrong, n, confidence)[0],
            high=exact_limits(wrong + unknown, n, confidence)[1],
            identified_low=wrong / n,
            identified_high=(wrong + unknown) / n,
            unseen=unknown / n,
            cells_seen=len(label_of) - mixed,
            cells_mixed=mixed,
            from_labels=problem.field is None,
        )
        notes.append(
            f"{percent(found.unseen, 1)} of operational rows are in cells without one label; "
            "there the model counts as wrong every time."
        )
        claim = "holds if a cell has one true label"
        middle = (found.identified_low + found.identified_high) / 2
        worst = ("worst case", found.identified_low, found.high, claim)
        return build_result(
            problem,
            self.name,
            found,
            limits=(found.low, min(max(middle, found.low), found.high), found.high),
            comparison=[worst, exact_row(problem)],
            assumptions=full_ledger(problem, side=float(side.max()), mixed=(mixed, len(label_of))),
            notes=tuple(notes),
        )

    def _sides(self, problem: Problem) -> tuple[FloatArray, FloatArray]:
        """Side lengths and origin of cells in any number of dimensions."""
        X = problem.labelled.X
        d = X.shape[1]
        low, high = box(box_around(X) if self.bounds is None else self.bounds, d)
        cells = default_cells(d) if self.cells is None and d <= 2 else self.cells
        if cells is not None:
            return (high - low) / np.broadcast_to(np.asarray(cells, dtype=np.float64), (d,)), low
        separation = separation_of(problem)
        r = 0.0 if separation is None else separation.r
        return np.full(d, r if r > 0 else float((high - low).mean()) / 1000), low


def _labels_by_cell(
    X: FloatArray, y: IntArray, side: FloatArray, origin: FloatArray
) -> dict[bytes, int]:
    found: dict[bytes, int] = {}
    for key, label in zip(_keys(X, side, origin), y.tolist(), strict=True):
        found[key] = label if found.get(key, label) == label else -1
    return found


def _keys(X: FloatArray, side: FloatArray, origin: FloatArray) -> list[bytes]:
    position = np.floor((X - origin) / side).astype(np.int64)
    return [row.tobytes() for row in position]
