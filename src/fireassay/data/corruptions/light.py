"""Light and weather."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fireassay.core.lazy_modules import ndimage

Images = NDArray[np.float64]


def brightness(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Too much light everywhere."""
    del rng
    return images + (0.12, 0.22, 0.34, 0.47, 0.62)[severity - 1]


def contrast(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Everything closer to the image's mean."""
    del rng
    kept = (0.7, 0.5, 0.35, 0.22, 0.12)[severity - 1]
    means = images.mean(axis=(1, 2), keepdims=True)
    changed: Images = means + kept * (images - means)
    return changed


def fog(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """A bright, cloudy veil: smooth random fields of several sizes."""
    density = (0.2, 0.32, 0.45, 0.58, 0.72)[severity - 1]
    n, height, width, _ = images.shape
    cloud = np.zeros((n, height, width))
    size = max(height, width) / 2.0
    while size >= 1.0:
        field = ndimage.gaussian_filter(
            rng.standard_normal((n, height, width)), (0, size / 2, size / 2), mode="wrap"
        )
        cloud += size * field / max(float(field.std()), 1e-12)
        size /= 2.0
    low = cloud.min(axis=(1, 2), keepdims=True)
    spread = np.maximum(cloud.max(axis=(1, 2), keepdims=True) - low, 1e-12)
    veil = (density * (0.5 + 0.5 * (cloud - low) / spread))[..., None]
    changed: Images = images * (1 - veil) + veil
    return changed
