"""Damage after the sensor: coarse pixels, dead lines."""

import numpy as np
from numpy.typing import NDArray

Images = NDArray[np.float64]


def pixelate(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Fewer, larger pixels: averages over cells of a coarse grid."""
    del rng
    share = (0.7, 0.5, 0.36, 0.25, 0.16)[severity - 1]
    for axis in (1, 2):
        cells = max(2, round(share * images.shape[axis]))
        member = np.arange(images.shape[axis]) * cells // images.shape[axis]
        groups = [np.flatnonzero(member == cell) for cell in range(cells)]
        means = [images.take(group, axis).mean(axis=axis, keepdims=True) for group in groups]
        images = np.concatenate(
            [mean.repeat(len(group), axis) for mean, group in zip(means, groups, strict=True)],
            axis=axis,
        )
    return images


def stripe(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Bright lines over the image, at random rows or columns."""
    share = (0.05, 0.1, 0.16, 0.24, 0.34)[severity - 1]
    result = images.copy()
    for image in result:
        along_rows = rng.random() < 0.5
        side = image.shape[0] if along_rows else image.shape[1]
        lines = rng.choice(side, max(1, round(share * side)), replace=False)
        if along_rows:
            image[lines] = 1.0 - image[lines]
        else:
            image[:, lines] = 1.0 - image[:, lines]
    return result
