"""Hits and rows of each group, how alike rows of one group are, and what they are worth."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import IntArray
from fireassay.core.errors import DataError
from fireassay.core.validation import check_labels


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
