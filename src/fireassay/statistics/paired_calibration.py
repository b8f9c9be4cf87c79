"""Two models' calibration errors on the same rows: the interval of their difference."""

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray
from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.lazy_modules import special
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer, check_labels, check_lengths
from fireassay.statistics.calibration import bin_of, binned
from fireassay.statistics.samples import check_confidence, check_sample

_DRAWS, _CLEAR, _AT_ONCE = 2000, 3.0, 100_000


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

    Parameters
    ----------
    first, second
        For each model how sure it was of its answer, and whether that was right, row by row.
    confidence
        In (0, 1).
    n_bins
        Bins of equal width on (0, 1], at least 1.
    groups
        For each row the patient, device or document it belongs to: then groups are counted.
    seed
        Same seed, same interval.

    Notes
    -----
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
    clear = np.abs(gap) > _CLEAR * np.sqrt(np.diag(covariance))
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
    centred: FloatArray = (total - np.outer(sums, sums) / many) * many / max(1, many - 1)
    return centred
