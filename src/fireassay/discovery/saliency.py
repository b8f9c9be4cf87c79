"""Where in an image does a black box look? Cover patches and see how the answer changes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.classifiers import as_classifier
from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError
from fireassay.core.sample import Sample, png_uri, signed_png_uri
from fireassay.core.validation import check_features, check_integer


def occlusion_saliency(
    model: Any,
    images: ArrayLike,
    patch: int | None = None,
    fill: float | None = None,
    class_index: ArrayLike | None = None,
) -> FloatArray:
    """How much covering each part of an image lowers the probability of a class.

    Parameters
    ----------
    images
        Shape (n, height, width) or (n, height, width, channels).
    patch
        Side of the square that is covered; a seventh of the image's side by default. Squares
        overlap by half, and overlapping answers are averaged.
    fill
        What a covered pixel shows; the image's mean by default.
    class_index
        Class positions, one per image; the predicted class by default.
    model
        A `Classifier`, or anything `as_classifier` takes.

    Returns
    -------
    array of shape (n, height, width)
        Positive: the model relies on this part; negative: it speaks against the class. Costs one
        query per square and one for the image.

    >>> left = lambda X: np.column_stack([X[:, :, 0].mean(axis=1), 1 - X[:, :, 0].mean(axis=1)])
    >>> image = np.zeros((1, 4, 4)) + np.array([1.0, 0, 0, 0])
    >>> shown = occlusion_saliency(left, image, patch=2, fill=0.0)[0]
    >>> bool(shown[0, 0] > shown[0, 3])  # it looks at the left column
    True
    """
    inputs = check_features(images, name="images")
    if inputs.ndim not in (3, 4):
        raise DataError(
            "images must have shape (n, height, width) or (n, height, width, channels).",
            got=f"shape {inputs.shape}",
        )
    classifier = as_classifier(model)
    height, width = inputs.shape[1:3]
    side = max(1, round(max(height, width) / 7)) if patch is None else patch
    side = check_integer(side, "patch", low=1, high=min(height, width))
    corners = [(i, j) for i in _starts(height, side) for j in _starts(width, side)]
    maps = np.zeros((len(inputs), height, width))
    for n, image in enumerate(inputs):
        colour = float(image.mean()) if fill is None else float(fill)
        covered = np.repeat(image[None], len(corners) + 1, axis=0)
        for k, (i, j) in enumerate(corners):
            covered[k, i : i + side, j : j + side] = colour
        answers = classifier.predict_proba(covered)
        chosen = int(answers[-1].argmax()) if class_index is None else int(
            np.asarray(class_index).ravel()[n]
        )  # fmt: skip
        stated = answers[:, chosen].astype(np.float64)
        counts = np.zeros((height, width))
        for k, (i, j) in enumerate(corners):
            maps[n, i : i + side, j : j + side] += stated[-1] - stated[k]
            counts[i : i + side, j : j + side] += 1
        maps[n] /= counts
    return maps


def insight_samples(
    model: Any, images: ArrayLike, adversarial: ArrayLike, prototype: ArrayLike
) -> tuple[Sample, ...]:
    """Errors, what the model looks at, the changed images, what it looks at then, a prototype.

    Parameters
    ----------
    model
        A `Classifier`, or anything `as_classifier` takes.
    images, adversarial
        Errors, and what an attack made of them.
    prototype
        The image with the largest adversarial distance of the same class, one per row or one for
        all.

    Returns
    -------
    tuple of Sample
        One per image, each with six pictures.
    """
    before, after = np.asarray(images), np.asarray(adversarial)
    shown = np.broadcast_to(np.asarray(prototype), before.shape)
    relied, then = occlusion_saliency(model, before), occlusion_saliency(model, after)
    return tuple(
        Sample(
            row,
            "an error, and what an attack makes of it",
            pictures={
                "input": png_uri(before[row]),
                "relied on": signed_png_uri(relied[row]),
                "changed": png_uri(after[row]),
                "difference": signed_png_uri(after[row].astype(np.float64) - before[row]),
                "relied on then": signed_png_uri(then[row]),
                "prototype": png_uri(shown[row]),
            },
        )
        for row in range(len(before))
    )


def _starts(length: int, side: int) -> list[int]:
    step = max(1, side // 2)
    starts = list(range(0, length - side + 1, step))
    return starts if starts[-1] == length - side else [*starts, length - side]
