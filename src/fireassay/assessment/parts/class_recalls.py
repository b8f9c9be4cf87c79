"""What accuracy hides: classes that are never found, the worst class, and the majority's share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fireassay.core import Estimate, Measure
from fireassay.core.groups import Groups
from fireassay.statistics import paired_difference
from fireassay.statistics.numbers.confusion_numbers import class_share
from fireassay.statistics.numbers.judged_rows import JudgedRows
from fireassay.statistics.numbers.standard_intervals import method_of_share, share_ends

MEASURES = (
    Measure(
        "worst_recall",
        "Sensitivity of the worst class",
        "share",
        "high",
        "Share of rows found of the class that is found least.",
    ),
    Measure(
        "majority_share",
        "Accuracy of always answering the most frequent class",
        "share",
        "neither",
        "Share of rows of the most frequent class: what needs no model.",
    ),
    Measure(
        "above_majority",
        "Accuracy above the most frequent class",
        "share",
        "high",
        "How much more often it is right than the most frequent class would be.",
    ),
)
_SHOWN = 3


@dataclass(frozen=True)
class ClassRecalls:
    """The classes one by one, and the answer that needs no model."""

    worst: Estimate
    majority: Estimate
    above_majority: Estimate
    never_found: tuple[tuple[Any, int], ...]
    always: tuple[Any] | None
    most_frequent: Any

    def estimates(self) -> dict[str, Estimate]:
        """The numbers by name."""
        return {
            "worst_recall": self.worst,
            "majority_share": self.majority,
            "above_majority": self.above_majority,
        }

    def lead(self) -> str:
        """What has to stand before the accuracy, with a space behind it; empty if nothing has."""
        if self.always is not None:
            return f"Always says {self.always[0]!r}. "
        if self.never_found:
            shown = [f"{name!r} (0 of {n})" for name, n in self.never_found[:_SHOWN]]
            left = len(self.never_found) - _SHOWN
            return f"Never finds {', '.join(shown)}{f' and {left} more' if left > 0 else ''}. "
        if self.above_majority.high < 0:
            return f"Right less often than always saying {self.most_frequent!r} would be. "
        return ""

    def beside(self) -> str:
        """The accuracy beside the answer that needs no model."""
        gain, low, high = (
            f"{100 * getattr(self.above_majority, end):+.1f}" for end in ("value", "low", "high")
        )
        return (
            f"Always saying {self.most_frequent!r} would be right on "
            f"{100 * self.majority.value:.1f} %: the model is {gain} points better "
            f"({100 * self.above_majority.confidence:g} % interval {low} to {high})."
        )


def class_recalls(rows: JudgedRows, classes: Sequence[Any]) -> ClassRecalls:
    """The worst sensitivity, and the difference from the majority's share."""
    # The worst lies between the smallest of the lower and the smallest of the upper ends of
    # intervals that hold together (Bonferroni).
    counts = rows.margins.own.astype(np.int64)
    found = rows.margins.right
    present = np.flatnonzero(counts)
    level = 1 - (1 - rows.confidence) / len(present)
    joint = [class_share(rows, "sensitivity", int(c), level) for c in present]
    most = int(counts.argmax())
    never = sorted((int(c) for c in present if not found[c]), key=lambda c: -counts[c])
    said = np.unique(rows.answers)
    return ClassRecalls(
        worst=Estimate.around(
            min(e.value for e in joint),
            min(e.low for e in joint),
            min(e.high for e in joint),
            confidence=rows.confidence,
            n=len(rows),
            method=f"{joint[0].method}, simultaneous over {len(present)} classes",
        ),
        majority=_majority(rows, most),
        above_majority=_difference(rows, most),
        never_found=tuple((classes[c], int(counts[c])) for c in never),
        always=(classes[int(said[0])],)
        if len(said) == 1 and said[0] >= 0 and len(rows) > 1
        else None,
        most_frequent=classes[most],
    )


def _majority(rows: JudgedRows, most: int) -> Estimate:
    grouped = rows.groups is not None
    m = rows.of_groups if grouped else rows.margins
    ends = share_ends(m.own[..., most], m.n, rows.confidence, rows.largest_group)
    how = method_of_share(rows.n_units if grouped else None)
    value = rows.margins.own[most] / len(rows)
    return Estimate.around(value, *ends, confidence=rows.confidence, n=len(rows), method=how)


def _difference(rows: JudgedRows, most: int) -> Estimate:
    """How much more often the model is right, row by row or group by group."""
    majority, correct = rows.truth == most, rows.truth == rows.answers
    groups = None if rows.groups is None else Groups(rows.groups, rows.largest_group)
    return paired_difference(majority, correct, rows.confidence, groups)
