"""Rows that stand together in a file and are alike: those of one patient, one after the other."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.core.seeds import generator
from fireassay.core.validation import check_features, check_labels

_LEAST_ROWS, _LEAST_PAIRS, _FAR_PAIRS = 100, 30, 5000
_BANDS = (10, 20, 50, 100)  # rows apart: from so many to twice as many
_MOST_APART = 5  # no band reaches further than a fifth of the rows
_NEARER, _LEVEL = 0.65, 0.85
_FARTHEST = 3.0  # standard deviations
_MANY_VALUES, _SORTED, _COUNTED = 20, 0.97, 0.9
_MOST_ROWS, _MOST_COLUMNS = 5000, 500


@dataclass(frozen=True, slots=True)
class NeighbouringRows:
    """How far one row is from the next, beside rows that stand further apart.

    Attributes
    ----------
    ratio
        Mean distance to the next row, over that to rows some tens of places further on.
    apart
        How many places further on at least; 0: nothing to compare (too few rows, a sorted file).

    >>> NeighbouringRows(0.4, 20).many, NeighbouringRows(0.98, 20).many
    (True, False)
    """

    ratio: float
    apart: int

    @property
    def many(self) -> bool:
        """Whether rows that stand together are alike."""
        return self.apart > 0 and self.ratio < _NEARER


def neighbouring_rows(X: ArrayLike, labels: ArrayLike | None = None) -> NeighbouringRows:
    """Whether rows that stand together in the file are alike, as rows of one patient are.

    Independent rows are as far from the next one as from any other. It needs no clumps that can
    be told apart, but the order in which the rows came: after a shuffle nothing is left to see.

    Parameters
    ----------
    X
        Rows in the order of the file, at least 100.
    labels
        Their classes: only rows of one class are compared, since many files are sorted by class.

    Notes
    -----
    Files that are sorted by a column have alike neighbours, too, but there distances go on growing
    with the places between two rows. Rows of patients stop being alike where the patient ends. So
    the next row must be nearer than 65 % of the distance to rows L to 2L places on (L = 10, 20, 50
    or 100), and those must be about as far away as any (85 %). Row numbers are left out; a file
    with another column that rises or falls nearly throughout is not judged. Of more than 5,000
    rows the first are looked at.

    >>> rng = np.random.default_rng(0)
    >>> patients = np.repeat(rng.normal(size=(40, 4)), 10, axis=0)
    >>> rows = patients + 0.5 * rng.normal(size=(400, 4))
    >>> neighbouring_rows(rows).many, neighbouring_rows(rng.permutation(rows)).many
    (True, False)
    """
    given = check_features(X)
    flat = given.reshape(len(given), -1)[:_MOST_ROWS, :_MOST_COLUMNS].astype(np.float64)
    n = len(flat)
    kinds = np.zeros(n, dtype=np.int64)
    if labels is not None:
        classes = check_labels(labels, name="labels", n=len(given))[:_MOST_ROWS]
        kinds = np.unique(classes, return_inverse=True)[1].ravel()
    spread = flat.std(axis=0)
    kept = (spread > 0) & ~_counts_rows(flat)
    rows = (flat - flat.mean(axis=0))[:, kept] / spread[kept]
    if n < _LEAST_ROWS or not rows.size or _is_sorted(rows, kinds):
        return NeighbouringRows(math.nan, 0)
    rows = np.clip(rows, -_FARTHEST, _FARTHEST)
    first, second = generator(0, "rows far apart").integers(0, n, (2, _FAR_PAIRS))
    far = _mean_distance(rows, kinds, first, second)
    next_row = _lagged(rows, kinds, 1, 2)
    best = NeighbouringRows(1.0, 0)
    for apart in _BANDS:
        if 2 * apart > n / _MOST_APART:
            break
        beyond = _lagged(rows, kinds, apart, 2 * apart)
        if math.isnan(next_row + beyond + far) or beyond <= 0:
            continue
        # A file whose rows drift apart slowly says nothing about groups.
        ratio = next_row / beyond if beyond > _LEVEL * far else 1.0
        if not best.apart or ratio < best.ratio:
            best = NeighbouringRows(ratio, apart)
    return best


def _lagged(rows: FloatArray, kinds: IntArray, low: int, high: int) -> float:
    """Mean distance of rows of one class that stand from ``low`` to ``high`` places apart."""
    places = np.arange(len(rows))
    lags = range(low, high, max(1, (high - low) // 10))
    first = np.concatenate([places[lag:] for lag in lags])
    second = np.concatenate([places[:-lag] for lag in lags])
    return _mean_distance(rows, kinds, first, second)


def _mean_distance(rows: FloatArray, kinds: IntArray, first: IntArray, second: IntArray) -> float:
    same: BoolArray = (kinds[first] == kinds[second]) & (first != second)
    if int(same.sum()) < _LEAST_PAIRS:
        return math.nan
    return float(np.sqrt(np.square(rows[first[same]] - rows[second[same]]).sum(axis=1)).mean())


def _counts_rows(rows: AnyArray) -> BoolArray:
    """Columns that go up or down by one from row to row: they say where a row stands, no more."""
    if len(rows) < 2:
        return np.zeros(rows.shape[1], dtype=bool)
    return np.asarray((np.abs(np.diff(rows, axis=0)) == 1).mean(axis=0) > _COUNTED)


def _is_sorted(rows: AnyArray, kinds: IntArray) -> bool:
    """Whether a column with many values rises, or falls, from row to row nearly throughout."""
    same = kinds[1:] == kinds[:-1]
    for column in rows.T:
        steps = np.diff(column)[same]
        moved = steps[steps != 0]
        if len(np.unique(column)) < _MANY_VALUES or 2 * len(moved) < len(steps) or not len(moved):
            continue
        if max((moved > 0).mean(), (moved < 0).mean()) >= _SORTED:
            return True
    return False
