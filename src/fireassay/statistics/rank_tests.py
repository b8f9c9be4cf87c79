"""Average ranks, Spearman's correlation and the permutation test."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import special
from fireassay.core.seeds import generator
from fireassay.core.validation import check_choice, check_integer, check_labels, check_lengths
from fireassay.statistics.samples import FloatVector, check_sample


def average_ranks(values: FloatVector) -> FloatVector:
    """Ranks 1 … n; equal values share the mean of the ranks they take.

    Args:
        values: One per row.

    >>> average_ranks(np.array([10.0, 30.0, 10.0])).tolist()
    [1.5, 3.0, 1.5]
    """
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2.0)[inverse.ravel()])


_ALTERNATIVES = ("two-sided", "greater", "less")


def permutation_test(
    statistic: Callable[[Any, Any], float],
    x: ArrayLike,
    y: ArrayLike,
    n_permutations: int = 2000,
    alternative: str = "two-sided",
    groups: ArrayLike | None = None,
    seed: int = 0,
) -> float:
    """P-value of "x and y are not related", by shuffling y against x.

    Two samples are compared with x the pooled values and y the membership (0 or 1).

    Args:
        statistic: ``statistic(x, y)`` as a float.
        x, y: Arrays of one length; rows of x stay, rows of y are shuffled.
        n_permutations: At least 1; the smallest p-value is ``1 / (n + 1)``, two-sided twice that.
        alternative: "greater", "less", or "two-sided" (twice the smaller of the two).
        groups: One value per row. Whole groups are then exchanged: where y is constant in every
            group its value moves from group to group, otherwise the block of y moves between groups
            of equal size.
        seed: Same seed, same p-value.

    Returns:
        ``(b + 1) / (B + 1)``: a p-value that is valid for any number of permutations.

    Raises:
        DataError: For different lengths, too few rows or groups, or a statistic that is not finite.

    >>> x = np.arange(20.0)
    >>> permutation_test(lambda a, b: a @ b, x, x, n_permutations=999)
    0.002
    """
    check_choice(alternative, "alternative", _ALTERNATIVES)
    check_integer(n_permutations, "n_permutations", low=1)
    first, second = np.asarray(x), np.asarray(y)
    if first.ndim == 0 or second.ndim == 0:
        raise DataError("x and y must be arrays of rows.", got="a single number")
    check_lengths(x=len(first), y=len(second))
    if len(first) < 2:
        raise DataError("A permutation test needs at least two rows.", got=f"{len(first)}")
    for name, array in (("x", first), ("y", second)):
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise DataError(f"{name} must not have missing values.", got="NaN")
    shuffle = _row_shuffler(len(second)) if groups is None else _group_shuffler(second, groups)
    rng = generator(seed, "permutation")
    observed = _finite(statistic(first, second))
    null = np.array(
        [_finite(statistic(first, second[shuffle(rng)])) for _ in range(n_permutations)]
    )
    # Sums taken in another order differ in the last digits: these are ties.
    slack = 1e-12 * max(1.0, abs(observed), float(np.abs(null).max()))
    greater = (1 + int((null >= observed - slack).sum())) / (n_permutations + 1)
    less = (1 + int((null <= observed + slack).sum())) / (n_permutations + 1)
    if alternative == "two-sided":
        return min(1.0, 2.0 * min(greater, less))
    return greater if alternative == "greater" else less


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise DataError("The statistic must be finite for every permutation.", got=f"{value}")
    return float(value)


def _row_shuffler(n: int) -> Callable[[np.random.Generator], IntArray]:
    return lambda rng: rng.permutation(n)


def _group_shuffler(
    y: NDArray[Any], groups: ArrayLike
) -> Callable[[np.random.Generator], IntArray]:
    """Row numbers of y after whole groups changed places."""
    labels = check_labels(groups, name="groups")
    check_lengths(y=len(y), groups=len(labels))
    _, member, counts = np.unique(labels, return_inverse=True, return_counts=True)
    member = member.ravel()
    if len(counts) < 2:
        raise DataError("A permutation of groups needs at least two groups.", got="1")
    members = np.split(np.argsort(member, kind="stable"), np.cumsum(counts)[:-1])
    first_row = np.array([rows[0] for rows in members])
    if (y == y[first_row[member]]).all():
        return lambda rng: first_row[rng.permutation(len(first_row))][member]
    sizes = [np.flatnonzero(counts == size) for size in np.unique(counts)]
    if all(len(same) < 2 for same in sizes):
        raise DataError(
            "Groups can only be exchanged when y is constant in each or some have equal size.",
            got=f"{len(counts)} groups of different sizes with y varying inside",
            do="Aggregate y per group, or cut the groups to one size.",
        )

    def shuffled(rng: np.random.Generator) -> IntArray:
        rows = np.empty(len(y), dtype=np.int64)
        for same in sizes:
            for place, source in zip(same, rng.permutation(same), strict=True):
                rows[members[place]] = members[source]
        return rows

    return shuffled


def spearman(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Rank correlation and its two-sided p-value.

    Args:
        x, y: Finite values of one length, at least 3. Equal values share their average rank.

    Returns:
        (rho, p): A constant x or y carries no order: (0, 1), never NaN.

    Raises:
        DataError: For fewer than 3 rows, different lengths, NaN or infinities.

    Pearson's correlation of the ranks; ``t = rho sqrt(f / (1 - rho²))``, f = N - 2.

    >>> rho, p = spearman([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    >>> round(rho, 3), round(p, 4)
    (0.8, 0.1041)
    """
    first, second = check_sample(x, "x", min_rows=3), check_sample(y, "y", min_rows=3)
    check_lengths(x=len(first), y=len(second))
    a, b = average_ranks(first), average_ranks(second)
    a, b = a - a.mean(), b - b.mean()
    scale = math.sqrt(float(a @ a) * float(b @ b))
    if scale == 0:
        return 0.0, 1.0
    rho = float(np.clip(a @ b / scale, -1.0, 1.0))
    freedom = len(a) - 2
    # 1 - rho² as a product keeps its digits when rho is close to 1.
    rest = (1.0 - rho) * (1.0 + rho)
    if rest <= 1e-15:
        return math.copysign(1.0, rho), 0.0
    t = rho * math.sqrt(freedom / rest)
    return rho, float(2.0 * special.stdtr(freedom, -abs(t)))
