"""Are its confidences true, and what would mend them?"""

import math
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core import Assumption, Claim, Estimate, Measure
from fireassay.core.arrays import FloatArray, IntArray, Probabilities
from fireassay.data.splits import random_half
from fireassay.statistics.calibration import stated_calibration_error
from fireassay.statistics.temperature import temperature as find_temperature

CALIBRATED = "calibrated"
TOLERANCE = 0.05
_FEWEST_ROWS = 100
_FIT_NUMBERS = 2**22  # of many classes fewer rows, which tell a temperature well
_NUMBERS_AT_ONCE = 2**18  # in the cache
_LOG_OF_NOTHING = math.log(sys.float_info.min)  # as in `log_probabilities`
MEASURES = (
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

    def assumption(self, why: str, *, mended: bool = False) -> Assumption:
        """That confidences are true, as far as a part needs it (``mended`` by a temperature)."""
        error = self.after if mended and self.after is not None else self.error
        status: Any = "untestable"
        if error.low > TOLERANCE:
            status = "contradicted"
        elif error.high <= TOLERANCE:
            status = "supported"
        how = f" after a temperature ({self.temperature:.2f})" if error is self.after else ""
        return Assumption(
            f"Confidences are true to within {100 * TOLERANCE:g} points: {why}",
            status,
            f"On labelled rows they are off by {between(error)}{how}.",
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
