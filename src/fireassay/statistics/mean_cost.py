"""What a decision costs per row, with an interval that holds for any costs within a range."""

import math

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, FloatArray
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.estimate import Estimate
from fireassay.core.seeds import generator
from fireassay.core.validation import check_labels
from fireassay.statistics.betting import betting_interval
from fireassay.statistics.grouped_sum import grouped_sum
from fireassay.statistics.samples import check_confidence, check_sample

_LARGEST_STAKE, _FIRST_SPREAD = 0.75, 0.05
_FEW_KINDS = 6


def mean_cost(
    costs: ArrayLike,
    bounds: tuple[float, float],
    confidence: float = 0.95,
    *,
    groups: ArrayLike | None = None,
    seed: int = 0,
    rests_on: tuple[str, ...] = (),
) -> Estimate:
    """The mean of bounded costs, or of differences of costs, with a betting interval.

    Rare and expensive mistakes make costs skew; an interval from the standard deviation would be
    too short exactly there.

    Parameters
    ----------
    costs
        One per row.
    bounds
        (lowest, highest) possible cost, known beforehand.
    confidence
        In (0, 1).
    groups
        For each row the patient, device or document it belongs to: then groups are bet on.
    seed
        Rows are taken in a random order, so that the order of a file does not matter.
    rests_on
        Ids of the assumptions that the estimate carries.

    Notes
    -----
    `betting_interval`, which holds for any distribution on the bounds. With groups it is
    approximate: where only a few different costs occur, their shares are bounded and combined
    (`grouped_sum`); otherwise each bet is on the sum of a group, scaled by the largest group, and
    the largest of these groups is taken for the largest that can occur.

    >>> print(mean_cost([0.0] * 95 + [50.0] * 1 + [1.0] * 4, bounds=(0, 50)))
    0.540 [0.000, 2.921] n=100
    """
    values = check_sample(costs, "costs")
    check_confidence(confidence)
    lowest, highest = (float(end) for end in bounds)
    if not lowest < highest:
        raise ParameterError("The 'bounds' must be (low, high) with low < high.", got=repr(bounds))
    order = generator(seed, "order of costs").permutation(len(values))
    method = "betting on a bounded mean"
    if groups is None:
        low, high = betting_interval(values[order], confidence, (lowest, highest))
    else:
        who = check_labels(groups, name="groups", n=len(values))
        if values.min() < lowest or values.max() > highest:
            raise DataError(
                f"costs must lie in the bounds [{lowest:g}, {highest:g}].",
                got=f"{values.min():g} to {values.max():g}",
            )
        kinds = [float(cost) for cost in np.unique(values) if cost != 0.0]
        if len(kinds) <= _FEW_KINDS:
            low, high = _by_kind(values, kinds, who, confidence, (lowest, highest))
            method = f"shares of {len(kinds)} costs, groups-max, combined, approximate"
        else:
            unit = (values - lowest) / (highest - lowest)
            ends, units = _grouped(unit[order], who[order], (1.0 - confidence) / 2.0)
            low, high = (lowest + (highest - lowest) * end for end in ends)
            method += f" over {units:,} groups, approximate"
    return Estimate.around(
        float(values.mean()),
        low,
        high,
        confidence=confidence,
        n=len(values),
        method=method,
        rests_on=rests_on,
    )


def _by_kind(
    values: FloatArray,
    kinds: list[float],
    groups: AnyArray,
    confidence: float,
    bounds: tuple[float, float],
) -> tuple[float, float]:
    """From the shares of each cost; where one did not occur, the dearest may still."""
    everywhere = np.ones(len(values), dtype=bool)
    lowest, highest = bounds
    extremes = [end for end in bounds if end != 0.0 and end not in kinds]
    costs = [*kinds, *extremes]
    hits = [values == cost for cost in costs]
    _, low, high = grouped_sum(costs, hits, [everywhere] * len(costs), groups, confidence)
    return max(lowest, low), min(highest, high)


def _grouped(unit: FloatArray, groups: FloatArray, tail: float) -> tuple[tuple[float, float], int]:
    """Both ends of the mean per row, from bets on the sums of groups."""
    _, first, member = np.unique(groups, return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))[member.ravel()]
    sizes: FloatArray = np.bincount(place).astype(np.float64)
    sums: FloatArray = np.bincount(place, weights=unit).astype(np.float64)
    high = _upper(sums, sizes, tail)
    return (1.0 - _upper(sizes - sums, sizes, tail), high), len(sizes)


def _upper(sums: FloatArray, sizes: FloatArray, tail: float) -> float:
    target, largest = math.log(1.0 / tail), float(sizes.max())
    size, total = sizes / largest, sums / largest
    # The stake on a group depends on earlier groups only.
    time = np.arange(1, len(size) + 1)
    rate = np.concatenate([[0.5], np.cumsum(total)[:-1] / np.cumsum(size)[:-1]])
    spread = np.concatenate([[0.0], np.cumsum((total - rate * size) ** 2)[:-1]])
    variance = (_FIRST_SPREAD + spread) / time
    stakes = np.minimum(np.sqrt(2.0 * target / (len(size) * variance)), _LARGEST_STAKE)

    def rejected(mean: float) -> bool:
        return bool(np.cumsum(np.log1p(stakes * (mean * size - total))).max() >= target)

    if not rejected(1.0):
        return 1.0
    low, high = float(sums.sum() / sizes.sum()), 1.0
    for _ in range(44):
        middle = (low + high) / 2.0
        low, high = (low, middle) if rejected(middle) else (middle, high)
    return high
