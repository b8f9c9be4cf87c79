"""Groups of similar predictions: k-means on confidence, then on position inside each group."""

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.seeds import derived_seed, generator

_FEWEST, _MOST = 2, 5
_STARTS, _MOST_ROUNDS = 3, 100


def nested_clusters(confidence: FloatArray, features: FloatArray, seed: int) -> IntArray:
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


def elbow_clusters(points: FloatArray, seed: int) -> IntArray:
    """k-means with the k in 2 … 5 farthest below the chord of the inertia curve."""
    different = len(np.unique(points, axis=0))
    if different < _FEWEST:
        return np.zeros(len(points), dtype=np.int64)
    counts = range(_FEWEST, min(_MOST, different) + 1)
    fits = [_k_means(points, k, generator(seed, "k-means", k)) for k in counts]
    one = np.square(points - points.mean(axis=0)).sum()
    inertia = np.array([one, *(inertia for _, inertia in fits)])
    chord = np.linspace(inertia[0], inertia[-1], len(inertia))
    return fits[int(np.argmax((chord - inertia)[1:]))][0]


def _k_means(points: FloatArray, k: int, rng: np.random.Generator) -> tuple[IntArray, float]:
    """Labels and inertia of the best of a few k-means++ starts (small k, few dimensions)."""
    best_labels, best = np.zeros(len(points), dtype=np.int64), np.inf
    for _ in range(_STARTS):
        centres = _spread_out(points, k, rng)
        labels = np.full(len(points), -1, dtype=np.int64)
        for _ in range(_MOST_ROUNDS):
            distances = _squared_distances(points, centres)
            nearest = distances.argmin(axis=1)
            if (nearest == labels).all():
                break
            labels = nearest
            for c in np.unique(labels):
                centres[c] = points[labels == c].mean(axis=0)
        inertia = float(_squared_distances(points, centres).min(axis=1).sum())
        if inertia < best:
            best_labels, best = labels, inertia
    return np.unique(best_labels, return_inverse=True)[1].astype(np.int64), best


def _spread_out(points: FloatArray, k: int, rng: np.random.Generator) -> FloatArray:
    """k-means++: each further centre with a chance in proportion to its squared distance."""
    centres = [points[rng.integers(len(points))]]
    for _ in range(k - 1):
        far = _squared_distances(points, np.asarray(centres)).min(axis=1)
        total = far.sum()
        chances = far / total if total > 0 else np.full(len(points), 1 / len(points))
        centres.append(points[rng.choice(len(points), p=chances)])
    return np.array(centres, dtype=np.float64)


def _squared_distances(points: FloatArray, centres: FloatArray) -> FloatArray:
    return np.stack([np.square(points - centre).sum(axis=1) for centre in centres], axis=1)
