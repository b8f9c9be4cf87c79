"""The threshold on a probability that costs least on given rows."""

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.validation import check_lengths
from fireassay.statistics.samples import check_sample


def cheapest_threshold(
    probability: ArrayLike, cost_above: ArrayLike, cost_below: ArrayLike
) -> float:
    """From which probability on to answer a class, so that the rows cost least in all.

    It is fitted to these rows: what it costs is measured on others.

    Parameters
    ----------
    probability
        Of the class, for each row.
    cost_above
        For each row what it costs to answer the class.
    cost_below
        For each row what it costs to answer what would be answered otherwise.

    Returns
    -------
    float
        In (0, 1), half way between the probabilities of two rows; the largest of those that cost
        equally little.

    >>> cheapest_threshold([0.1, 0.3, 0.4, 0.9], [1, 0, 1, 0], [0, 50, 0, 50])
    0.2
    """
    p = check_sample(probability, "probability")
    above, below = check_sample(cost_above, "cost_above"), check_sample(cost_below, "cost_below")
    check_lengths(probability=len(p), cost_above=len(above), cost_below=len(below))
    values, place = np.unique(p, return_inverse=True)
    # From the k-th value on the class is answered: costs below of earlier ones, above of the rest.
    gain = np.bincount(place.ravel(), weights=below - above, minlength=len(values))
    totals = above.sum() + np.concatenate([[0.0], np.cumsum(gain)])
    edges = np.concatenate([[0.0], values, [1.0]])
    candidates = (edges[1:] + edges[:-1]) / 2.0
    inside = (candidates > 0.0) & (candidates < 1.0)
    best = totals[inside].min()
    cheap = np.flatnonzero(inside & (totals <= best + 1e-9 * max(1.0, abs(best))))
    return float(candidates[cheap[-1]])
