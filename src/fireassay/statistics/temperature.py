"""Temperature scaling: the best temperature, whether it helps other rows, how large it may be."""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import ConvergenceWarning, DataError
from fireassay.core.seeds import generator
from fireassay.core.validation import check_class_indices, check_finite
from fireassay.statistics.samples import FloatVector, as_real

_FURTHEST = 100.0
_STEPS, _PRECISION = 200, 1e-12
_LAST_STEP = 1e-7  # Newton doubles the digits: the step after it would be one of 1e-14
_FEW_ROWS, _FEWEST_ROWS, _FEW_NUMBERS, _AT_ONCE = 2_000, 200, 2**18, 2**16


def fit_temperature(logits: ArrayLike, labels: ArrayLike) -> float:
    """The temperature T for which ``softmax(logits / T)`` has the best likelihood.

    Fit it on rows that neither trained the model nor will be used to judge it.

    Args:
        logits: Shape (n, k), finite. Logarithms of probabilities serve as well.
        labels: True class as a column number, 0 … k - 1.

    Returns:
        Above 0; above 1 means that the model is over-confident.

    Raises:
        DataError: For no rows, one column, NaN or infinities, or labels that are not columns.

    Warns:
        ConvergenceWarning: When the likelihood has no optimum: every row is classified correctly (T
            would go to 0), or the logits do not point to the labels at all (T would go to
            infinity), or they are constant (T = 1). T is within a factor of 100 of their spread.

    The negative log-likelihood is convex in 1 / T. Its slope is brought to zero by Newton's steps
    within ever closer bounds, after the logits were divided by their mean spread, so that logits
    of any size are solved equally well. Of many rows, some give the first guess.

    >>> round(fit_temperature([[2.0, 0.0]] * 10, [0] * 7 + [1] * 3), 4)
    2.3604
    """
    table, truth = _check(logits, labels)
    largest = max(float(table.max()), -float(table.min())) or 1.0
    scaled, spread = np.empty_like(table), 0.0
    for some in _blocks(table):
        block = np.divide(table[some], largest, out=scaled[some])
        spread += float(block.std(axis=1).sum()) / len(table)
        block -= block.max(axis=1, keepdims=True)
    if spread <= 1e-14:
        _warn("every row has the same logit for all classes", 1.0)
        return 1.0
    scaled /= spread
    spread *= largest
    own = scaled[np.arange(len(truth)), truth]

    start = 1.0
    rows = min(_FEW_ROWS, max(_FEWEST_ROWS, _FEW_NUMBERS // table.shape[1]))
    if len(scaled) > rows:  # the whole then needs a step or two
        few = np.linspace(0, len(scaled) - 1, rows).astype(np.int64)
        start = _root(scaled[few], own[few], start)[0]
    inverse, bracketed = _root(scaled, own, start)
    if not bracketed and _slope(scaled, own, _FURTHEST)[0] <= 0.0:
        temperature = spread / _FURTHEST
        _warn("no row speaks against a temperature near 0 (all are classified right)", temperature)
        return temperature
    if not bracketed and _slope(scaled, own, 1.0 / _FURTHEST)[0] >= 0.0:
        temperature = spread * _FURTHEST
        _warn("the logits do not point to the labels", temperature)
        return temperature
    return spread / inverse


def _root(scaled: FloatVector, own: FloatVector, start: float) -> tuple[float, bool]:
    """The 1 / T at which the slope is zero, by Newton's steps; whether it changes its sign."""
    low, high = 1.0 / _FURTHEST, _FURTHEST
    above = below = False
    inverse = start
    for _ in range(_STEPS):
        slope, steeper = _slope(scaled, own, inverse)
        if slope > 0.0:
            high, above = inverse, True
        elif slope < 0.0:
            low, below = inverse, True
        else:
            return inverse, True
        new = inverse - slope / steeper if steeper > 0.0 else math.nan
        if not low < new < high:
            new = math.sqrt(low * high)
        elif abs(new - inverse) <= _LAST_STEP * inverse:
            return new, True
        if high <= low * (1.0 + _PRECISION):
            return new, above and below
        inverse = new
    return inverse, above and below


def _slope(scaled: FloatVector, own: FloatVector, inverse: float) -> tuple[float, float]:
    """Slope and second derivative of the mean negative log-likelihood in 1 / T."""
    total = curved = 0.0
    for some in _blocks(scaled):
        block = scaled[some]
        weights = np.exp(block * inverse)
        sums = weights.sum(axis=1)
        weights *= block
        mean = weights.sum(axis=1) / sums
        curved += float((np.einsum("ij,ij->i", weights, block) / sums - mean**2).sum())
        total += float((mean - own[some]).sum())
    return total / len(scaled), curved / len(scaled)


def _blocks(table: FloatVector) -> Iterator[slice]:
    """Some rows at a time, so that what is computed of them stays in the cache."""
    rows = max(1, _AT_ONCE // table.shape[1])
    return (slice(at, at + rows) for at in range(0, len(table), rows))


def _check(logits: ArrayLike, labels: ArrayLike) -> tuple[FloatVector, IntArray]:
    known = isinstance(logits, np.ndarray) and logits.dtype == np.float64
    table: FloatVector = np.asarray(logits) if known else as_real(logits, "logits")
    if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] < 2:
        raise DataError(
            "logits must have at least one row and two columns, one per class.",
            got=f"shape {table.shape}",
        )
    check_finite(table, name="logits")
    return table, check_class_indices(labels, range(table.shape[1]), name="labels", n=len(table))


def _warn(reason: str, temperature: float) -> None:
    warnings.warn(
        f"The likelihood has no optimal temperature: {reason}. T = {temperature:.3g} is the limit "
        "of the search, not an estimate; use more validation rows.",
        ConvergenceWarning,
        stacklevel=3,
    )


_DROP = 1.92  # half the .95 quantile of chi-squared with one degree of freedom
_COLDEST, _WARMEST, _SECTIONS, _FOLDS = 1e-3, 1e3, 36, 5
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
    return np.asarray(np.log(table / table.sum(axis=1, keepdims=True)))


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
    for _ in range(_SECTIONS):  # golden section
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
    for _ in range(_SECTIONS // 2):
        middle = (inside + outside) / 2.0
        if likelihood(math.exp(middle)) >= floor:
            inside = middle
        else:
            outside = middle
    return math.exp(best), math.exp(outside)
