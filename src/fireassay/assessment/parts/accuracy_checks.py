"""What accuracy hides: classes never found, the majority's share, and untrue confidences."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core import Assumption, Claim, Estimate, Measure
from fireassay.core.arrays import FloatArray, IntArray, Probabilities
from fireassay.core.evidence import AssumptionStatus
from fireassay.core.groups import Groups
from fireassay.data.splits import random_half
from fireassay.statistics import paired_difference
from fireassay.statistics.calibration import stated_calibration_error
from fireassay.statistics.numbers.confusion_numbers import class_share
from fireassay.statistics.numbers.judged_rows import JudgedRows
from fireassay.statistics.numbers.standard_intervals import method_of_share, share_ends
from fireassay.statistics.temperature import temperature as find_temperature

CALIBRATED = "calibrated"
TOLERANCE = 0.05
_FEWEST_ROWS = 100
_FIT_NUMBERS = 2**22  # of many classes fewer rows, which tell a temperature well
_NUMBERS_AT_ONCE = 2**18  # in the cache
_LOG_OF_NOTHING = math.log(sys.float_info.min)  # as in `log_probabilities`
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
    Measure(
        "calibration_error",
        "Calibration error",
        "share",
        "low",
        "Mean gap between how sure it is and how often it is right.",
    ),
    Measure(
        "temperature",
        "Calibration temperature",
        "ratio",
        "neither",
        "Dividing the logits by this makes the confidences fit best; above 1 it is too sure.",
    ),
    Measure(
        "calibration_error_mended",
        "Calibration error after temperature scaling",
        "share",
        "low",
        "The same gap with the temperature, on rows that did not fit it.",
    ),
)


@dataclass(frozen=True)
class CalibrationCheck:
    """The calibration error, and the temperature that would mend it."""

    error: Estimate
    temperature: float
    before: Estimate | None
    after: Estimate | None
    fitted: int = 0

    def estimates(self) -> dict[str, Estimate]:
        """By the names of the measures."""
        found = {"calibration_error": self.error}
        if self.before is not None and self.after is not None:
            fitted = self.fitted or self.error.n - self.after.n
            found["temperature"] = Estimate.point(
                self.temperature, fitted, f"best likelihood on {fitted:,} rows"
            )
            found["calibration_error_mended"] = self.after
        return found

    def claims(self) -> tuple[Claim, ...]:
        """How far off, and what the temperature would change."""
        text = [f"Its calibration error is {between(self.error)}."]
        if self.before is not None and self.after is not None:
            text.append(
                f"With temperature {self.temperature:.2f} it would be off by "
                f"{between(self.after)}, instead of {between(self.before)} on the same rows; "
                "no answer would change."
            )
        elif self.fitted:
            text.append(
                f"A temperature of {self.temperature:.2f} fits {self.fitted:,} rows best. It would "
                "not improve the log loss of others: none is used."
            )
        return tuple(Claim(sentence) for sentence in text)

    def assumption(self, why: str) -> Assumption:
        """That confidences are true, as far as a part needs it."""
        status: AssumptionStatus = "untestable"
        if self.error.low > TOLERANCE:
            status = "contradicted"
        elif self.error.high <= TOLERANCE:
            status = "supported"
        return Assumption(
            f"Confidences are true to within {100 * TOLERANCE:g} points: {why}",
            status,
            f"On labelled rows they are off by {between(self.error)}.",
            CALIBRATED,
        )


def between(error: Estimate) -> str:
    """The interval in words: its middle is a biased number, which is not 0 without any error."""
    low, high = (f"{100 * end:.2g}" for end in (error.low, error.high))
    return f"between {low} and {high} points ({100 * error.confidence:g} %, n = {error.n})"


def calibration_check(
    probabilities: Probabilities,
    labels: IntArray,
    *,
    confidence: float,
    groups: NDArray[Any] | None,
    seed: int,
    mend: bool = True,
    top: IntArray | None = None,
    rests_on: tuple[str, ...] = (),
) -> CalibrationCheck:
    """Measure the calibration error, fit a temperature on one half, judge it on the other."""
    top = probabilities.argmax(axis=1) if top is None else top
    stated = probabilities[np.arange(len(top)), top].astype(np.float64)
    correct = top == labels

    def error(said: FloatArray, rows: NDArray[np.bool_]) -> Estimate:
        own = None if groups is None else groups[rows]
        found = stated_calibration_error(
            said, correct[rows], confidence=confidence, seed=seed, groups=own
        )
        return replace(found, rests_on=rests_on)

    whole = error(stated, np.ones(len(labels), dtype=bool))
    first = random_half(len(labels), groups, seed, "calibration check")
    nothing = CalibrationCheck(whole, float("nan"), None, None)
    if not mend or len(labels) < _FEWEST_ROWS or not 0 < first.sum() < len(labels):
        return nothing
    fitted = _spread(np.flatnonzero(first), _FIT_NUMBERS // probabilities.shape[1])
    found = find_temperature(probabilities[fitted], labels[fitted], seed)
    if not found.used:
        return replace(nothing, temperature=found.fitted, fitted=len(fitted))
    temperature = found.value
    mended = _mended(probabilities, np.flatnonzero(~first), temperature)
    return CalibrationCheck(
        whole, temperature, error(stated[~first], ~first), error(mended, ~first), len(fitted)
    )


def _spread(rows: IntArray, most: int) -> IntArray:
    """The rows, or as many from all over them."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def _mended(probabilities: Probabilities, rows: IntArray, temperature: float) -> FloatArray:
    """The top class's probability of these rows after the temperature."""
    # One over the sum of (p / p_top)^(1/T), in the numbers' own type: float32 is off by 1e-7.
    mended = np.empty(len(rows))
    step = max(1, _NUMBERS_AT_ONCE // probabilities.shape[1])
    for at in range(0, len(rows), step):
        logs = probabilities[rows[at : at + step]]
        with np.errstate(divide="ignore"):  # a probability of 0
            np.log(logs, out=logs)
        np.maximum(logs, _LOG_OF_NOTHING, out=logs)
        logs -= logs.max(axis=1, keepdims=True)
        logs *= 1.0 / temperature
        np.exp(logs, out=logs)
        mended[at : at + step] = 1.0 / logs.sum(axis=1)
    return mended


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
