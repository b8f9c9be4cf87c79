"""The discovery paper's three mechanisms of confident errors, rebuilt on public images."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.seeds import generator
from fireassay.data import cifar10, fashion_mnist

CAT, DOG = 3, 5
SANDAL, SNEAKER = 5, 7
_DARK = 0.38


@dataclass(frozen=True)
class Task:
    """Images of one mechanism: to learn from, to calibrate on, to search in; 1 is critical.

    Attributes:
        learn, calibrate, search: Images and labels.
        epochs: Of the training.
        data: Which images.
    """

    learn: tuple[NDArray[Any], NDArray[Any]]
    calibrate: tuple[NDArray[Any], NDArray[Any]]
    search: tuple[NDArray[Any], NDArray[Any]]
    epochs: int
    data: str


def bias(seed: int) -> Task:
    """Cats (critical) and dogs; dark cats are missing from what was learnt.

    All 12,000 images are divided anew, half to learn from, as in the paper.
    """
    X, y, kind = _animals()
    dark = (kind == CAT) & (X.mean(axis=(1, 2, 3)) < _DARK)
    order = generator(seed, "bias").permutation(len(X))
    half, rest = order[: len(order) // 2], order[len(order) // 2 :]
    learnt = half[~dark[half]]
    return _task(X, y, learnt, (X[rest], y[rest]), 20, "CIFAR-10 cats and dogs")


def shift(seed: int) -> Task:
    """Cats (critical) and dogs, learnt in colour, searched in grey."""
    X, y, _ = _animals()
    order = generator(seed, "shift").permutation(len(X))
    half, rest = order[: len(order) // 2], order[len(order) // 2 :]
    return _task(X, y, half, (grey(X[rest]), y[rest]), 20, "CIFAR-10 cats and dogs")


def overfitting(seed: int) -> Task:
    """Sandals ("not shoe", critical) and sneakers without boots; 75 epochs."""
    parts = [fashion_mnist(part) for part in ("train", "test")]
    X = np.concatenate([part.X for part in parts]).astype(np.float32)
    kind = np.concatenate([part.labels for part in parts])
    wanted = np.isin(kind, (SANDAL, SNEAKER))
    X, y = X[wanted], (kind[wanted] == SANDAL).astype(np.int64)
    order = generator(seed, "overfitting").permutation(len(X))
    cut = 2 * len(order) // 3
    rest = order[cut:]
    return _task(X, y, order[:cut], (X[rest], y[rest]), 75, "Fashion-MNIST footwear")


MECHANISMS: dict[str, Callable[[int], Task]] = {
    "bias": bias,
    "shift": shift,
    "overfitting": overfitting,
}


def grey(X: NDArray[Any]) -> NDArray[np.float32]:
    """Luminance in all three channels (ITU-R 601), as image libraries convert.

    >>> np.allclose(grey(np.array([[[[1.0, 0.0, 0.0]]]])), 0.299)
    True
    """
    light = np.asarray(X, dtype=np.float32) @ np.array([0.299, 0.587, 0.114], dtype=np.float32)
    return np.repeat(light[..., None], 3, axis=-1)


def _animals() -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
    parts = [cifar10(part) for part in ("train", "test")]
    kinds = np.concatenate([part.labels for part in parts])
    wanted = np.isin(kinds, (CAT, DOG))
    X = np.concatenate([part.X for part in parts])[wanted].astype(np.float32)
    kind = kinds[wanted].astype(np.int64)
    return X, (kind == CAT).astype(np.int64), kind


def _task(
    X: NDArray[Any],
    y: NDArray[Any],
    rows: NDArray[Any],
    search: tuple[NDArray[Any], NDArray[Any]],
    epochs: int,
    data: str,
) -> Task:
    """A tenth of what could be learnt is kept to calibrate on."""
    tenth = len(rows) // 10
    held, learnt = rows[:tenth], rows[tenth:]
    return Task((X[learnt], y[learnt]), (X[held], y[held]), search, epochs, data)
