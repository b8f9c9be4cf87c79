"""Calibration error with its interval, of one model and as a difference of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.core.errors import DataError, NotEnoughEvidenceError
from fireassay.core.estimate import Estimate
from fireassay.core.lazy import pd, special
from fireassay.core.seeds import generator
from fireassay.core.validation import (
    check_class_indices,
    check_integer,
    check_labels,
    check_lengths,
    check_probabilities,
)
from fireassay.statistics.bootstrap import expanded_tail
from fireassay.statistics.counts import clopper_pearson
from fireassay.statistics.groups.group_bound import group_mean
from fireassay.statistics.samples import FloatVector, check_confidence, check_sample

_MANY_GROUPS = 5_000
_RESAMPLES = 2000
_CLEAR = 3.0


@dataclass(frozen=True, slots=True)
class ReliabilityCurve:
    """Accuracy against stated confidence, in the bins that hold rows.

    Attributes:
        mean_confidence, accuracy, counts: Of each bin: what was stated, what came, its rows.
        low, high: Interval of the accuracy.
    """

    mean_confidence: FloatVector
    accuracy: FloatVector
    low: FloatVector
    high: FloatVector
    counts: IntArray

    def frame(self) -> pd.DataFrame:
        """One row per bin."""
        return pd.DataFrame(
            {
                "mean_confidence": self.mean_confidence,
                "accuracy": self.accuracy,
                "low": self.low,
                "high": self.high,
                "count": self.counts,
            }
        )


def reliability_curve(
    probabilities: ArrayLike,
    labels: ArrayLike,
    n_bins: int = 15,
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
) -> ReliabilityCurve:
    """Accuracy per bin of the top class's probability, with Clopper–Pearson intervals.

    Args:
        probabilities: Shape (n, k), rows summing to 1.
        labels: True class as a column number, 0 … k - 1.
        n_bins: Bins of equal width on (0, 1], at least 1.
        confidence: Of each bin's interval, in (0, 1).
        groups: For each row the patient, device or document it belongs to (see `group_mean`).

    >>> curve = reliability_curve([[0.9, 0.1], [0.2, 0.8]], [0, 0], n_bins=5)
    >>> curve.accuracy.tolist(), curve.counts.tolist()
    ([0.0, 1.0], [1, 1])
    """
    return stated_curve(*_top_class(probabilities, labels), n_bins, confidence, groups)


def stated_curve(
    stated: FloatVector,
    correct: BoolArray,
    n_bins: int = 15,
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
) -> ReliabilityCurve:
    """As `reliability_curve`, from the top class's probability and whether it is right."""
    check_confidence(confidence)
    counts, hits, mean = binned(stated, correct, check_integer(n_bins, "n_bins", low=1))
    if groups is None:
        low, high = clopper_pearson(hits, counts, confidence)
    else:
        member, place = check_labels(groups, name="groups", n=len(stated)), bin_of(stated, n_bins)
        bins = [place == b for b in np.unique(place)]
        shares = [group_mean(correct[b], member[b], confidence) for b in bins]
        low, high = np.array([s.low for s in shares]), np.array([s.high for s in shares])
    return ReliabilityCurve(mean, hits / counts, low, high, counts)


def expected_calibration_error(
    probabilities: ArrayLike,
    labels: ArrayLike,
    n_bins: int = 15,
    confidence: float = 0.95,
    seed: int = 0,
    groups: ArrayLike | None = None,
) -> Estimate:
    """Expected calibration error of the top class, with an interval that knows its bias.

    The plain ECE of a perfectly calibrated model is above zero, the more so the fewer rows and the
    more bins; its bootstrap is biased twice. The lower end is zero unless gaps exceed chance.

    Args:
        probabilities, labels, n_bins: As for `reliability_curve`.
        confidence: In (0, 1).
        seed: Same seed, same interval.
        groups: For each row the patient, device or document it belongs to; noise is then of groups.

    The value is the usual plug-in ECE (Guo et al. 2017), the L1 norm of the bins' gaps g. With
    noise e in the measured gaps, ``|e|`` bounds how far it can be off either way. In bins whose gap
    is above three standard errors the true sign is known, and e counts with it instead of with its
    size. The quantiles of both sums come from a parametric bootstrap: bin sizes multinomial, hits
    binomial with accuracy (hits + 1) / (n + 2), so that a bin without errors still has noise. The
    interval is for the binned ECE of the population; finer structure inside a bin is not seen.

    >>> p = np.column_stack([np.full(1000, 0.8), np.full(1000, 0.2)])
    >>> print(expected_calibration_error(p, [0] * 700 + [1] * 300))
    0.100 [0.072, 0.128] n=1000
    """
    top = _top_class(probabilities, labels)
    return stated_calibration_error(*top, n_bins, confidence, seed, groups)


def stated_calibration_error(
    stated: FloatVector,
    correct: BoolArray,
    n_bins: int = 15,
    confidence: float = 0.95,
    seed: int = 0,
    groups: ArrayLike | None = None,
) -> Estimate:
    """As `expected_calibration_error`, from the top class's probability and whether it is right."""
    check_confidence(confidence)
    counts, hits, mean = binned(stated, correct, check_integer(n_bins, "n_bins", low=1))
    n = len(stated)
    value = float(np.abs(hits - counts * mean).sum() / n)
    rng = generator(seed, "expected calibration error")
    accuracy = (hits + 1.0) / (counts + 2.0)
    sizes = rng.multinomial(n, counts / n, size=_RESAMPLES)
    gaps = (rng.binomial(sizes, accuracy) - sizes * mean) / n
    noise = gaps - counts * (accuracy - mean) / n
    tail, method = (1.0 - confidence) / 2.0, f"bias-aware bootstrap, {n_bins} equal bins"
    if groups is not None:
        member = check_labels(groups, name="groups", n=n)
        of_groups, units = _noise_of_groups(correct - stated, bin_of(stated, n_bins), member, rng)
        missing = 1.0 - of_groups.var(axis=0) / np.maximum(noise.var(axis=0), 1e-300)
        noise = of_groups + noise * np.sqrt(np.maximum(0.0, missing))
        tail, method = expanded_tail(tail, units), f"{method}, {units} groups"
    level = 1.0 - tail
    clear = np.abs(hits - counts * mean) / n > _CLEAR * noise.std(axis=0)
    signed = noise * np.sign(hits - counts * mean)

    def most(direction: float) -> float:
        off = np.where(clear, direction * signed, np.abs(noise)).sum(axis=1)
        return max(0.0, float(np.quantile(off, level, method="weibull")))

    low, high = max(0.0, value - most(1.0)), min(1.0, value + most(-1.0))
    return Estimate(value, low, high, confidence, n, method)


def _noise_of_groups(
    gap: FloatVector, place: IntArray, groups: NDArray[Any], rng: np.random.Generator
) -> tuple[NDArray[np.float64], int]:
    """How far each bin's share of the gap moves when whole groups are drawn anew."""
    _, member = np.unique(groups, return_inverse=True)
    bins, column = np.unique(place, return_inverse=True)
    units = int(member.max()) + 1
    if units < 2:
        raise NotEnoughEvidenceError("An interval needs at least two groups.", got="one group")
    table = np.zeros((units, len(bins)))
    np.add.at(table, (member.ravel(), column.ravel()), gap)
    if units > _MANY_GROUPS:  # their sums are normal
        sizes, n = np.bincount(member.ravel()), len(gap)
        moved = (table - np.outer(sizes, table.sum(axis=0) / n)) / n
        values, vectors = np.linalg.eigh(moved.T @ moved)
        spread = vectors * np.sqrt(np.maximum(0.0, values))
        return rng.standard_normal((_RESAMPLES, len(bins))) @ spread.T, units
    drawn = rng.multinomial(units, np.full(units, 1.0 / units), size=_RESAMPLES)
    rows = drawn @ np.bincount(member.ravel())
    return drawn @ table / rows[:, None] - table.sum(axis=0) / len(gap), units


def _top_class(probabilities: ArrayLike, labels: ArrayLike) -> tuple[FloatVector, BoolArray]:
    table = check_probabilities(probabilities)
    if len(table) == 0:
        raise DataError("probabilities must have at least one row.", got="0 rows")
    truth = check_class_indices(labels, range(table.shape[1]), name="labels", n=len(table))
    return table.max(axis=1), table.argmax(axis=1) == truth


def bin_of(stated: FloatVector, n_bins: int) -> IntArray:
    """The bin of each row, left open, right closed."""
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    return np.clip(np.searchsorted(edges, stated, side="left") - 1, 0, n_bins - 1)


def binned(
    stated: FloatVector, correct: BoolArray, n_bins: int
) -> tuple[IntArray, FloatVector, FloatVector]:
    """Rows, hits and mean confidence of each bin that holds rows."""
    place = bin_of(stated, n_bins)
    counts = np.bincount(place, minlength=n_bins).astype(np.int64)
    hits: FloatVector = np.bincount(
        place, weights=correct.astype(np.float64), minlength=n_bins
    ).astype(np.float64)
    total = np.bincount(place, weights=stated, minlength=n_bins)
    some = counts > 0
    return counts[some], hits[some], total[some] / counts[some]


_DRAWS, _CLEAR_CHANGE, _AT_ONCE = 2000, 3.0, 100_000


def paired_calibration_difference(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    confidence: float = 0.95,
    *,
    n_bins: int = 15,
    groups: ArrayLike | None = None,
    seed: int = 0,
) -> Estimate:
    """Expected calibration error of ``second`` minus that of ``first``, on the same rows.

    Args:
        first, second: For each model, row by row, its confidence and whether it was right.
        confidence: In (0, 1).
        n_bins: Bins of equal width on (0, 1], at least 1.
        groups: For each row the patient, device or document it belongs to: then groups are counted.
        seed: Same seed, same interval.

    As in `expected_calibration_error` the noise of a bin counts with its sign where the gap is
    clear and with its size where it is not. The noise of both models is drawn together, with the
    covariance that their rows (or groups) show, so that what they share cancels in clear bins.
    Approximate; where neither gap is clear it is wider than need be. With groups the noise is
    stretched to Student's t over the groups; one group alone says nothing.

    >>> sure, right = np.full(400, 0.9), np.arange(400) < 360
    >>> better = paired_calibration_difference((np.full(400, 0.99), right), (sure, right))
    >>> round(better.value, 2), better.high < 0
    (-0.09, True)
    """
    check_confidence(confidence)
    stated = [check_sample(side[0], "confidence") for side in (first, second)]
    right = [np.asarray(side[1]).astype(bool) for side in (first, second)]
    n = len(stated[0])
    check_lengths(first=n, right=len(right[0]), second=len(stated[1]), also_right=len(right[1]))
    if min(s.min() for s in stated) < 0 or max(s.max() for s in stated) > 1:
        raise DataError("Confidences are probabilities.", got="numbers outside [0, 1]")
    check_integer(n_bins, "n_bins", low=1)
    method = f"paired bias-aware noise, {n_bins} equal bins"
    if np.array_equal(stated[0], stated[1]) and np.array_equal(right[0], right[1]):
        return Estimate(0.0, 0.0, 0.0, confidence, n, "the same confidences and answers")
    units = np.arange(n)
    if groups is not None:
        units = np.unique(check_labels(groups, name="groups", n=n), return_inverse=True)[1].ravel()
        many = int(units.max()) + 1
        method += f", {many} groups"
    gaps, floors, values = [], [], []
    for sure, hit in zip(stated, right, strict=True):
        counts, hits, mean = binned(sure, hit, n_bins)
        smooth = (hits + 1.0) / (counts + 2.0)
        gaps.append((hits - counts * mean) / n)
        floors.append(counts * smooth * (1.0 - smooth) / n**2)
        values.append(float(np.abs(gaps[-1]).sum()))
    covariance = _covariance(stated, right, units, n_bins)
    floor = np.concatenate(floors)
    grow = np.sqrt(np.maximum(1.0, floor / np.maximum(np.diag(covariance), 1e-300)))
    grow = np.where(np.diag(covariance) > 0, grow, 1.0)
    covariance = covariance * np.outer(grow, grow) + np.diag(
        np.where(np.diag(covariance) > 0, 0.0, floor)
    )
    # Models that err on the same rows have a singular covariance: eigenvalues, not Cholesky.
    eigen, axes = np.linalg.eigh(covariance)
    root = axes * np.sqrt(np.clip(eigen, 0.0, None))
    noise = generator(seed, "paired calibration").standard_normal((_DRAWS, len(floor))) @ root.T
    gap = np.concatenate(gaps)
    clear = np.abs(gap) > _CLEAR_CHANGE * np.sqrt(np.diag(covariance))
    side = np.repeat([-1.0, 1.0], [len(gaps[0]), len(gaps[1])])
    signed = np.where(clear, noise * np.sign(gap) * side, 0.0).sum(axis=1)
    unclear = np.where(clear, 0.0, np.abs(noise)).sum(axis=1)
    level = 1.0 - (1.0 - confidence) / 2.0
    stretch = 1.0
    if groups is not None:
        few = special.stdtrit(many - 1, level) if many > 1 else np.inf
        stretch = float(few / special.ndtri(level))
    value = values[1] - values[0]
    down, up = (
        stretch * max(0.0, float(np.quantile(sign * signed + unclear, level, method="weibull")))
        for sign in (1.0, -1.0)
    )
    return Estimate(value, max(-1.0, value - down), min(1.0, value + up), confidence, n, method)


def _covariance(
    stated: list[FloatArray], right: list[BoolArray], units: AnyArray, n_bins: int
) -> FloatArray:
    """Of the gaps of both models' bins: what units (rows or groups) contribute, summed up."""
    n, many = len(units), int(units.max()) + 1
    places, width = [], 0
    for sure in stated:
        used, place = np.unique(bin_of(sure, n_bins), return_inverse=True)
        places.append(place.ravel() + width)
        width += len(used)
    total, sums = np.zeros((width, width)), np.zeros(width)
    order = np.argsort(units, kind="stable")
    starts = np.searchsorted(units[order], np.arange(0, many, max(1, _AT_ONCE // width)))
    for some in np.split(order, starts[1:]):
        own = np.unique(units[some], return_inverse=True)[1].ravel()
        table = np.zeros((int(own.max()) + 1, width))
        for sure, hit, place in zip(stated, right, places, strict=True):
            np.add.at(table, (own, place[some]), (hit[some] - sure[some]) / n)
        total += table.T @ table
        sums += table.sum(axis=0)
    return np.asarray((total - np.outer(sums, sums) / many) * many / max(1, many - 1))
