"""Average ranks."""

import numpy as np

from fireassay.statistics.samples import FloatVector


def average_ranks(values: FloatVector) -> FloatVector:
    """Ranks 1 … n; equal values share the mean of the ranks they take.

    Parameters
    ----------
    values
        One per row.

    >>> average_ranks(np.array([10.0, 30.0, 10.0])).tolist()
    [1.5, 3.0, 1.5]
    """
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: FloatVector = (last - (counts - 1) / 2.0)[inverse.ravel()]
    return ranks
