"""The AUC when rows come in clusters: several windows of one patient, frames of one video."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from fireassay.core.errors import DataError
from fireassay.core.validation import check_labels
from fireassay.statistics.mann_whitney import MannWhitney
from fireassay.statistics.ranks import average_ranks
from fireassay.statistics.samples import check_confidence, check_positive, check_sample


def clustered_auc(
    scores: ArrayLike, positive: ArrayLike, clusters: ArrayLike, confidence: float = 0.95
) -> MannWhitney:
    """Mann-Whitney AUC whose interval and test count clusters, not rows.

    Parameters
    ----------
    scores
        Finite scores, larger meaning more positive.
    positive
        True or False per score; both must occur.
    clusters
        A cluster label per row; at least three clusters.
    confidence
        In (0, 1).

    Returns
    -------
    MannWhitney
        The p-value is two-sided for AUC = 1/2.

    Raises
    ------
    DataError
        For one class only, fewer than three clusters, NaN or different lengths.

    Notes
    -----
    The variance adds up the influence of all rows of a cluster before squaring, in the manner of
    Obuchowski (1997); test and interval use Student's t with one degree of freedom less than there
    are clusters. With every row its own cluster this is DeLong's variance up to a factor near 1.

    >>> found = clustered_auc([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1], [0, 0, 1, 1, 2, 2])
    >>> round(found.auc, 3)
    0.889
    """
    check_confidence(confidence)
    sample = check_sample(scores, "scores", min_rows=2)
    marks = check_positive(positive, len(sample))
    labels = check_labels(clusters, name="clusters", n=len(sample))
    _, member = np.unique(labels, return_inverse=True)
    member = member.ravel()
    n_clusters = int(member.max()) + 1
    if n_clusters < 3:
        raise DataError(
            "A clustered AUC needs at least three clusters.",
            got=str(n_clusters),
            do="Collect more patients or devices; more rows of the same ones do not help.",
        )
    n_positive = int(marks.sum())
    n_negative = len(sample) - n_positive
    together = average_ranks(sample)
    below = (together[marks] - average_ranks(sample[marks])) / n_negative
    above = 1.0 - (together[~marks] - average_ranks(sample[~marks])) / n_positive
    auc = float(below.mean())
    influence = np.empty(len(sample))
    influence[marks] = (below - auc) / n_positive
    influence[~marks] = (above - auc) / n_negative
    totals = np.bincount(member, weights=influence, minlength=n_clusters)
    error = math.sqrt(n_clusters / (n_clusters - 1) * float(totals @ totals))
    if error <= 1e-15:
        # Perfect separation in every cluster, or constant scores: no spread to learn from.
        return MannWhitney(auc, 0.0, 1.0, 1.0, n_positive, n_negative)
    half = -float(stdtrit(n_clusters - 1, (1.0 - confidence) / 2.0)) * error
    p_value = float(2.0 * stdtr(n_clusters - 1, -abs(auc - 0.5) / error))
    low, high = max(0.0, auc - half), min(1.0, auc + half)
    return MannWhitney(auc, low, high, p_value, n_positive, n_negative)
