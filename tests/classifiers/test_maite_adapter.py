"""MAITE models and data sets, told apart from detectors."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import fireassay as fa
from fireassay.classifiers import maite_arrays
from fireassay.classifiers.backends.maite import channels_first
from fireassay.core import DataError, ModelError

WEIGHTS = np.random.default_rng(0).normal(size=(3 * 4 * 5, 2))
IMAGES = np.random.default_rng(1).random((7, 4, 5, 3))


class Linear:
    metadata: ClassVar = {"id": "linear", "index2label": {0: "cat", 1: "dog"}}

    def __call__(self, batch: Any) -> Any:
        assert all(image.shape == (3, 4, 5) for image in batch)
        return list(np.stack([np.asarray(image).ravel() for image in batch]) @ WEIGHTS)


@dataclass
class Boxes:
    boxes: Any
    labels: Any
    scores: Any


class Detector:
    metadata: ClassVar = {"id": "finder"}

    def __call__(self, batch: Any) -> Any:
        return [Boxes(np.zeros((1, 4)), [0], [1.0]) for _ in batch]


class Images:
    metadata: ClassVar = {"id": "pets", "index2label": {0: "cat", 1: "dog"}}

    def __init__(self, targets: Any) -> None:
        self.targets = targets

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, index: int) -> Any:
        return np.moveaxis(IMAGES[index], -1, 0), self.targets[index], {"id": f"p{index}"}


def test_images_reach_the_model_channels_first_and_names_come_from_its_metadata() -> None:
    model = fa.as_classifier(Linear(), output="logits")
    assert model.classes == ("cat", "dog")
    logits = np.moveaxis(IMAGES, -1, 1).reshape(7, -1) @ WEIGHTS
    np.testing.assert_array_equal(model.predict(IMAGES) == "dog", logits.argmax(1) == 1)
    first = np.moveaxis(IMAGES, -1, 1)
    np.testing.assert_array_equal(model.predict_proba(first), model.predict_proba(IMAGES))
    assert model.queries == 21
    assert len(model.sha256) == 64


def test_detectors_and_wrong_shapes_are_refused() -> None:
    with pytest.raises(ModelError, match="object detector"):
        fa.as_classifier(Detector()).predict_proba(IMAGES)
    with pytest.raises(DataError, match="images"):
        fa.as_classifier(Linear(), output="logits").predict_proba(IMAGES.reshape(7, -1))


def test_data_sets_become_arrays() -> None:
    read = maite_arrays(Images(list(np.eye(2)[[0, 1, 1, 0, 0, 1, 0]])))
    np.testing.assert_allclose(read.X, IMAGES)
    assert read.y.tolist() == [0, 1, 1, 0, 0, 1, 0]
    assert read.ids[:2] == ("p0", "p1")
    assert read.class_names == ("cat", "dog")
    with pytest.raises(DataError, match="object-detection"):
        maite_arrays(Images([Boxes([], [], [])]))
    with pytest.raises(DataError, match="at least one row"):
        maite_arrays(Images([]))


@pytest.mark.extras
def test_the_adapters_fit_maites_own_protocols() -> None:
    protocols = pytest.importorskip("maite.protocols.image_classification")
    assert isinstance(Linear(), protocols.Model)
    assert isinstance(Images([np.eye(2)[0]]), protocols.Dataset)


def test_images_get_their_channels_first():
    assert channels_first(np.zeros((2, 8, 9, 3))).shape == (2, 3, 8, 9)
    assert channels_first(np.zeros((2, 8, 8))).shape == (2, 1, 8, 8)
