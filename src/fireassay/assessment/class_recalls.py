"""What accuracy hides: classes that are never found, the worst class, and the majority's share."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core import Estimate, Measure
from fireassay.core.arrays import IntArray
from fireassay.core.lazy_modules import special
from fireassay.statistics import paired_difference, share
from fireassay.statistics.grouped_sum import grouped_sum
from fireassay.statistics.share import exact_shares

MEASURES = (
    Measure(
        "balanced_accuracy",
        "Finds a class, in the mean",
        "share",
        "high",
        "The mean over the classes of how often their rows are recognised.",
    ),
    Measure(
        "worst_recall",
        "Finds its worst class",
        "share",
        "high",
        "How often rows of the class that it recognises least are recognised.",
    ),
    Measure(
        "majority_share",
        "Right by always saying the same",
        "share",
        "neither",
        "How often the most frequent class is the label: what needs no model.",
    ),
    Measure(
        "above_majority",
        "Better than always saying the same",
        "share",
        "high",
        "How much more often it is right than the most frequent class would be.",
    ),
)
_SHOWN = 3


@dataclass(frozen=True)
class ClassRecalls:
    """The classes one by one, and the answer that needs no model.

    Attributes
    ----------
    balanced, worst, majority, above_majority
        The numbers of ``MEASURES``.
    never_found
        For each class that no row was recognised of: its name and its rows, most rows first.
    always
        The only answer that the model gives, as ``(name,)``; None if it gives several.
    most_frequent
        The most frequent class among the labels.
    """

    balanced: Estimate
    worst: Estimate
    majority: Estimate
    above_majority: Estimate
    never_found: tuple[tuple[Any, int], ...]
    always: tuple[Any] | None
    most_frequent: Any

    def estimates(self) -> dict[str, Estimate]:
        """The numbers by name."""
        return {
            "balanced_accuracy": self.balanced,
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
            f"{100 * v:+.1f}"
            for v in (
                self.above_majority.value,
                self.above_majority.low,
                self.above_majority.high,
            )
        )
        return (
            f"Always saying {self.most_frequent!r} would be right on "
            f"{100 * self.majority.value:.1f} %: the model is {gain} points better "
            f"({100 * self.above_majority.confidence:g} % interval {low} to {high})."
        )


def class_recalls(
    labels: IntArray,
    predicted: IntArray,
    classes: Sequence[Any],
    confidence: float,
    groups: NDArray[Any] | None = None,
) -> ClassRecalls:
    """Recalls that hold for all classes at once, and the difference from the majority's share.

    The worst recall lies between the smallest of the lower and the smallest of the upper ends of
    intervals that hold together (Bonferroni). The mean recall combines the intervals of the single
    classes by their squared widths; with groups, whose rows may tie classes together, it is
    `statistics.grouped_sum`.
    """
    k = len(classes)
    correct = labels == predicted
    present = np.unique(labels)
    counts = np.bincount(labels, minlength=k)
    found = np.bincount(labels[correct], minlength=k)
    level = 1 - (1 - confidence) / len(present)
    joint = (
        exact_shares(found[present], counts[present], level)
        if groups is None
        else [_share(correct[r], groups[r], level) for r in (labels == c for c in present)]
    )
    recalls = np.array([e.value for e in joint])
    most = int(counts.argmax())
    never = sorted((int(c) for c in present if not found[c]), key=lambda c: -counts[c])
    said = np.unique(predicted)
    return ClassRecalls(
        balanced=_mean(correct, labels, recalls, groups, confidence),
        worst=Estimate.around(
            float(recalls.min()),
            min(e.low for e in joint),
            min(e.high for e in joint),
            confidence=confidence,
            n=len(labels),
            method=f"{joint[0].method}, simultaneous over {len(present)} classes",
        ),
        majority=_share(labels == most, groups, confidence),
        above_majority=_difference(labels == most, correct, groups, confidence),
        never_found=tuple((classes[c], int(counts[c])) for c in never),
        always=(classes[int(said[0])],) if len(said) == 1 and len(labels) > 1 else None,
        most_frequent=classes[most],
    )


def _share(hit: NDArray[np.bool_], groups: ArrayLike | None, confidence: float) -> Estimate:
    if groups is None:
        return share(int(hit.sum()), len(hit), confidence)
    return share(hit, confidence=confidence, groups=groups)


def _mean(
    correct: NDArray[np.bool_],
    labels: IntArray,
    recalls: NDArray[np.float64],
    groups: NDArray[Any] | None,
    confidence: float,
) -> Estimate:
    value, present = float(recalls.mean()), np.unique(labels)
    if groups is None:
        counts = np.bincount(labels)
        found = np.bincount(labels[correct], minlength=len(counts))
        single = exact_shares(found[present], counts[present], confidence)
        down = math.sqrt(sum((e.value - e.low) ** 2 for e in single)) / len(single)
        up = math.sqrt(sum((e.high - e.value) ** 2 for e in single)) / len(single)
        low, high, how = value - down, value + up, "Clopper-Pearson, combined by squared widths"
    else:
        rows, m = [labels == c for c in present], len(present)
        _, low, high = grouped_sum([1.0 / m] * m, [correct] * m, rows, groups, confidence)
        how = "groups-max of each class, combined, approximate"
    return Estimate.around(
        value,
        max(0.0, low),
        min(1.0, high),
        confidence=confidence,
        n=len(correct),
        method=how,
    )


def _difference(
    majority: NDArray[np.bool_],
    correct: NDArray[np.bool_],
    groups: NDArray[Any] | None,
    confidence: float,
) -> Estimate:
    """How much more often the model is right; with groups, from the spread of their totals."""
    if groups is None:
        return paired_difference(majority, correct, confidence)
    gain = correct.astype(np.float64) - majority
    member = np.unique(groups, return_inverse=True)[1].ravel()
    n, value = len(gain), float(gain.mean())
    totals = np.bincount(member, weights=gain - value)
    many = len(totals)
    method = f"spread over {many} groups"
    if many < 2:
        return Estimate(value, -1.0, 1.0, confidence, n, method)
    spread = math.sqrt(many / (many - 1) * float((totals**2).sum())) / n
    half = float(special.stdtrit(many - 1, (1 + confidence) / 2)) * spread
    ends = max(-1.0, value - half), min(1.0, value + half)
    return Estimate.around(value, *ends, confidence=confidence, n=n, method=method)
