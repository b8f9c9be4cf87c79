"""A bound for the mean of rows that belong together, whatever the groups' rates and sizes are."""

import math
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError, ParameterError, deprecated
from fireassay.core.estimate import Estimate
from fireassay.core.groups import largest_group as declared_largest
from fireassay.core.validation import check_choice, check_labels, check_real
from fireassay.core.words import percent
from fireassay.statistics.betting import crossing
from fireassay.statistics.counts import clopper_pearson
from fireassay.statistics.groups.group_counts import GroupCounts, effective_rows
from fireassay.statistics.samples import check_confidence, check_sample

_STAKES, _FIRST_WEIGHT = 8, 0.3
_COMPRESSED_FROM = 2_000  # groups


def group_mean(
    values: ArrayLike,
    groups: ArrayLike,
    confidence: float = 0.95,
    alternative: str = "two-sided",
    *,
    largest_group: float | None = None,
    lowest: float = 0.0,
    highest: float = 1.0,
    rests_on: tuple[str, ...] = (),
) -> Estimate:
    """The mean of row values in known bounds, where several rows come from one patient or device.

    The bound holds for groups that were drawn independently: rows of one group may depend on each
    other in any way, related rates and sizes may have any law. Neither order nor seed count.

    Args:
        values: Per row: 0 and 1 for errors, for a recall those of one class, or a cost.
        groups: For each row its patient, device or document; `Groups` may declare the largest.
        confidence: In (0, 1).
        alternative: "two-sided", or "upper" and "lower" for one bound with the whole error.
        largest_group: The most rows that a group can have; not declared: the largest seen.
        lowest, highest: Of the values; a difference of errors has -1 and 1.
        rests_on: Ids of the assumptions that the estimate carries.

    `group_upper` for both ends. Groups of one row each have the exact interval of rows.

    >>> print(group_mean([0, 0, 1, 0] * 30, [row // 2 for row in range(120)]))
    0.250 [0.153, 0.339] n=120
    """
    check_confidence(confidence)
    check_choice(alternative, "alternative", ("two-sided", "upper", "lower"))
    rows = check_sample(values, "values")
    who = check_labels(groups, name="groups", n=len(rows))
    if not lowest < highest or rows.min() < lowest or rows.max() > highest:
        raise DataError(
            f"Values must lie in the bounds [{lowest:g}, {highest:g}].",
            got=f"{rows.min():g} to {rows.max():g}",
        )
    member = np.unique(who, return_inverse=True)[1].ravel()
    sizes = np.bincount(member).astype(float)
    width = highest - lowest
    sums = np.bincount(member, weights=(rows - lowest) / width)
    declared = declared_largest(who) if largest_group is None else largest_group
    cap = float(sizes.max()) if declared is None else declared
    tail = (1.0 - confidence) / (2.0 if alternative == "two-sided" else 1.0)
    low, high, method = 0.0, 1.0, f"groups-any over {len(sizes):,} groups, none above {cap:,g} rows"
    if cap == 1.0 and np.isin(sums, (0.0, 1.0)).all():
        ends = clopper_pearson(float(sums.sum()), float(len(sums)), confidence, alternative)
        low, high, method = float(ends[0]), float(ends[1]), "Clopper-Pearson"
    else:
        low = 0.0 if alternative == "upper" else group_lower(sums, sizes, tail, cap)
        high = 1.0 if alternative == "lower" else group_upper(sums, sizes, tail, cap)
    ends, n = (lowest + width * low, lowest + width * high), len(rows)
    return Estimate.around(
        float(rows.mean()), *ends, confidence=confidence, n=n, method=method, rests_on=rests_on
    )


@deprecated("statistics.group_mean", gone_in="0.5")
def grouped_share(
    hit: ArrayLike, groups: ArrayLike, confidence: float = 0.95, alternative: str = "two-sided"
) -> tuple[Estimate, float]:
    """`group_mean` of hits, and how many independent rows would say as much.

    Args:
        hit, groups, confidence, alternative: As for `group_mean`.
    """
    found = group_mean(hit, groups, confidence, alternative)
    return found, effective_rows(GroupCounts.of(hit, groups))


@deprecated("statistics.group_mean", gone_in="0.5")
def groups_betting_upper(
    hit: ArrayLike, groups: ArrayLike, confidence: float, largest_group: float
) -> float:
    """The upper end of `group_mean`.

    Args:
        hit, groups, confidence, largest_group: As for `group_mean`.
    """
    return group_mean(hit, groups, confidence, "upper", largest_group=largest_group).high


def group_upper(
    sums: ArrayLike,
    sizes: ArrayLike,
    alpha: float,
    largest_group: float | None = None,
    lowest: float = 0.0,
) -> float:
    """Upper bound of (mean sum) / (mean size) of groups, with error probability ``alpha``."""
    # For each mean m the capital is a mixture over stakes λ of the products of 1 + λ (m M - K) /
    # (cap (1 - m)), which has mean 1 if m is the true one: by Markov's inequality it reaches 1 /
    # alpha with probability alpha at most. Stakes depend on m and the number of groups alone, and
    # are such that the capital rises with m.
    hits, misses = _parts(sums, sizes, alpha, largest_group, lowest)
    groups = len(hits)
    times: FloatArray = np.ones(groups)
    if groups >= _COMPRESSED_FROM:  # counts repeat
        hits, misses, times = _compressed(hits, misses)
    seen = float(hits @ times / ((hits + misses) @ times))

    def capital(mean: float) -> float:
        if mean >= 1.0:
            return math.inf if (misses > 0).any() else -math.inf
        growth, weights = log_growth(mean / (1.0 - mean), hits, misses, alpha, groups)
        return float(np.logaddexp.reduce(weights + growth @ times))

    # Beyond three times the level nothing is to be told apart: the search needs fewer steps.
    level = -math.log(alpha)
    high = crossing(lambda mean: min(capital(mean), 3.0 * level), level, seen)
    return lowest + (1.0 - lowest) * high


def _compressed(hits: FloatArray, misses: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Each pair once, and how often it occurs; pairs of small counts are found without sorting."""
    rows = hits + misses
    unit = float(rows.min())  # the smallest group may be one row
    counts = np.rint(hits / unit), np.rint(rows / unit)
    whole = np.abs(hits / unit - counts[0]).max() < 1e-9 > np.abs(rows / unit - counts[1]).max()
    width = float(counts[1].max()) + 1.0
    if whole and width**2 <= 4.0 * len(hits):
        times = np.bincount((counts[0] * width + counts[1]).astype(np.int64))
        code = np.flatnonzero(times)
        k, m = np.divmod(code, int(width))
        return k * unit, (m - k) * unit, times[code].astype(float)
    pairs, repeats = np.unique(hits + 1j * misses, return_counts=True)
    return pairs.real, pairs.imag, repeats.astype(float)


def group_lower(
    sums: ArrayLike,
    sizes: ArrayLike,
    alpha: float,
    largest_group: float | None = None,
    lowest: float = 0.0,
) -> float:
    """Lower bound of (mean sum) / (mean size) of groups; arguments as for `group_upper`."""
    turned = (1.0 + lowest) * np.asarray(sizes, dtype=float) - np.asarray(sums, dtype=float)
    return 1.0 + lowest - group_upper(turned, sizes, alpha, largest_group, lowest)


def log_growth(
    odds: float, hits: FloatArray, misses: FloatArray, alpha: float, groups: int
) -> tuple[FloatArray, FloatArray]:
    """Log growth of each stake's capital by each group, and the logs of the stakes' weights."""
    # Hits and misses, of any shape (…, G), are in units of the largest group; the growth has shape
    # (8, …, G). The stakes λ fall with the odds of the mean and λ × odds rises, so does the growth.
    smallest = 1.0 if odds == 0 else min(1.0, math.sqrt(-2.0 * math.log(alpha) / (groups * odds)))
    stakes = smallest ** (np.arange(_STAKES) / (_STAKES - 1))
    weights = np.full(_STAKES, (1.0 - _FIRST_WEIGHT) / (_STAKES - 1))
    weights[0] = _FIRST_WEIGHT
    gain = odds * misses - hits
    with np.errstate(divide="ignore"):  # the whole capital is lost at stake 1
        growth = np.log1p(np.multiply.outer(stakes, gain))
    return growth, np.log(weights)


def log_capital(
    mean: float, hits: FloatArray, misses: FloatArray, alpha: float, groups: int
) -> FloatArray:
    """The log capital against one mean of each of many samples of groups, of shape (…, G)."""
    growth, weights = log_growth(mean / (1.0 - mean), hits, misses, alpha, groups)
    return cast(FloatArray, np.logaddexp.reduce((growth.sum(axis=-1).T + weights).T, axis=0))


def groups_needed(limit: float, alpha: float = 0.025) -> int:
    """The fewest groups with which any valid bound can keep a limit: those without an error.

    Args:
        limit: The largest share that may be wrong, in (0, 1).
        alpha: The error probability of the bound, in (0, 1).

    >>> groups_needed(0.05), groups_needed(0.01)
    (72, 368)
    """
    if not (0.0 < limit < 1.0 and 0.0 < alpha < 1.0):
        raise ParameterError("limit and alpha must be in (0, 1).", got=f"{limit}, {alpha}")
    return math.ceil(math.log(alpha) / math.log1p(-limit))


def too_few_groups(
    sizes: ArrayLike, limit: float, alpha: float = 0.025, largest_group: float | None = None
) -> str | None:
    """Why no result on groups of these sizes can keep a limit; None if one without errors can."""
    rows = check_sample(sizes, "sizes")
    best = group_upper(np.zeros(len(rows)), rows, alpha, largest_group)
    if best <= limit:
        return None
    cap = float(rows.max()) if largest_group is None else largest_group
    like = "" if (rows == cap).all() else f" of {cap:,g} rows"
    needed = (
        f"it needs {groups_needed(limit, alpha):,}{like}." if 0 < limit < 1 else "it needs more."
    )
    return (
        f"no result can pass: {len(rows):,} groups without an error show at most "
        f"{percent(best, 1)} wrong, not {100 * limit:g} %; {needed}"
    )


def effective_groups(sizes: ArrayLike, largest_group: float | None = None) -> float:
    """How many groups of the largest size say as much: rows / largest group."""
    rows = check_sample(sizes, "sizes")
    return float(rows.sum() / (rows.max() if largest_group is None else largest_group))


def _parts(
    sums: ArrayLike, sizes: ArrayLike, alpha: float, largest: float | None, lowest: float
) -> tuple[FloatArray, FloatArray]:
    """What each group has above the lowest value and below 1, in units of the largest group."""
    check_real(alpha, "alpha", low=0.0, high=1.0)
    total, rows = check_sample(sums, "sums"), check_sample(sizes, "sizes")
    if total.shape != rows.shape or not (rows > 0).any():
        raise DataError(
            "sums and sizes must have one number per group, and some group must have rows.",
            got=f"{len(total)} sums and {len(rows)} sizes",
        )
    total, rows = total[rows > 0], rows[rows > 0]
    cap = float(rows.max()) if largest is None else float(largest)
    if rows.max() > cap:
        raise DataError(
            f"No group may have more than the declared {cap:,g} rows.",
            got=f"a group of {rows.max():,g}",
            do="Declare the largest group that can occur.",
        )
    hits, misses = (total - lowest * rows) / (1.0 - lowest), (rows - total) / (1.0 - lowest)
    if min(hits.min(), misses.min()) < -1e-9 * cap:
        raise DataError("The sum of each group must be between lowest × size and its size.")
    return np.maximum(hits, 0.0) / cap, np.maximum(misses, 0.0) / cap
