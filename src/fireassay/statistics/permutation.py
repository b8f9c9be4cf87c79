"""The permutation test of an association."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import IntArray
from fireassay.core.errors import DataError
from fireassay.core.seeds import generator
from fireassay.core.validation import check_choice, check_integer, check_labels, check_lengths

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

    Parameters
    ----------
    statistic
        ``statistic(x, y)`` as a float.
    x, y
        Arrays of one length; rows of x stay, rows of y are shuffled.
    n_permutations
        At least 1; the smallest p-value is ``1 / (n_permutations + 1)``, twice that two-sided.
    alternative
        "greater", "less", or "two-sided" (twice the smaller of the two, so that the null
        distribution need not be centred at zero).
    groups
        One value per row. Whole groups are then exchanged: where y is constant in every group
        its value moves from group to group, otherwise the block of y moves between groups of
        equal size.
    seed
        Same seed, same p-value.

    Returns
    -------
    float
        ``(b + 1) / (B + 1)``: a p-value that is valid for any number of permutations.

    Raises
    ------
    DataError
        For different lengths, fewer than two rows or exchangeable groups, or a statistic that is
        not finite.

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
