"""The temperature of calibration rows: whether it helps, and how large it may be."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.seeds import generator
from fireassay.core.validation import check_class_indices
from fireassay.statistics.samples import as_real

_DROP = 1.92  # half the .95 quantile of chi-squared with one degree of freedom
_COLDEST, _WARMEST, _STEPS, _FOLDS = 1e-3, 1e3, 36, 5
_MOST_NUMBERS, _NOTHING = 2**20, 1e-12


@dataclass(frozen=True, slots=True)
class Temperature:
    """A temperature of calibration rows, and the held-out log losses without and with it."""

    value: float
    fitted: float
    largest: float
    loss_raw: float
    loss_mended: float

    @property
    def used(self) -> bool:
        """Whether the calibration helps rows that did not fit it; without errors none is known."""
        known = 2 * _COLDEST < self.fitted < _WARMEST / 2
        return known and self.loss_mended < self.loss_raw


def floored_logits(probabilities: ArrayLike, calibration_rows: int) -> FloatArray:
    """Logarithms of probabilities; exact zeros are 1 / (2 (n + 1)) of the n calibration rows."""
    table = as_real(probabilities, "probabilities")
    if table.ndim != 2 or table.min(initial=0.0) < 0.0 or table.shape[1] < 2:
        raise DataError("probabilities must have shape (n, k), none below 0.")
    table = np.where(table < _NOTHING, 0.5 / (calibration_rows + 1), table)
    logits: FloatArray = np.log(table / table.sum(axis=1, keepdims=True))
    return logits


def temperature(probabilities: ArrayLike, labels: ArrayLike, seed: int = 0) -> Temperature:
    """The temperature of calibration rows, and the largest whose log likelihood is within 1.92."""
    table, truth = as_real(probabilities, "probabilities"), np.asarray(labels)
    if table.size > _MOST_NUMBERS:  # rows from all over the file
        some = np.linspace(0, len(table) - 1, _MOST_NUMBERS // table.shape[1]).astype(np.int64)
        table, truth = table[some], truth[some]
    logits = floored_logits(table, len(truth))
    truth = check_class_indices(truth, range(logits.shape[1]), n=len(logits))
    fitted, largest = _range(logits, truth)
    # The floor makes a boaster look less sure: what it says without one may need a larger T.
    largest = max(largest, _range(np.log(np.maximum(table, 1e-12)), truth)[1])
    part = generator(seed, "temperature").permutation(len(truth)) % _FOLDS
    raw = mended = 0.0
    for one in range(min(_FOLDS, len(truth))):
        held = part == one
        if held.all():
            continue
        other = _range(logits[~held], truth[~held])[0]
        raw -= log_likelihood(logits[held], truth[held], 1.0)
        mended -= log_likelihood(logits[held], truth[held], other)
    n = len(truth)
    found = Temperature(1.0, fitted, max(1.0, fitted, largest), raw / n, mended / n)
    return replace(found, value=fitted) if found.used else found


def log_likelihood(logits: FloatArray, truth: IntArray, at: float) -> float:
    """Of the labels, if the logits are divided by this temperature."""
    return _likelihood(logits, truth)(at)


def _likelihood(logits: FloatArray, truth: IntArray) -> Callable[[float], float]:
    """By temperature; classes lie in rows, so that hundreds of sums over them are quick."""
    gaps = np.ascontiguousarray((logits - logits.max(axis=1, keepdims=True)).T)
    own = float(gaps[truth, np.arange(len(truth))].sum())
    room = np.empty_like(gaps)

    def at_temperature(at: float) -> float:
        np.exp(np.divide(gaps, at, out=room), out=room)
        return own / at - float(np.log(room.sum(axis=0)).sum())

    return at_temperature


def _range(logits: FloatArray, truth: IntArray) -> tuple[float, float]:
    """The most likely temperature and the largest of those within 1.92; concave in 1 / T."""
    likelihood = _likelihood(logits, truth)
    low, high = math.log(_COLDEST), math.log(_WARMEST)
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    near, far = high - ratio * (high - low), low + ratio * (high - low)
    values = [likelihood(math.exp(at)) for at in (near, far)]
    for _ in range(_STEPS):  # golden section
        if values[0] >= values[1]:
            high, far, values[1] = far, near, values[0]
            near = high - ratio * (high - low)
            values[0] = likelihood(math.exp(near))
        else:
            low, near, values[0] = near, far, values[1]
            far = low + ratio * (high - low)
            values[1] = likelihood(math.exp(far))
    best = (low + high) / 2.0
    floor = likelihood(math.exp(best)) - _DROP
    inside, outside = best, math.log(_WARMEST)
    if likelihood(_WARMEST) >= floor:
        return math.exp(best), _WARMEST
    for _ in range(_STEPS // 2):
        middle = (inside + outside) / 2.0
        if likelihood(math.exp(middle)) >= floor:
            inside = middle
        else:
            outside = middle
    return math.exp(best), math.exp(outside)
