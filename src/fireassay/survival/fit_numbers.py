"""Numbers of a fit: coefficients, concordance, errors clustered by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fireassay.core.arrays import AnyArray, IntArray
from fireassay.core.errors import NotEnoughEvidenceError
from fireassay.core.lazy import pd, stats
from fireassay.statistics.simultaneous import largest_z
from fireassay.survival.times import Times

Correction = Literal["cr3", "cr2", "cr0"]
# With so many groups the corrections vanish, and only their scores are needed.
MANY_GROUPS = 2000


@dataclass(frozen=True)
class GroupVariance:
    """A robust covariance, with what degrees of freedom are computed from."""

    covariance: AnyArray
    method: str
    n_groups: int
    root: AnyArray
    shares: AnyArray

    def degrees_of_freedom(self, contrast: AnyArray) -> float:
        """Satterthwaite degrees of freedom of ``contrast @ parameters``, at most G − 1."""
        # Moments of the variance estimate are taken under independent rows.
        if not len(self.shares):
            return float(self.n_groups - 1)
        direction = self.root @ contrast
        adjusted = np.array([_adjust(share, self.method, direction) for share in self.shares])
        seen = np.einsum("gpq,gq->gp", self.shares, adjusted)
        moments = -seen @ seen.T
        moments[np.diag_indices(len(moments))] += np.einsum("gp,gp->g", adjusted, seen)
        total = float(np.trace(moments))
        if total <= 0:
            return 1.0
        freedom = total**2 / float((moments**2).sum())
        return float(np.clip(freedom, 1.0, max(self.n_groups - 1, 1)))

    def standard_error(self, contrast: AnyArray) -> float:
        """Of ``contrast @ parameters``; infinite if one group alone carries the contrast."""
        if len(self.shares) and self._carried_by_one(contrast):
            return float("inf")
        return float(np.sqrt(max(float(contrast @ self.covariance @ contrast), 0.0)))

    def _carried_by_one(self, contrast: AnyArray) -> bool:
        direction = self.root @ contrast
        length = float(direction @ direction)
        if length == 0:
            return False
        along = np.einsum("p,gpq,q->g", direction, self.shares, direction) / length
        for share in self.shares[along > 1e-6]:
            values, vectors = np.linalg.eigh(share)
            alone = vectors[:, values > 1.0 - 1e-6]
            if alone.size and float(np.square(alone.T @ direction).sum()) > 1e-4 * length:
                return True
        return False


def group_variance(
    information: AnyArray,
    scores: AnyArray,
    group_information: AnyArray,
    *,
    correction: Correction = "cr3",
) -> GroupVariance:
    """A robust covariance of a maximum-likelihood estimate."""
    n_groups = len(scores)
    root = _inverse_root(information)
    normal_scores = scores @ root
    if n_groups > MANY_GROUPS:
        covariance = root @ (normal_scores.T @ normal_scores) @ root
        factor = n_groups / (n_groups - 1.0)
        empty = np.zeros((0, len(root), len(root)))
        return GroupVariance(factor * covariance, "CR1", n_groups, root, empty)
    shares = np.einsum("pq,gqr,rs->gps", root, group_information, root, optimize=True)
    method = correction.upper()
    adjusted = np.array(
        [_adjust(share, method, score) for share, score in zip(shares, normal_scores, strict=True)]
    )
    covariance = root @ (adjusted.T @ adjusted) @ root
    return GroupVariance(covariance, method, n_groups, root, shares)


def _adjust(share: AnyArray, method: str, vector: AnyArray) -> AnyArray:
    """(I − share)^−½ (CR2) or (I − share)^−1 (CR3) times a vector, along what others see too."""
    if method == "CR0":
        return vector
    values, vectors = np.linalg.eigh(0.5 * (share + share.T))
    left = 1.0 - np.clip(values, 0.0, 1.0)
    power = -0.5 if method == "CR2" else -1.0
    factors = np.where(left > 1e-6, np.maximum(left, 1e-6) ** power, 0.0)
    return np.asarray(vectors @ (factors * (vectors.T @ vector)))


def _inverse_root(information: AnyArray) -> AnyArray:
    values, vectors = np.linalg.eigh(0.5 * (information + information.T))
    floor = max(float(values[-1]), 1e-300) * 1e-14
    return np.asarray(vectors @ ((1.0 / np.sqrt(np.maximum(values, floor)))[:, None] * vectors.T))


def concordance(times: Times, predicted: AnyArray) -> float:
    """Share of pairs of known order that the prediction orders rightly; a tie counts half."""
    # Sort by the lower end; at equal ends an exact time comes before "later than this".
    order = np.lexsort((~times.exact, times.lower))
    lower, exact = times.lower[order], times.exact[order]
    _, ranks = np.unique(predicted[order], return_inverse=True)
    failed = np.flatnonzero(np.isfinite(times.upper[order]))
    upper = times.upper[order][failed]
    # Rows that surely failed later: open intervals from `upper` on, exact times beyond it.
    later = np.searchsorted(lower, upper, side="left")
    ties = np.cumsum(np.append(0, exact))
    end = np.searchsorted(lower, upper, side="right")
    first = later + (ties[end] - ties[later])
    n = len(lower)
    comparable = int((n - first).sum())
    if comparable == 0:
        raise NotEnoughEvidenceError(
            "Concordance needs at least one pair of rows of which one surely failed first.",
            got=f"{times.n_events} failure(s) in {len(times)} rows",
        )
    below = _count_below(ranks, first, ranks[failed])
    not_above = _count_below(ranks, first, ranks[failed] + 1)
    concordant = int((n - first - not_above).sum())
    tied = int((not_above - below).sum())
    return (concordant + 0.5 * tied) / comparable


def _count_below(ranks: IntArray, first: IntArray, limits: IntArray) -> IntArray:
    """For each query, how many of ``ranks[first:]`` are below ``limit`` (a wavelet matrix)."""
    n = len(ranks)
    start, stop = first.astype(np.int64).copy(), np.full(len(first), n, dtype=np.int64)
    counted = np.zeros(len(first), dtype=np.int64)
    bits = max(int(limits.max(initial=0)), int(ranks.max(initial=0)), 1).bit_length()
    level = ranks.astype(np.int64)
    for bit in range(bits - 1, -1, -1):
        is_zero = (level >> bit) & 1 == 0
        zeros = np.append(0, np.cumsum(is_zero))
        n_zeros = int(zeros[-1])
        zero_start, zero_stop = zeros[start], zeros[stop]
        goes_right = (limits >> bit) & 1 == 1
        counted += np.where(goes_right, zero_stop - zero_start, 0)
        start = np.where(goes_right, n_zeros + start - zero_start, zero_start)
        stop = np.where(goes_right, n_zeros + stop - zero_stop, zero_stop)
        level = np.concatenate([level[is_zero], level[~is_zero]])
    return counted


def coefficient_table(
    names: tuple[str, ...],
    transform: AnyArray,
    theta: AnyArray,
    covariance: AnyArray,
    robust: GroupVariance | None,
    confidence: float,
    *,
    positive: str,
) -> pd.DataFrame:
    """One row per covariate; ``transform`` turns the fitted parameters into raw coefficients."""
    # Intervals and p use the robust error and its t where there is one, else the normal. The
    # simultaneous ends hold for all covariates at once (the intercept apart), so that any may be
    # picked.
    negative = "shorter" if positive == "longer" else "longer"
    coef = np.array([float(contrast @ theta) for contrast in transform])
    se = np.array([np.sqrt(max(c @ covariance @ c, 0.0)) for c in transform], dtype=np.float64)
    cluster_se, freedom = np.full(len(names), np.nan), np.full(len(names), np.inf)
    if robust is not None:
        cluster_se = np.array([robust.standard_error(contrast) for contrast in transform])
        freedom = np.array([robust.degrees_of_freedom(contrast) for contrast in transform])
    error = se if robust is None else cluster_se
    reach = stats.t.ppf(0.5 + confidence / 2.0, freedom) * error
    ratio = np.divide(np.abs(coef), error, out=np.full(len(names), np.inf), where=error > 0)
    rises = positive == "longer"
    table = pd.DataFrame(
        {
            "coef": coef,
            "se": se,
            "cluster_se": cluster_se,
            "low": coef - reach,
            "high": coef + reach,
            "p": 2.0 * stats.t.sf(ratio, freedom),
            "df": freedom,
            "time_ratio": np.exp(np.clip(coef, -700, 700)) if rises else np.nan,
            "effect": [positive if c > 0 else negative if c < 0 else "none" for c in coef],
        },
        index=pd.Index(names, name="covariate"),
    )
    slopes = np.array([name != "Intercept" for name in names])
    errors = table["se" if robust is None else "cluster_se"].to_numpy()
    contrasts = transform[slopes & np.isfinite(errors) & (errors > 0)]
    width = 0.0
    if len(contrasts):
        spread = covariance if robust is None else robust.covariance
        fewest = float(table["df"][slopes & np.isfinite(errors)].min())
        width = largest_z(contrasts @ spread @ contrasts.T, confidence, fewest)
    with np.errstate(invalid="ignore"):
        reaches = np.maximum(table["coef"] - table["low"], np.where(slopes, width, 0.0) * errors)
    table.insert(6, "simultaneous_low", table["coef"] - reaches)
    table.insert(7, "simultaneous_high", table["coef"] + reaches)
    return table
