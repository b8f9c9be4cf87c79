"""How often each kind of mistake happens: red taken for green is not green taken for red."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fireassay.core.arrays import IntArray
from fireassay.statistics.clopper_pearson import clopper_pearson


def confusion_rates(
    y: IntArray, predicted: IntArray, classes: Sequence[Any], confidence: float
) -> pd.DataFrame:
    """The probability per input of each confusion, with its own and a joint upper bound.

    Parameters
    ----------
    y, predicted
        Class indices of labelled rows drawn from the profile.
    confidence
        Of each one-sided bound; ``upper_joint`` bounds all kinds at once (Bonferroni).

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
