"""Top-1, top-2 and top-pair accuracy, entropy, and diversity of generated samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fireassay.ambiguity.ambiguous_set import AmbiguousSet
from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import pd
from fireassay.core.validation import check_lengths, check_probabilities
from fireassay.core.words import percent


def top_pair_accuracy(soft_labels: ArrayLike, probabilities: ArrayLike) -> float:
    """Share of inputs whose two most probable predicted classes are the two of the label.

    Args:
        soft_labels: Class probabilities ``(n, k)`` of the labels. In each row two classes must be
            strictly more probable than all others.
        probabilities: Predicted class probabilities ``(n, k)``; of equal ones the first counts as
            higher.

    Raises:
        DataError: If a label has no two leading classes: then the metric is not calculable.

    >>> top_pair_accuracy([[0, 0.4, 0.6], [0.5, 0.5, 0]], [[0.1, 0.6, 0.3], [0.4, 0.2, 0.4]])
    0.5
    """
    return float(top_pair_hits(*_checked(soft_labels, probabilities)).mean())


def top_pair_hits(soft: FloatArray, predicted: FloatArray) -> BoolArray:
    """Which rows' predicted top pair is the label's."""
    lacking = ~has_top_pair(soft)
    if lacking.any():
        raise DataError(
            "Top-pair accuracy needs two leading classes in every label.",
            got=f"{percent(lacking.mean())} of the labels without, first in row "
            f"{int(lacking.argmax())}",
            do="Leave these rows out; their share is part of the answer.",
        )
    label_pair = np.sort(top_columns(soft, 2), axis=1)
    predicted_pair = np.sort(top_columns(predicted, 2), axis=1)
    return np.asarray((label_pair == predicted_pair).all(axis=1))


def has_top_pair(soft: FloatArray) -> BoolArray:
    """Which labels have two classes that are strictly more probable than all others."""
    if soft.shape[1] == 2:
        return np.asarray((soft > 0.0).all(axis=1))
    ordered = np.sort(soft, axis=1)
    return np.asarray(ordered[:, -2] > ordered[:, -3])


def top_columns(probabilities: FloatArray, k: int) -> IntArray:
    """The k most probable columns of each row, the first ones on ties."""
    return np.argsort(-probabilities, axis=1, kind="stable")[:, :k]


def top_k_hits(predicted: FloatArray, labels: IntArray, k: int) -> BoolArray:
    """Which rows have their label among the k most probable classes."""
    return np.asarray((top_columns(predicted, k) == labels[:, None]).any(axis=1))


def expected_top_k(predicted: FloatArray, soft: FloatArray, k: int) -> FloatArray:
    """Each row's chance that a label drawn from its soft label is among the top k."""
    return np.asarray(np.take_along_axis(soft, top_columns(predicted, k), axis=1).sum(axis=1))


def _checked(soft_labels: ArrayLike, probabilities: ArrayLike) -> tuple[FloatArray, FloatArray]:
    soft = check_probabilities(soft_labels, name="soft_labels")
    predicted = check_probabilities(probabilities, n_classes=soft.shape[1])
    check_lengths(soft_labels=len(soft), probabilities=len(predicted))
    if len(soft) == 0:
        raise DataError("Top-pair accuracy needs at least one row.", got="0 rows")
    return soft, predicted


_MOST_ROWS = 1000


def diversity(amb: AmbiguousSet) -> pd.DataFrame:
    """Per pair: Euclidean distances of samples to their nearest neighbour, and to each other.

    Compare a set drawn with ``weighted=True`` with one drawn uniformly: weights are worth it if
    neighbours lie further apart. At most 1,000 samples of a pair are compared.

    Args:
        amb: The set.

    Returns:
        DataFrame: first, second, n, nearest (mean distance to the nearest other sample), pairwise
            (mean distance of two samples), duplicates (samples with an equal one).

    Raises:
        DataError: If no pair has two samples.

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
        row = {"first": first, "second": second, "n": len(own), "nearest": float(nearest.mean())}
        rows.append({**row, "pairwise": pairwise, "duplicates": int((nearest == 0.0).sum())})
    if not rows:
        raise DataError("Diversity needs at least two samples of a pair.", got="one each")
    return pd.DataFrame(rows)


def _distances(X: AnyArray) -> tuple[FloatArray, float]:
    from scipy.spatial.distance import pdist, squareform

    apart = pdist(X.reshape(len(X), -1).astype(np.float64))
    square = squareform(apart)
    np.fill_diagonal(square, np.inf)
    return square.min(axis=1), float(apart.mean())
