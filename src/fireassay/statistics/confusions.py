"""How often each kind of mistake happens: red taken for green is not green taken for red."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import IntArray
from fireassay.core.lazy_modules import pd
from fireassay.statistics.clopper_pearson import clopper_pearson
from fireassay.statistics.grouped_share import GroupCounts, upper_share


def confusion_rates(
    y: IntArray,
    predicted: IntArray,
    classes: Sequence[Any],
    confidence: float,
    groups: ArrayLike | None = None,
) -> pd.DataFrame:
    """The probability per input of each confusion, with its own and a joint upper bound.

    Parameters
    ----------
    y, predicted
        Class indices of labelled rows drawn from the profile.
    confidence
        Of each one-sided bound; ``upper_joint`` bounds all kinds at once (Bonferroni).
    groups
        For each row the patient, device or document it belongs to (see `grouped_share`).

    Returns
    -------
    pandas.DataFrame
        One row per ordered pair of different classes, most frequent first.
    """
    k, n = len(classes), len(y)
    counts = np.bincount(y * k + predicted, minlength=k * k).reshape(k, k)
    true, given = np.nonzero(~np.eye(k, dtype=bool))
    errors = counts[true, given]
    kinds = max(1, k * (k - 1))
    _, upper = clopper_pearson(errors, n, confidence, "upper")
    low, _ = clopper_pearson(errors, n, confidence, "lower")
    _, joint = clopper_pearson(errors, n, 1 - (1 - confidence) / kinds, "upper")
    if groups is not None:
        none = _grouped(GroupCounts.of(np.zeros(n), groups), confidence, kinds)
        table = [
            _grouped(GroupCounts.of((y == i) & (predicted == j), groups), confidence, kinds)
            if count
            else none
            for i, j, count in zip(true, given, errors, strict=True)
        ]
        low, upper, joint = np.array(table).reshape(-1, 3).T
    frame = pd.DataFrame(
        {
            "true": [classes[int(i)] for i in true],
            "predicted": [classes[int(i)] for i in given],
            "count": errors,
            "pmi": errors / n,
            "low": low,
            "upper": upper,
            "upper_joint": joint,
        }
    )
    return frame.sort_values("count", ascending=False, kind="stable").reset_index(drop=True)


def _grouped(counts: GroupCounts, confidence: float, kinds: int) -> tuple[float, float, float]:
    """Lower, upper and joint upper bound of one kind of mistake."""
    tail = 1.0 - confidence
    low = 1.0 - upper_share(counts.swapped(), tail) if counts.hits.any() else 0.0
    return min(low, counts.share), upper_share(counts, tail), upper_share(counts, tail / kinds)
