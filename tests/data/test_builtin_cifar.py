import json

import numpy as np
import pytest
from PIL import Image

from fireassay.core.errors import DataError
from fireassay.data import cifar10, cifar100


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 256, (10, 32, 32, 3), dtype=np.uint8)


def planes(images):
    return images.transpose(0, 3, 1, 2).reshape(len(images), -1)


def test_binary_files_and_pictures_hold_the_same(images, tmp_path):
    labels = np.arange(10, dtype=np.uint8)
    binary, pictures = tmp_path / "binary" / "cifar10", tmp_path / "pictures" / "cifar10"
    for folder in (binary, pictures):
        folder.mkdir(parents=True)
    for i, rows in enumerate(np.split(np.arange(10), 5), start=1):
        records = np.column_stack([labels[rows], planes(images[rows])])
        records.astype(np.uint8).tofile(binary / f"data_batch_{i}.bin")
        Image.fromarray(images[rows].reshape(2, 1024, 3)).save(pictures / f"data_batch_{i}.png")
    (pictures / "train_lables.json").write_text(json.dumps(labels.tolist()))
    for root in (binary.parent, pictures.parent):
        found = cifar10("train", root)
        np.testing.assert_allclose(found.X, images / 255, atol=1e-6)
        assert found.labels.tolist() == list(range(10))
        assert found.class_names[3] == "cat"


def test_the_fine_classes_of_cifar100_are_read(images, tmp_path):
    (tmp_path / "cifar100").mkdir()
    records = np.column_stack([np.full(10, 4), np.arange(90, 100), planes(images)])
    records.astype(np.uint8).tofile(tmp_path / "cifar100" / "test.bin")
    assert cifar100("test", tmp_path).labels.tolist() == list(range(90, 100))


@pytest.mark.parametrize("load", [cifar10, cifar100])
def test_what_is_missing_is_named(load, tmp_path, monkeypatch):
    monkeypatch.delenv("FIREASSAY_DATA", raising=False)
    with pytest.raises(DataError, match="FIREASSAY_DATA"):
        load("test")
    with pytest.raises(DataError, match="must be in"):
        load("test", tmp_path)


def test_broken_files_are_refused(images, tmp_path):
    folder = tmp_path / "cifar10"
    folder.mkdir()
    (folder / "test_batch.bin").write_bytes(b"x" * 100)
    with pytest.raises(DataError, match="records of 3,073 bytes"):
        cifar10("test", tmp_path)
    (folder / "test_batch.bin").unlink()
    Image.fromarray(images[:2].reshape(2, 1024, 3)).save(folder / "test_batch.png")
    (folder / "test_lables.json").write_text("[1]")
    with pytest.raises(DataError, match="Every image needs a label"):
        cifar10("test", tmp_path)
