"""The bound `groups-max`: approximate, if no rare group is far worse than those seen."""

import math

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.lazy import special
from fireassay.statistics.counts import clopper_pearson
from fireassay.statistics.groups.group_counts import (
    GroupCounts,
    effective_rows,
    intraclass_correlation,
)

_SHARES, _FIRST_SHARES, _CORRELATIONS = 300, 75, 40
_WIDEST = 30.0  # logits
_NEGLIGIBLE = 25.0  # in log density below the peak
_LARGE = 5  # rows: smaller groups are filled by chance
_FEW_FACTORS = 60  # of at most 6,500 each: no overflow


def groups_max_upper(counts: GroupCounts, tail: float) -> float:
    """The larger of a beta-binomial and a Korn–Graubard upper bound of a share."""
    bound = max(beta_binomial_upper(counts, tail), korn_graubard_upper(counts, tail))
    mostly = 2 * counts.hits > counts.sizes
    # Groups that are right or wrong as a whole are counted instead of rows: there the posterior,
    # which must guess the correlation, misses too often.
    whole = counts.hits[mostly].sum() > 0.5 * counts.hits.sum() and counts.sizes.mean() >= _LARGE
    if whole or (counts.hits > 0).sum() == 1 < counts.hits.sum():
        groups = max(1, int(mostly.sum()))
        by_groups = clopper_pearson(groups, len(counts.sizes), 1.0 - tail, "upper")[1]
        return max(bound, float(by_groups))
    return bound


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


def beta_binomial_upper(counts: GroupCounts, tail: float) -> float:
    """The 1 - tail quantile of the share when each group has a rate of its own."""
    # Posterior ∝ (1-p)⁻¹ ρ^(-1/2) ∏ B(k + ps, m - k + (1-p)s) / B(ps, (1-p)s), s = 1/ρ - 1.
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
    return np.asarray(top + np.log(np.exp(joint - top[:, None]).sum(axis=1)))


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
