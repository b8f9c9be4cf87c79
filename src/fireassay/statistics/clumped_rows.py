"""Rows that come in clumps: several of one patient, alike but not equal, that nobody named."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.row_index import row_marks
from fireassay.core.seeds import generator
from fireassay.core.validation import check_features
from fireassay.statistics.nearest_distances import nearest_distances
from fireassay.statistics.projected_rows import MOST_COLUMNS, centred_columns, standardised

_LEAST_ROWS, _LOOKED_AT, _NEIGHBOURS = 60, 300, 31
_USUAL, _FOR_FEW_ROWS = 5.0, 10.0
_ABOVE_REFERENCE = 1.3
_MOST_NUMBERS, _MOST_EXACT_COLUMNS = 2**25, 2**14


@dataclass(frozen=True, slots=True)
class ClumpedRows:
    """How suddenly the neighbours of a row end, and how suddenly they do by chance.

    Attributes
    ----------
    jump
        The largest step from one neighbour's distance to the next, in the median row, in units of
        the usual step; about 3.7 for independent rows of any number of columns.
    limit
        Above this rows come in clumps.
    looked_at
        Rows whose neighbours were looked at; 0: too few rows, or values that repeat too often.

    >>> ClumpedRows(12.0, 5.4, 300).many, ClumpedRows(3.9, 5.4, 300).many
    (True, False)
    """

    jump: float
    limit: float
    looked_at: int

    @property
    def many(self) -> bool:
        """Whether rows come in clumps."""
        return self.looked_at > 0 and self.jump > self.limit


def clumped_rows(X: ArrayLike, seed: int = 0) -> ClumpedRows:
    """Whether rows come in clumps: small groups of rows nearer to each other than to all others.

    Parameters
    ----------
    X
        Rows, at least 60.
    seed
        Of the rows that are looked at, and of the reference.

    Notes
    -----
    Around a row of an independent sample the distances d_k of its neighbours grow so that
    ``k log(d_(k+1) / d_k)`` has the same exponential distribution for each k, whatever the number
    of columns. Where a patient's rows end there is a jump. The largest jump among 30 neighbours, in
    units of the usual step, is compared with what independent rows show. Values that repeat make
    jumps, too: it must be a third above those of the same columns, each shuffled by itself, and
    where these alone pass for clumps, nothing is said. Equal rows count once. Classes of fewer
    than thirty rows that lie far apart are clumps as well. Of independent rows (normal,
    exponential, heavy-tailed, correlated, rounded; 100 to 10,000 rows) none of 9,600 sets was
    called clumped.

    >>> rng = np.random.default_rng(0)
    >>> patients = np.repeat(rng.normal(size=(60, 8)), 5, axis=0)
    >>> clumped_rows(patients + 0.1 * rng.normal(size=(300, 8))).many
    True
    >>> clumped_rows(rng.normal(size=(300, 8))).many
    False
    """
    rows = check_features(X)
    flat = _varying_columns(rows) if looks_at_all_columns(rows) else standardised(rows, seed)
    return clumps_among(flat, seed)


def clumps_among(flat: FloatArray, seed: int = 0) -> ClumpedRows:
    """The `clumped_rows` of rows whose standardised columns, or mixtures, are these.

    >>> clumps_among(np.random.default_rng(0).normal(size=(300, 8))).many
    False
    """
    first = np.unique(row_marks(flat), return_index=True)[1]
    flat = flat if len(first) == len(flat) else flat[np.sort(first)]
    if len(flat) < _LEAST_ROWS or not flat.size:
        return ClumpedRows(math.nan, math.nan, 0)
    rng = generator(seed, "clumped rows")
    chosen = np.sort(rng.permutation(len(flat))[:_LOOKED_AT])
    jump = _jump(flat, chosen)
    limit = _USUAL + _FOR_FEW_ROWS / math.sqrt(len(flat))
    # Values that repeat make jumps, too: they are in the shuffled columns as well.
    shuffled = flat.copy(order="F")  # column by column in memory, as they are shuffled
    reference = _jump(rng.permuted(shuffled, axis=0, out=shuffled), chosen)
    if math.isnan(jump) or not reference <= limit:
        return ClumpedRows(math.nan, math.nan, 0)
    return ClumpedRows(jump, max(limit, _ABOVE_REFERENCE * reference), len(chosen))


def looks_at_all_columns(rows: AnyArray) -> bool:
    """Whether columns that are too many for other checks are looked at one by one here."""
    columns = math.prod(rows.shape[1:])
    return MOST_COLUMNS < columns <= _MOST_EXACT_COLUMNS and rows.size <= _MOST_NUMBERS


def _varying_columns(rows: AnyArray) -> FloatArray:
    """Columns of unit spread, without those that are constant."""
    flat, spread = centred_columns(rows.reshape(len(rows), -1))
    flat = flat if (spread > 0).all() else flat[:, spread > 0]
    flat /= spread[spread > 0]
    return flat


def _jump(rows: FloatArray, chosen: IntArray) -> float:
    """The largest step in the median row, in units of the usual one; nan where rows coincide."""
    count = min(_NEIGHBOURS, len(rows) // 4)
    near = nearest_distances(rows, chosen, count)
    near = near[near[:, 0] > 0]
    if len(near) < _LEAST_ROWS // 2:
        return math.nan
    steps = np.arange(1, count) * np.log(near[:, 1:] / near[:, :-1])
    usual = float(np.median(np.median(steps, axis=0))) / math.log(2.0)
    return float(np.median(steps.max(axis=1))) / usual if usual > 0 else math.nan
