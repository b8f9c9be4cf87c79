"""The labelled rows one by one, and what each contributed to the numbers of accuracy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.decision import Decision
from fireassay.assessment.row_outcomes import Kind, RowOutcomes
from fireassay.core.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class AnsweredRows:
    """What tells rows apart, their labels and the answers.

    Attributes
    ----------
    marks, ids
        What tells rows apart in two runs, and what people call them.
    labels, predicted
        Class numbers.
    groups
        For each row the patient or device it belongs to.
    stated, likeliest
        How sure the model itself was of its likeliest class, whatever was decided; None for a
        model that answers with labels alone.
    cost, largest_cost
        What each answer costs, and the most that one can cost; None without costs.
    """

    marks: IntArray
    ids: NDArray[Any]
    labels: IntArray
    predicted: IntArray
    groups: NDArray[Any] | None
    stated: FloatArray | None = None
    likeliest: IntArray | None = None
    cost: FloatArray | None = None
    largest_cost: float = 0.0

    def outcomes(self, classes: Sequence[Any]) -> dict[str, RowOutcomes]:
        """By the names of the numbers: right, wrong, sure, dear; each class found or named."""
        right = self.labels == self.predicted
        found = {
            "accuracy": self._each(right),
            "error": self._each(~right),
            "above_majority": self._each(right),
        }
        sizes = np.bincount(self.labels, minlength=len(classes))
        weight = len(right) / (np.count_nonzero(sizes) * sizes[self.labels])
        found["balanced_accuracy"] = self._each(right * weight, kind="mean")
        for i, name in enumerate(classes):
            own, said = self.labels == i, self.predicted == i
            if own.any():
                found[f"recall[{name}]"] = self._each(right, own)
            if said.any():
                precision = self._each(right, kind="ratio")
                found[f"precision[{name}]"] = replace(precision, positive=said)
            if not own.all():
                found[f"specificity[{name}]"] = self._each(~said, ~own)
            for j, other in enumerate(classes):
                if j != i and own.any():
                    found[f"mistake[{name} -> {other}]"] = self._each(self.predicted == j, own)
        if self.stated is not None and self.likeliest is not None:
            sure = self._each(self.stated, kind="calibration")
            found["calibration_error"] = replace(sure, positive=self.likeliest == self.labels)
        if self.cost is not None:
            cost = self._each(self.cost, kind="cost")
            found["expected_cost"] = replace(cost, largest=self.largest_cost)
        return found

    def _each(
        self, values: NDArray[Any], some: Any = slice(None), kind: Kind = "share"
    ) -> RowOutcomes:
        groups = None if self.groups is None else self.groups[some]
        return RowOutcomes(kind, self.marks[some], values[some].astype(np.float64), groups=groups)


def row_costs(
    decision: Decision, classes: Sequence[Any], labels: IntArray, predicted: IntArray
) -> tuple[FloatArray | None, float]:
    """What each answer costs, and the most that one can cost."""
    if not decision.costs:
        return None, 0.0
    cost = decision.matrix([str(name) for name in classes])
    return cost[labels, predicted], float(cost.max())
