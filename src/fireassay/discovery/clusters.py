"""Groups of similar predictions: k-means on confidence, then on position inside each group."""

import numpy as np
from numpy.typing import NDArray

from fireassay.core.seeds import derived_seed

_FEWEST, _MOST = 2, 5


def nested_clusters(
    confidence: NDArray[np.float64], features: NDArray[np.float64], seed: int
) -> NDArray[np.int64]:
    """Cluster numbers 0 … k−1; the number of groups at each level is chosen by the elbow."""
    outer = elbow_clusters(confidence[:, None], derived_seed(seed, "clusters", "confidence"))
    labels = np.zeros(len(confidence), dtype=np.int64)
    used = 0
    for group in range(outer.max() + 1):
        rows = np.flatnonzero(outer == group)
        inner = elbow_clusters(features[rows], derived_seed(seed, "clusters", group))
        labels[rows] = used + inner
        used += inner.max() + 1
    return labels


def elbow_clusters(points: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
    """k-means with the k in 2 … 5 farthest below the chord of the inertia curve."""
    from sklearn.cluster import KMeans

    different = len(np.unique(points, axis=0))
    if different < _FEWEST:
        return np.zeros(len(points), dtype=np.int64)
    counts = range(_FEWEST, min(_MOST, different) + 1)
    fits = [KMeans(k, n_init=2, random_state=seed % 2**31).fit(points) for k in counts]
    one = np.square(points - points.mean(axis=0)).sum()
    inertia = np.array([one, *(fit.inertia_ for fit in fits)])
    chord = np.linspace(inertia[0], inertia[-1], len(inertia))
    best = int(np.argmax((chord - inertia)[1:]))
    return np.asarray(fits[best].labels_, dtype=np.int64)
