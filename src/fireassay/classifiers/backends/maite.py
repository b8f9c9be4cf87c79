"""MAITE image-classification models and data sets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.classifiers.backends.torch import accepts as is_module
from fireassay.classifiers.backends.torch_gradients import module_fingerprint
from fireassay.classifiers.base import BaseClassifier
from fireassay.classifiers.declared import SUPPORTED
from fireassay.classifiers.fingerprint import fingerprint
from fireassay.core.errors import DataError, ModelError

_CHANNELS = (1, 3, 4)


@dataclass(frozen=True)
class MaiteArrays:
    """A MAITE data set as arrays.

    Attributes:
        X, y: Images (n, height, width, channels) and class indices.
        ids: Of the images.
        class_names: From the metadata's ``index2label``, if it has one.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    ids: tuple[str, ...]
    class_names: tuple[str, ...] | None


def accepts(obj: Any) -> bool:
    """Whether an object follows the MAITE model protocol: callable, with metadata and an id."""
    metadata = getattr(obj, "metadata", None)
    return callable(obj) and isinstance(metadata, Mapping) and "id" in metadata


class MaiteClassifier(BaseClassifier):
    """A MAITE model of images, channels first or last; class names from ``index2label``."""

    def __init__(self, model: Any, **options: Any) -> None:
        if options.get("classes") is None:
            options["classes"] = _names(model.metadata)
        super().__init__(**options)
        self.model = model

    def _raw(self, block: NDArray[Any]) -> Any:
        targets = list(self.model(list(channels_first(block))))
        if targets and hasattr(targets[0], "boxes"):
            raise ModelError(
                SUPPORTED,
                got=f"{self._described()}, an object detector",
                do="Pass a MAITE image-classification model.",
            )
        if len(targets) != len(block):
            raise ModelError(
                f"A MAITE model must return one target per image ({len(block)} sent).",
                got=f"{len(targets)}",
            )
        return np.stack([_target(target) for target in targets])

    def _content_hash(self) -> str:
        return module_fingerprint(self.model) if is_module(self.model) else fingerprint(self.model)

    def _described(self) -> str:
        return repr(str(self.model.metadata["id"]))


adapt = MaiteClassifier


def maite_arrays(dataset: Any) -> MaiteArrays:
    """A MAITE image-classification data set as arrays.

    Args:
        dataset: ``dataset[i]`` is ``(image, target, metadata)``: an image (channels, height,
            width), a score per class, and metadata with an ``"id"``.

    Raises:
        DataError: For an object-detection data set, or images of different sizes.

    >>> one = (np.zeros((3, 8, 8)), np.array([0.0, 1.0]), {"id": "scan-7"})
    >>> found = maite_arrays([one])
    >>> found.X.shape, found.y.tolist(), found.ids
    ((1, 8, 8, 3), [1], ('scan-7',))
    """
    images, labels, ids = [], [], []
    for index in range(len(dataset)):
        image, target, metadata = dataset[index]
        if hasattr(target, "boxes"):
            raise DataError(
                "fireassay reads MAITE image-classification data sets.",
                got="an object-detection data set",
            )
        images.append(np.asarray(image, dtype=np.float64))
        labels.append(int(np.argmax(_target(target))))
        ids.append(str(metadata["id"]))
    if not images:
        raise DataError("A data set must have at least one row.", got="0")
    shapes = {image.shape for image in images}
    if len(shapes) > 1 or images[0].ndim != 3:
        raise DataError(
            "The images of a data set must have one shape (channels, height, width).",
            got=", ".join(map(str, sorted(shapes)[:4])),
        )
    return MaiteArrays(
        np.moveaxis(np.stack(images), 1, -1),
        np.array(labels, dtype=np.int64),
        tuple(ids),
        _names(getattr(dataset, "metadata", {})),
    )


def channels_first(block: NDArray[Any]) -> NDArray[Any]:
    """Images as ``(n, channels, height, width)``."""
    if block.ndim == 3:
        return block[:, None]
    if block.ndim != 4:
        raise DataError(
            "A MAITE model takes images: (n, height, width) or (n, height, width, channels).",
            got=f"shape {block.shape}",
        )
    if block.shape[-1] not in _CHANNELS and block.shape[1] in _CHANNELS:
        return block
    return np.ascontiguousarray(np.moveaxis(block, -1, 1))


def _target(target: Any) -> NDArray[Any]:
    return np.asarray(target.detach().cpu() if hasattr(target, "detach") else target)


def _names(metadata: Any) -> tuple[str, ...] | None:
    names = metadata.get("index2label") if isinstance(metadata, Mapping) else None
    if not names or sorted(names) != list(range(len(names))):
        return None
    return tuple(str(names[index]) for index in range(len(names)))
