"""Two classes on the unit square, with everything known: profile, boundary, true error rate."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import special
from fireassay.core.seeds import generator
from fireassay.core.validation import check_features, check_integer
from fireassay.data.dataset import DataSet

# Three clouds, each a product of normals cut off at the borders: weight, centre, spread.
_WEIGHTS = np.array([0.5, 0.3, 0.2])
_CENTRES = np.array([[0.32, 0.50], [0.55, 0.55], [0.68, 0.66]])
_SPREADS = np.array([[0.12, 0.13], [0.15, 0.16], [0.14, 0.15]])


def unit_square(n: int = 5000, seed: int = 0) -> DataSet:
    """Points of a dense profile on [0, 1]², labelled by a smooth curved boundary.

    The truth is known everywhere: `unit_square_label` gives the label of any point,
    `unit_square_density` the profile, and `unit_square_pmi` the exact probability that a
    classifier is wrong on the next point. It has the shape of the running example in the
    reliability paper: one dense hill of points across a wavy border.

    Args:
        n: Number of points.
        seed: Of the points.

    >>> data = unit_square(200, seed=1)
    >>> data.X.shape, data.classes
    ((200, 2), (0, 1))
    """
    check_integer(n, "n", low=1)
    rng = generator(seed, "unit_square")
    cloud = rng.choice(len(_WEIGHTS), size=n, p=_WEIGHTS)
    centre, spread = _CENTRES[cloud], _SPREADS[cloud]
    low, high = special.ndtr(-centre / spread), special.ndtr((1 - centre) / spread)
    X = np.clip(special.ndtri(rng.uniform(low, high)) * spread + centre, 0.0, 1.0)
    return DataSet(
        X,
        unit_square_label(X),
        class_names=("above", "below"),
        feature_names=("x1", "x2"),
        name="unit_square",
    )


def unit_square_label(X: ArrayLike) -> NDArray[np.int64]:
    """The true class: 1 on and below the boundary, 0 above it.

    Args:
        X: Points, shape (n, 2).

    >>> unit_square_label([[0.5, 0.9], [0.5, 0.1]])
    array([0, 1])
    """
    points = _points(X)
    return np.asarray(points[:, 1] <= _boundary(points[:, 0]), dtype=np.int64)


def unit_square_density(X: ArrayLike) -> FloatArray:
    """The density of the profile; it integrates to one over the square and is zero outside.

    Args:
        X: Points, shape (n, 2).

    >>> unit_square_density([[2.0, 2.0]])
    array([0.])
    """
    points = _points(X)
    density = np.zeros(len(points))
    for weight, centre, spread in zip(_WEIGHTS, _CENTRES, _SPREADS, strict=True):
        inside = special.ndtr((1 - centre) / spread) - special.ndtr(-centre / spread)
        bell = np.exp(-0.5 * ((points - centre) / spread) ** 2) / (spread * np.sqrt(2 * np.pi))
        density += weight * np.prod(bell / inside, axis=1)
    return np.where(((points >= 0) & (points <= 1)).all(axis=1), density, 0.0)


def unit_square_pmi(predict: Callable[[FloatArray], ArrayLike], side: int = 1000) -> float:
    """The true probability of a misclassification on the next point of the profile.

    Args:
        predict: From points ``(n, 2)`` to labels 0 or 1.
        side: The integral is taken over ``side × side`` midpoints; the error falls with 1 / side.

    >>> unit_square_pmi(unit_square_label)
    0.0
    >>> round(unit_square_pmi(lambda X: np.zeros(len(X)), side=200), 2)
    0.38
    """
    check_integer(side, "side", low=1)
    middles = (np.arange(side) + 0.5) / side
    wrong = 0.0
    for rows in np.array_split(middles, max(1, side * side // 1_000_000)):
        points = np.stack(np.meshgrid(rows, middles, indexing="ij"), axis=-1).reshape(-1, 2)
        labels = np.asarray(predict(points)).ravel()
        wrong += float(unit_square_density(points) @ (labels != unit_square_label(points)))
    return wrong / side**2


def _boundary(x: FloatArray) -> FloatArray:
    return 0.52 + 0.22 * (x - 0.5) + 0.13 * np.sin(3.2 * np.pi * x + 0.6)


def _points(X: ArrayLike) -> FloatArray:
    points = check_features(X).astype(np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise DataError("Points on the unit square have shape (n, 2).", got=f"{points.shape}")
    return points
