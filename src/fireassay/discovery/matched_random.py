"""Was it the search, or only the confidence of the rows it chose? Random draws, matched."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import stats
from fireassay.core.validation import check_integer, check_labels
from fireassay.discovery.ratio import check_queried, ratio


@dataclass(frozen=True)
class MatchedRandom:
    """A search against random draws of the same confidence.

    Attributes:
        errors, expected, sdr: Errors found, those that the confidences expect, their ratio.
        expected_random, sdr_random: Mean errors, and SDR, of random draws of like confidence.
        p_value: P(a matched random draw finds at least as many errors): small means skill.
        n, n_random: Queried rows, and rows that the random side rests on.
        method: How the random side is known.
    """

    errors: int
    expected: float
    sdr: float
    expected_random: float
    sdr_random: float
    p_value: float
    n: int
    n_random: int
    method: str


def matched_random_test(
    confidence: ArrayLike, wrong: ArrayLike, queried: ArrayLike, n_bins: int = 20
) -> MatchedRandom:
    """One-shot exact test of a search's skill, where the whole pool is labelled.

    In each of ``n_bins`` bins of equal size in confidence, as many rows as the search took are
    drawn at random without replacement: the exact distribution of hypergeometric sums is used.

    Args:
        confidence, wrong: Of the whole pool.
        queried: Positions of the rows that the search took.
        n_bins: At most one bin per 10 rows is used.

    >>> matched_random_test([0.9, 0.9], [True, False], [0]).p_value  # one of two rows, by luck
    0.5
    """
    stated, flags = check_queried(confidence, wrong)
    rows = np.unique(np.asarray(queried, dtype=np.int64))
    if not len(rows) or rows[0] < 0 or rows[-1] >= len(stated):
        raise DataError(
            f"queried must be positions in a pool of {len(stated)} rows, at least one.",
            got=f"{len(rows)} positions",
        )
    n_bins = max(1, min(check_integer(n_bins, "n_bins", low=1), len(stated) // 10))
    order = np.lexsort((np.arange(len(stated)), stated))
    bins = np.empty(len(stated), dtype=np.int64)
    bins[order] = np.arange(len(stated)) * n_bins // len(stated)
    taken = np.bincount(bins[rows], minlength=n_bins)
    sizes, wrong_ones = np.bincount(bins), np.bincount(bins[flags], minlength=n_bins)
    draws = [(int(sizes[b]), int(wrong_ones[b]), int(taken[b])) for b in np.flatnonzero(taken)]
    p_value = _at_least(int(flags[rows].sum()), draws)
    mean = sum((drawn * errors / count for count, errors, drawn in draws), 0.0)
    method = f"exact, {n_bins} confidence bins of the whole pool"
    return _compared(stated[rows], flags[rows], mean, p_value, len(stated), method)


def matched_arm_test(
    search_confidence: ArrayLike,
    search_wrong: ArrayLike,
    random_confidence: ArrayLike,
    random_wrong: ArrayLike,
    groups: tuple[ArrayLike, ArrayLike] | None = None,
) -> MatchedRandom:
    """Skill from a random arm that was labelled along with the search.

    Every searched row is compared with the random row nearest in confidence (on the scale of
    log(1 − confidence)). In each such group, if the search has no skill, any of its rows is as
    likely to be wrong: a sum of hypergeometric counts, tested exactly. Few rows give little power.

    Args:
        search_confidence, search_wrong: Confidence of each searched row, and whether it is wrong.
        random_confidence, random_wrong: The same of each random row.
        groups: The patient or device of each row of either: Student's t over groups, approximate.

    >>> matched_arm_test([0.9], [True], [0.9], [False]).p_value
    0.5
    """
    searched, flags = check_queried(search_confidence, search_wrong)
    drawn, random_flags = check_queried(random_confidence, random_wrong)
    if not len(drawn):
        raise DataError("At least one random row must be labelled.", got="none")
    doubts = np.log(np.maximum(1 - searched, 1e-12)), np.log(np.maximum(1 - drawn, 1e-12))
    group = np.abs(doubts[0][:, None] - doubts[1][None, :]).argmin(axis=1)
    draws, mean = [], 0.0
    for g in np.unique(group):
        inside = group == g
        count, errors = int(inside.sum()), int(flags[inside].sum()) + int(random_flags[g])
        draws.append((count + 1, errors, count))
        mean += count * float(random_flags[g])
    p_value, how = _at_least(int(flags.sum()), draws), "exact"
    if groups is not None:
        surplus = np.concatenate(
            [flags.astype(float), -np.bincount(group, minlength=len(drawn)) * random_flags]
        )
        together = check_labels(
            np.concatenate([np.asarray(g).astype(str) for g in groups]),
            name="groups",
            n=len(surplus),
        )
        p_value, how = max(p_value, _over_groups(surplus, together)), "t over groups"
    method = f"{how}, each searched row against the random row nearest in confidence"
    return _compared(searched, flags, mean, p_value, len(random_flags), method)


def _at_least(found: int, draws: Iterable[tuple[int, int, int]]) -> float:
    """P(so many errors or more) of draws without replacement: rows, errors among them, drawn."""
    distribution = np.ones(1)
    for count, errors, drawn in draws:
        possible = np.arange(min(errors, drawn) + 1)
        pmf = stats.hypergeom.pmf(possible, count, errors, drawn)
        distribution = np.convolve(distribution, pmf)
    return float(min(1.0, distribution[found:].sum()))


def _compared(
    stated: FloatArray, flags: BoolArray, mean: float, p_value: float, n_random: int, method: str
) -> MatchedRandom:
    """Searched rows against the mean number of errors of random ones."""
    found, expected = int(flags.sum()), float((1.0 - stated).sum())
    ratios = ratio(found, expected), ratio(mean, expected)
    return MatchedRandom(
        found, expected, ratios[0], mean, ratios[1], p_value, len(flags), n_random, method
    )


def _over_groups(surplus: FloatArray, groups: AnyArray) -> float:
    """P-value of "no surplus of errors" when only groups are independent."""
    _, member = np.unique(groups, return_inverse=True)
    own = np.bincount(member.ravel(), weights=surplus)
    spread = float(np.sqrt(np.square(own - own.mean()).sum() * len(own) / max(1, len(own) - 1)))
    return float(stats.t.sf(own.sum() / spread, len(own) - 1)) if spread > 0 else 1.0


def draw_matched(
    confidence: FloatArray,
    free: IntArray,
    like: float,
    rng: np.random.Generator,
    neighbours: int = 20,
) -> int:
    """One of the free rows nearest in confidence to ``like``, at random."""
    gaps = np.abs(confidence[free] - like)
    nearest = free[np.argsort(gaps, kind="stable")[:neighbours]]
    return int(nearest[rng.integers(len(nearest))])
