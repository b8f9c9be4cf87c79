"""How different the samples of a pair are from each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.ambiguity.ambiguous_set import AmbiguousSet
from fireassay.core.errors import DataError
from fireassay.core.lazy_modules import pd

_MOST_ROWS = 1000


def diversity(amb: AmbiguousSet) -> pd.DataFrame:
    """Per pair: Euclidean distances of samples to their nearest neighbour, and to each other.

    Compare a set drawn with ``weighted=True`` with one drawn uniformly: weights are worth it if
    neighbours lie further apart. At most 1,000 samples of a pair are compared.

    Parameters
    ----------
    amb
        The set.

    Returns
    -------
    DataFrame
        first, second, n, nearest (mean distance to the nearest other sample), pairwise (mean
        distance of two samples), duplicates (samples with an equal one).

    Raises
    ------
    DataError
        If no pair has two samples.

    >>> from fireassay.ambiguity import AmbiguityGenerator
    >>> from fireassay.data import digits
    >>> data = digits()
    >>> amb = AmbiguityGenerator([(3, 8)], tries=1).fit(data.X, data.y).sample(40)
    >>> diversity(amb)[["first", "second", "n", "duplicates"]].values.tolist()
    [[3, 8, 40, 0]]
    """
    rows = []
    for first, second in amb.unique_pairs:
        own = amb.of_pair(first, second)[:_MOST_ROWS]
        if len(own) < 2:
            continue
        nearest, pairwise = _distances(amb.X[own])
        rows.append(
            {
                "first": first,
                "second": second,
                "n": len(own),
                "nearest": float(nearest.mean()),
                "pairwise": pairwise,
                "duplicates": int((nearest == 0.0).sum()),
            }
        )
    if not rows:
        raise DataError("Diversity needs at least two samples of a pair.", got="one each")
    return pd.DataFrame(rows)


def _distances(X: NDArray[Any]) -> tuple[NDArray[np.float64], float]:
    from scipy.spatial.distance import pdist, squareform

    apart = pdist(X.reshape(len(X), -1).astype(np.float64))
    square = squareform(apart)
    np.fill_diagonal(square, np.inf)
    return square.min(axis=1), float(apart.mean())
