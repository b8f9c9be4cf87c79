"""Checks that rows are independent: within groups, along a series, and of errors along a file."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.core.seeds import generator
from fireassay.core.validation import check_labels
from fireassay.statistics.groups.group_counts import GroupCounts, intraclass_correlation
from fireassay.statistics.samples import check_sample

_PERMUTATIONS = 999


def intraclass_test(counts: GroupCounts, seed: int = 0) -> tuple[float, float]:
    """The correlation of two rows of one group, and the p-value of "there is none".

    Args:
        counts: Hits and rows of each group.
        seed: Of the permutations.

    Returns:
        (correlation, p): The p-value is that of a permutation test: hits are dealt to rows anew.

    >>> counts = GroupCounts(np.array([9, 0, 1, 0]), np.array([10, 10, 10, 10]))
    >>> correlation, p = intraclass_test(counts)
    >>> round(correlation, 2), p
    (0.79, 0.001)
    """
    hits, sizes = counts.hits, counts.sizes
    correlation = intraclass_correlation(counts)
    if (sizes == 1).all() or counts.share in (0.0, 1.0) or len(sizes) < 2:
        return correlation, 1.0
    rng = generator(seed, "intraclass")
    dealt = rng.multivariate_hypergeometric(sizes, int(hits.sum()), size=_PERMUTATIONS)
    as_spread = (dealt**2 / sizes).sum(axis=1) >= (hits**2 / sizes).sum() * (1 - 1e-12)
    return correlation, (int(as_spread.sum()) + 1) / (_PERMUTATIONS + 1)


_NONE = 1.5


def autocorrelation_time(values: ArrayLike) -> float:
    """How many rows of a series say as much as one independent row: 1 for independent rows.

    Args:
        values: One number per row, in the order of time, at least 3.

    ``1 + 2 Σ ρ_k`` up to the first lag within chance, ``2 / √n``. Below 1.5 it is taken as 1.

    >>> autocorrelation_time([0.3, 0.1, 0.9, 0.2, 0.5, 0.4])
    1.0
    """
    series = check_sample(values, "values", min_rows=3)
    n = len(series)
    centred = series - series.mean()
    spread = float(centred @ centred)
    if spread == 0:
        return 1.0
    spectrum = np.abs(np.fft.rfft(centred, 2 * n)) ** 2
    correlation = np.fft.irfft(spectrum)[: n // 2] / spread
    within_chance = np.flatnonzero(correlation < 2 / math.sqrt(n))
    stop = int(within_chance[0]) if len(within_chance) else len(correlation)
    time = 1.0 + 2.0 * float(correlation[1:stop].sum())
    return time if time >= _NONE else 1.0


_DEALS, _ENOUGH = 299, 10
_NEAR = 5  # rows
_ROWS_OF_LIKE_CONFIDENCE = 5  # 20 objected to 9 % of files sorted by a sharp confidence
_STRETCH = 50  # rows
_LEVEL, _SHUFFLED = 0.01, 0.8


@dataclass(frozen=True, slots=True)
class ErrorRuns:
    """Pairs of errors at most five rows apart, and how often dealt errors make as many."""

    pairs: int
    p_stretch: float
    p_label: float
    p_answer: float
    judged: bool = True

    @property
    def objects(self) -> bool:
        """Whether no order of the file by label, answer, confidence or a column explains them."""
        return max(self.p_stretch, self.p_label, self.p_answer) <= _LEVEL


def error_runs(
    labels: ArrayLike, answers: ArrayLike, confidence: ArrayLike | None = None, seed: int = 0
) -> ErrorRuns:
    """Whether errors stand together in the file, as those of one patient or one hour do."""
    # Files may be sorted by class, confidence or a column. So errors are dealt anew among five rows
    # of like confidence within labels and within answers, and among 50 rows in a row; all three
    # must object. Where labels change .8 times as often as shuffled ones, nothing is judged.
    truth, given = check_labels(labels, name="labels"), check_labels(answers, name="answers")
    wrong = np.asarray(truth != given)
    sure = None if confidence is None else check_sample(confidence, "confidence")
    found = _pairs(np.flatnonzero(wrong))
    shares = np.unique(truth, return_counts=True)[1] / len(truth)
    changes = int((truth[1:] != truth[:-1]).sum())
    if changes < _SHUFFLED * (len(truth) - 1) * (1.0 - float(shares @ shares)):
        return ErrorRuns(found, 1.0, 1.0, 1.0, judged=False)
    p_values = [1.0, 1.0, 1.0]
    stretch = np.arange(len(wrong)) // _STRETCH
    for at, stratum in enumerate((stretch, _strata(truth, sure), _strata(given, sure))):
        p_values[at] = _p_value(found, wrong, stratum, seed)
        if p_values[at] > _LEVEL:
            break
    return ErrorRuns(found, p_values[0], p_values[1], p_values[2])


def _strata(classes: AnyArray, sure: FloatArray | None) -> IntArray:
    """A number for the rows of each class, and of like confidence where it is known."""
    stratum = np.unique(classes, return_inverse=True)[1].ravel().astype(np.int64)
    if sure is None:
        return stratum
    order = np.lexsort((sure, stratum))
    # Equal confidences stay together: whoever has one is numbered by the first who has it.
    new = np.diff(stratum[order], prepend=-1) != 0
    first = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    changed = new | (np.diff(sure[order], prepend=np.nan) != 0)
    rank = np.maximum.accumulate(np.where(changed, np.arange(len(order)), 0)) - first
    number = np.empty(len(order), dtype=np.int64)
    number[order] = first + rank // _ROWS_OF_LIKE_CONFIDENCE
    return np.unique(number, return_inverse=True)[1].ravel().astype(np.int64)


def _pairs(places: IntArray) -> int:
    """Pairs of sorted places that are at most five apart."""
    after = np.searchsorted(places, places + _NEAR, side="right")
    return int((after - np.arange(len(places)) - 1).sum())


def _p_value(found: int, wrong: BoolArray, stratum: IntArray, seed: int) -> float:
    """How often errors that are dealt within strata make as many pairs."""
    if found == 0:
        return 1.0
    rng = generator(seed, "error runs")
    # Only rows of strata with both errors and right answers are dealt.
    sizes, errors = np.bincount(stratum), np.bincount(stratum, weights=wrong)
    mixed = (errors > 0) & (errors < sizes)
    rows = np.flatnonzero(mixed[stratum])
    rows = rows[np.argsort(stratum[rows], kind="stable")]
    own = stratum[rows]
    starts = np.concatenate([[0], np.cumsum(np.where(mixed, sizes, 0))])[:-1]
    is_error = np.arange(len(rows)) - starts[own] < errors[own]
    fixed = np.flatnonzero(wrong & ~mixed[stratum])
    as_many = deals = 0
    while deals < _DEALS and as_many < _ENOUGH:
        dealt = rows[np.argsort(own + rng.random(len(rows)))][is_error]
        as_many += _pairs(np.sort(np.concatenate([fixed, dealt]))) >= found
        deals += 1
    return (as_many + 1) / (deals + 1) if deals == _DEALS else as_many / deals
