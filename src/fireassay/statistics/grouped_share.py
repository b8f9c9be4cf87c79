"""A share of rows when several rows come from one patient, device, video or document."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.lazy_modules import special
from fireassay.core.validation import check_choice, check_labels
from fireassay.statistics.clopper_pearson import clopper_pearson
from fireassay.statistics.crossing import crossing
from fireassay.statistics.samples import check_confidence

_SHARES, _FIRST_SHARES, _CORRELATIONS = 300, 75, 40
_WIDEST = 30.0  # logits
_NEGLIGIBLE = 25.0  # in log density below the peak
_FIRST_SPREAD, _LARGEST_STAKE = 0.05, 0.999
_LARGE_GROUPS = 5
_FEW_FACTORS = 60  # of at most 6,500 each: no overflow


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """Rows and hits of each group."""

    hits: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, hit: ArrayLike, groups: ArrayLike) -> "GroupCounts":
        """Count the rows of each group, in the order in which the groups first occur."""
        labels = check_labels(groups, name="groups")
        marks = np.asarray(hit)
        if marks.shape != (len(labels),) or not np.isin(marks, (0, 1)).all():
            raise DataError(
                f"hit must be True or False for each of the {len(labels):,} rows.",
                got=f"{marks.dtype} of shape {marks.shape}",
            )
        _, first, member = np.unique(labels, return_index=True, return_inverse=True)
        place = np.empty(len(first), dtype=np.int64)
        place[np.argsort(first, kind="stable")] = np.arange(len(first))
        member = place[member.ravel()]
        sizes = np.bincount(member)
        return cls(np.bincount(member, weights=marks).astype(np.int64), sizes.astype(np.int64))

    def swapped(self) -> "GroupCounts":
        """Hits for misses: the lower end of one is the upper end of the other."""
        return GroupCounts(self.sizes - self.hits, self.sizes)

    @property
    def share(self) -> float:
        """Hits among all rows."""
        return float(self.hits.sum() / self.sizes.sum())


def grouped_share(
    hit: ArrayLike,
    groups: ArrayLike,
    confidence: float = 0.95,
    alternative: str = "two-sided",
    *,
    rests_on: tuple[str, ...] = (),
) -> tuple[Estimate, float]:
    """A share of rows, and how many independent rows would say as much about it.

    The interval counts groups that were drawn independently; rows of one group may depend on each
    other in any way. It is approximate: simulated in ``docs/intervals.md``. With one row per
    group it is the Clopper–Pearson interval.

    Parameters
    ----------
    hit
        True or False for each row.
    groups
        For each row the group it belongs to.
    confidence
        In (0, 1).
    alternative
        "two-sided", or "upper" and "lower" for one bound with the whole error on its side.
    rests_on
        Ids of the assumptions that the estimate carries.

    Returns
    -------
    (estimate, effective_n)

    Notes
    -----
    The wider of two bounds: the quantile of a beta-binomial posterior, integrated over the
    correlation within groups, with a prior that gives Clopper–Pearson when all groups have one
    row; and Korn and Graubard's Clopper–Pearson bound at the effective sample size, whose
    variance is the jackknife over groups.

    >>> estimate, effective = grouped_share([1, 1, 0, 0, 0, 0] * 5, list("aabbcc") * 5)
    >>> estimate.n, effective < 30
    (30, True)
    """
    check_confidence(confidence)
    check_choice(alternative, "alternative", ("two-sided", "upper", "lower"))
    counts = GroupCounts.of(hit, groups)
    tail = (1.0 - confidence) / (2.0 if alternative == "two-sided" else 1.0)
    low = 0.0 if alternative == "upper" else 1.0 - upper_share(counts.swapped(), tail)
    high = 1.0 if alternative == "lower" else upper_share(counts, tail)
    estimate = Estimate.around(
        counts.share,
        low,
        high,
        confidence=confidence,
        n=int(counts.sizes.sum()),
        method=f"groups-max over {len(counts.sizes):,} groups, approximate",
        rests_on=rests_on,
    )
    return estimate, effective_rows(counts)


def upper_share(counts: GroupCounts, tail: float) -> float:
    """Upper bound of a share with error probability ``tail``: the larger of the two bounds.

    Where groups are right or wrong as a whole, as far as the hits show, groups are counted
    instead of rows: there the posterior, which must guess the correlation, misses too often.
    """
    bound = max(beta_binomial_upper(counts, tail), korn_graubard_upper(counts, tail))
    hits, groups_hit = int(counts.hits.sum()), int((counts.hits > 0).sum())
    one_group_has_all = groups_hit == 1 < hits
    # Small groups are filled by chance, and many enough for the posterior.
    large = float(counts.sizes.mean()) >= _LARGE_GROUPS
    as_a_whole = large and _fills_its_groups(counts) and _fills_its_groups(counts.swapped())
    if one_group_has_all or as_a_whole:
        by_groups = clopper_pearson(groups_hit, len(counts.sizes), 1.0 - tail, "upper")[1]
        return max(bound, float(by_groups))
    return bound


def _fills_its_groups(counts: GroupCounts) -> bool:
    """Whether groups that have a hit have hits for the most part."""
    touched = counts.hits > 0
    return bool(2 * counts.hits.sum() > counts.sizes[touched].sum() > 0)


def effective_rows(counts: GroupCounts) -> float:
    """How many independent rows have the variance that the groups show; all rows at the most."""
    n, p = int(counts.sizes.sum()), counts.share
    if len(counts.sizes) < 2:
        return 1.0
    variance = _jackknife_variance(counts)
    if p in (0.0, 1.0) or variance == 0.0:
        # No spread to learn from: as many as there are groups, unless every group is one row.
        return float(len(counts.sizes))
    return float(np.clip(p * (1.0 - p) / variance, 1.0, n))


def _jackknife_variance(counts: GroupCounts) -> float:
    groups = len(counts.sizes)
    without = (counts.hits.sum() - counts.hits) / (counts.sizes.sum() - counts.sizes)
    return float((groups - 1) / groups * ((without - counts.share) ** 2).sum())


def korn_graubard_upper(counts: GroupCounts, tail: float) -> float:
    """Clopper–Pearson at the effective sample size, shrunk for few groups (Korn, Graubard 1998)."""
    k, n = int(counts.hits.sum()), int(counts.sizes.sum())
    if k == 0 or (counts.sizes == 1).all() or len(counts.sizes) < 2:
        return 0.0
    if k == n:
        return 1.0
    weight = counts.sizes * (1.0 + (counts.sizes - 1.0) * intraclass_correlation(counts))
    freedom = max(1.0, float(weight.sum() ** 2 / (weight**2).sum()) - 1.0)
    few_groups = float(special.ndtri(tail) / special.stdtrit(freedom, tail)) ** 2
    effective = effective_rows(counts) * few_groups
    hits = counts.share * effective
    return float(special.betainccinv(hits + 1.0, effective - hits, tail))


def intraclass_correlation(counts: GroupCounts) -> float:
    """The ANOVA estimate of the correlation of two rows of one group, between 0 and 1."""
    sizes, rates = counts.sizes.astype(float), counts.hits / counts.sizes
    groups, n = len(sizes), float(sizes.sum())
    if groups < 2 or n == groups:
        return 0.0
    between = float((sizes * (rates - counts.share) ** 2).sum()) / (groups - 1)
    within = float((sizes * rates * (1.0 - rates)).sum()) / (n - groups)
    typical = (n - float((sizes**2).sum()) / n) / (groups - 1)
    total = between + (typical - 1.0) * within
    return float(np.clip((between - within) / total, 0.0, 1.0)) if total > 0 else 0.0


def beta_binomial_upper(counts: GroupCounts, tail: float) -> float:
    """The 1 - tail quantile of the share when each group has a rate of its own.

    Posterior ∝ (1-p)⁻¹ ρ^(-1/2) ∏ B(k + ps, m - k + (1-p)s) / B(ps, (1-p)s), s = 1/ρ - 1.
    """
    if counts.hits.sum() == counts.sizes.sum():
        return 1.0
    wide = np.linspace(-_WIDEST, _WIDEST, _FIRST_SHARES)
    density = _log_density(wide, counts)
    kept = np.flatnonzero(density > density.max() - _NEGLIGIBLE)
    low, high = wide[max(kept[0] - 1, 0)], wide[min(kept[-1] + 1, _FIRST_SHARES - 1)]
    logits = np.linspace(low, high, _SHARES)
    density = _log_density(logits, counts)
    mass = np.exp(density - density.max())
    steps = (mass[1:] + mass[:-1]) / 2.0
    below = np.concatenate([[0.0], np.cumsum(steps)])
    logit = float(np.interp((1.0 - tail) * below[-1], below, logits))
    return 1.0 / (1.0 + math.exp(-logit))


def _log_density(logits: FloatArray, counts: GroupCounts) -> FloatArray:
    """Log posterior per logit of the share, summed over the correlation."""
    # Square spacing makes the prior ρ^(-1/2) uniform.
    correlation = ((np.arange(_CORRELATIONS) + 0.5) / _CORRELATIONS) ** 2
    s = (1.0 / correlation - 1.0)[None, :]
    p = (1.0 / (1.0 + np.exp(-logits)))[:, None]
    q = (1.0 / (1.0 + np.exp(logits)))[:, None]
    log_likelihood = (
        _rising(p * s, counts.hits)
        + _rising(q * s, counts.sizes - counts.hits)
        - _rising(s, counts.sizes)
    )
    # dp = p q dlogit, and the prior (1-p)^-1 takes the q away again.
    joint = log_likelihood + np.log(p)
    top = joint.max(axis=1)
    total: FloatArray = top + np.log(np.exp(joint - top[:, None]).sum(axis=1))
    return total


def _rising(start: FloatArray, lengths: IntArray) -> FloatArray:
    """Sum over groups of the log rising factorials start (start + 1) … (start + length - 1)."""
    values, times = np.unique(lengths, return_counts=True)
    longer = np.cumsum(times[::-1])[::-1]  # groups that have at least so many rows
    total = np.zeros(start.shape)
    floor = np.maximum(start, 1e-300)
    done = 0
    for value, count in zip(values.tolist(), longer.tolist(), strict=True):
        if value - done > _FEW_FACTORS:
            total += count * (special.gammaln(floor + value) - special.gammaln(floor + done))
        elif value:
            # A product and one logarithm cost a fraction of two log gammas.
            product = floor + done
            for step in range(done + 1, value):
                product *= floor + step
            total += count * np.log(product)
        done = value
    return total


def groups_betting_upper(
    hit: ArrayLike, groups: ArrayLike, confidence: float, largest_group: int
) -> float:
    """Upper bound of a share of rows that is proven for groups of any size and any dependence.

    Also where a group's size is related to its rate. Wider than `grouped_share`.

    Parameters
    ----------
    hit, groups
        As for `grouped_share`; groups are taken in the order in which they first occur, which
        must not depend on the hits.
    confidence
        One-sided, in (0, 1).
    largest_group
        The most rows a group can have, declared before the data is seen.

    Notes
    -----
    A bet against each candidate p: the stake grows by ``1 + λ (p m - k) / largest_group`` per
    group, which has mean 1 if p is the share of rows (Ville's inequality).

    >>> groups_betting_upper([0] * 400, list(range(400)), 0.975, largest_group=1) < 0.013
    True
    """
    check_confidence(confidence)
    counts = GroupCounts.of(hit, groups)
    if int(counts.sizes.max()) > largest_group:
        raise DataError(
            f"No group may have more than the declared {largest_group:,} rows.",
            got=f"a group of {int(counts.sizes.max()):,}",
            do="Declare the largest group that can occur, before looking at the data.",
        )
    target = math.log(1.0 / (1.0 - confidence))
    size, hits = counts.sizes / largest_group, counts.hits / largest_group
    # The stake on a group depends on earlier groups only.
    earlier = np.concatenate([[0.0], np.cumsum(hits**2)[:-1]])
    spread = (_FIRST_SPREAD + earlier) / np.arange(1, len(size) + 1)
    stakes = np.minimum(np.sqrt(2.0 * target / (len(size) * spread)), _LARGEST_STAKE)

    def capital(p: float) -> float:
        return float(np.cumsum(np.log1p(stakes * (p * size - hits))).max())

    return crossing(capital, target, counts.share)
