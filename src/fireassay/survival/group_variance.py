"""Standard errors that know that rows of one model are not independent.

CR2 and CR3 correct the sandwich for few groups; degrees of freedom are Satterthwaite's. CR3 is
the jackknife over groups in one Newton step.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fireassay.core.arrays import AnyArray

Correction = Literal["cr3", "cr2", "cr0"]
# With so many groups the corrections vanish, and only their scores are needed.
MANY_GROUPS = 2000


@dataclass(frozen=True)
class GroupVariance:
    """A robust covariance, with what degrees of freedom are computed from.

    Attributes
    ----------
    covariance
        Of the parameters, on the scale of the information that was given.
    root
        Inverse square root of the information.
    shares
        Each group's share of the information, G × p × p, symmetric, summing to one; empty where
        the covariance needed none (many groups, or groups left out one by one).
    """

    covariance: AnyArray
    method: str
    n_groups: int
    root: AnyArray
    shares: AnyArray

    def degrees_of_freedom(self, contrast: AnyArray) -> float:
        """Satterthwaite degrees of freedom of ``contrast @ parameters``.

        Moments of the variance estimate are taken under independent rows; no more than G − 1.
        """
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
    """A robust covariance of a maximum-likelihood estimate.

    Parameters
    ----------
    information
        Minus the Hessian of all rows, p × p.
    scores
        Gradient of each group at the estimate, G × p.
    group_information
        Minus the Hessian of each group, G × p × p.
    """
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
