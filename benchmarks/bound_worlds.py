"""Worlds with a known error probability, to judge bounds on it by. Used by bound_coverage.py."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr
from sklearn.tree import DecisionTreeClassifier

from fireassay import as_classifier


@dataclass(frozen=True)
class World:
    """Inputs, labels, a trained model and its true error probability."""

    model: Any
    draw: Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]
    pmi: float
    risk: Callable[[np.ndarray], np.ndarray] | None = None


def curved(dims: int, noise: float) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """Uniform inputs, a curved boundary in the first two, and flipped labels near it."""

    def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X = rng.random((n, dims))
        height = X[:, 1] if dims > 1 else 0.0
        gap = X[:, 0] - 0.5 - 0.15 * np.sin(6 * height)
        flip = rng.random(n) < noise * np.exp(-np.abs(gap) * 8)
        return X, ((gap > 0) ^ flip).astype(np.int64)

    return draw


def trained_world(dims: int, rows: int, noise: float, rng: np.random.Generator) -> World:
    return trained_on(curved(dims, noise), rows, rng)


def trained_on(draw: Callable[..., Any], rows: int, rng: np.random.Generator) -> World:
    X, y = draw(rows, rng)
    state = int(rng.integers(2**31))
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=state).fit(X, y)
    X, y = draw(60_000, rng)
    return World(tree, draw, float((tree.predict(X) != y).mean()))


def nearly_perfect(dims: int) -> World:
    """A threshold that is off by 0.0005: with 200 labels mostly no error is seen."""

    def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X = rng.random((n, dims))
        return X, (X[:, 0] > 0.5).astype(np.int64)

    def probabilities(X: np.ndarray) -> np.ndarray:
        p = ndtr((X[:, 0] - 0.5005) * 20)
        return np.column_stack([1 - p, p])

    return World(as_classifier(probabilities, classes=[0, 1]), draw, 0.0005)


def half_explained() -> World:
    """A tenth of the inputs is pure chance, and the surrogate knows which."""

    def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X = rng.random((n, 2))
        y = (X[:, 0] > 0.5).astype(np.int64)
        return X, np.where(X[:, 1] < 0.1, rng.integers(0, 2, n), y)

    def probabilities(X: np.ndarray) -> np.ndarray:
        p = (X[:, 0] > 0.5) * 0.98 + 0.01
        return np.column_stack([1 - p, p])

    model = as_classifier(probabilities, classes=[0, 1])
    return World(model, draw, 0.05, lambda X: 0.5 * (X[:, 1] < 0.1))


def lopsided(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Uniform inputs whose labels are noisy at small x₀ only."""
    X = rng.random((n, 2))
    flip = rng.random(n) < 0.4 * (1 - X[:, 0]) ** 2
    return X, ((X[:, 1] > 0.5 + 0.15 * np.sin(6 * X[:, 0])) ^ flip).astype(np.int64)


def shifted_labels(
    world: World, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels with density 0.2 + 1.6 x₀ instead of 1: errors at small x₀ are seen too rarely."""
    X, y = world.draw(8 * n, rng)
    density = 0.2 + 1.6 * X[:, 0]
    kept = np.flatnonzero(rng.random(len(X)) < density / 1.8)[:n]
    return X[kept], y[kept], 1 / density[kept]


CONFIGURATIONS: dict[str, tuple[Callable[[np.random.Generator], World], int]] = {
    "2-D easy": (lambda rng: trained_world(2, 3000, 0.0, rng), 400),
    "2-D hard": (lambda rng: trained_world(2, 150, 0.4, rng), 400),
    "5-D easy": (lambda rng: trained_world(5, 1500, 0.0, rng), 200),
    "5-D hard": (lambda rng: trained_world(5, 150, 0.4, rng), 400),
    "20-D easy": (lambda rng: trained_world(20, 1500, 0.0, rng), 400),
    "20-D hard": (lambda rng: trained_world(20, 150, 0.4, rng), 200),
    "mostly 0 errors": (lambda _: nearly_perfect(2), 200),
    "surrogate explains half": (lambda _: half_explained(), 1000),
}
