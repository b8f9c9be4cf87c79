"""Data that is always at hand, and the benchmark sets of a data folder."""

from pathlib import Path

import numpy as np

from fireassay.core.errors import DataError
from fireassay.core.seeds import generator
from fireassay.core.validation import check_choice, check_integer, check_real
from fireassay.data.cifar import place_of
from fireassay.data.dataset import DataSet
from fireassay.data.idx import load_idx

_GARMENTS = (
    "T-shirt",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)


def digits() -> DataSet:
    """Handwritten digits of scikit-learn: 1,797 images of 8 × 8 in [0, 1], ten classes.

    >>> digits().X.shape
    (1797, 8, 8)
    """
    from sklearn.datasets import load_digits

    bunch = load_digits()
    names = tuple(str(digit) for digit in range(10))
    images = (bunch.images / 16.0).astype(np.float32)
    return DataSet(images, bunch.target, class_names=names, name="digits")


def breast_cancer() -> DataSet:
    """Breast cancer Wisconsin of scikit-learn: 569 rows of 30 measurements, two classes.

    >>> data = breast_cancer()
    >>> data.X.shape, data.class_names
    ((569, 30), ('malignant', 'benign'))
    """
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    return DataSet(
        bunch.data,
        bunch.target,
        class_names=tuple(str(name) for name in bunch.target_names),
        feature_names=tuple(str(name) for name in bunch.feature_names),
        name="breast_cancer",
    )


def two_moons(n: int = 1000, noise: float = 0.2, seed: int = 0) -> DataSet:
    """Two interleaved half circles of radius 1 with Gaussian noise.

    Args:
        n: Rows, at least 2; half of them (rounded down) are of class 1.
        noise: Standard deviation of the noise on both coordinates.
        seed: Same seed, same rows.

    >>> moons = two_moons(100, seed=3)
    >>> moons.X.shape, int(moons.y.sum())
    ((100, 2), 50)
    """
    check_integer(n, "n", low=2)
    check_real(noise, "noise", low=0.0, inclusive="low")
    rng = generator(seed, "two_moons")
    y = rng.permutation(np.arange(n) % 2)
    angle = rng.uniform(0.0, np.pi, n)
    upper = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    lower = np.stack([1.0 - np.cos(angle), 0.5 - np.sin(angle)], axis=1)
    X = np.where(y[:, None] == 0, upper, lower) + rng.normal(0.0, noise, (n, 2))
    return DataSet(X, y, class_names=("upper", "lower"), feature_names=("x1", "x2"), name="moons")


def mnist(part: str = "test", folder: str | Path | None = None) -> DataSet:
    """MNIST, ``part`` "train" (60,000) or "test" (10,000), from ``folder``/mnist.

    ``folder`` defaults to the environment variable FIREASSAY_DATA; nothing is downloaded.

    Args:
        part: ``"train"`` or ``"test"``.
        folder: The one with ``mnist`` in it.
    """
    return _benchmark("mnist", part, folder, tuple(str(digit) for digit in range(10)))


def fashion_mnist(part: str = "test", folder: str | Path | None = None) -> DataSet:
    """Fashion-MNIST, ``part`` "train" (60,000) or "test" (10,000), from ``folder``/fashion-mnist.

    ``folder`` defaults to the environment variable FIREASSAY_DATA; nothing is downloaded.

    Args:
        part: ``"train"`` or ``"test"``.
        folder: The one with ``fashion-mnist`` in it.
    """
    return _benchmark("fashion-mnist", part, folder, _GARMENTS)


def _benchmark(
    name: str, part: str, folder: str | Path | None, class_names: tuple[str, ...]
) -> DataSet:
    check_choice(part, "part", ("train", "test"))
    stem = {"train": "train", "test": "t10k"}[part] + "-images-idx3-ubyte"
    where = place_of(name, folder, "idx files")
    candidates = [where / f"{stem}{ending}" for ending in ("", ".gz")]
    for path in candidates:
        if path.exists():
            return load_idx(path, class_names=class_names, name=f"{name} {part}")
    raise DataError(
        f"{name} must be in the data folder as {candidates[1]} (or without .gz).",
        got="no such file",
        do="Put the four idx files of the original distribution there.",
    )
