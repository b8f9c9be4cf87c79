"""Pose: turned, sheared, scaled, moved. What comes in from outside is black."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fireassay.core.lazy_modules import ndimage

Images = NDArray[np.float64]


def rotate(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Turned left or right."""
    degrees = (10, 20, 32, 45, 60)[severity - 1]
    angles = np.deg2rad(_signs(images, rng) * degrees * rng.uniform(0.85, 1.15, len(images)))
    cosine, sine = np.cos(angles), np.sin(angles)
    return _mapped(images, np.array([[cosine, sine], [-sine, cosine]]))


def shear(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Slanted left or right."""
    amount = (0.15, 0.3, 0.45, 0.65, 0.9)[severity - 1]
    slants = _signs(images, rng) * amount * rng.uniform(0.85, 1.15, len(images))
    ones, zeros = np.ones(len(images)), np.zeros(len(images))
    return _mapped(images, np.array([[ones, zeros], [slants, ones]]))


def scale(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Smaller, as if further away."""
    factor = (0.85, 0.72, 0.6, 0.48, 0.36)[severity - 1]
    factors = 1.0 / (factor * rng.uniform(0.95, 1.05, len(images)))
    zeros = np.zeros(len(images))
    return _mapped(images, np.array([[factors, zeros], [zeros, factors]]))


def translate(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Moved in a random direction."""
    share = (0.06, 0.12, 0.18, 0.25, 0.34)[severity - 1]
    angles = rng.uniform(0, 2 * np.pi, len(images))
    side = share * min(images.shape[1:3])
    offsets = side * np.stack([np.sin(angles), np.cos(angles)], axis=1)
    return np.stack(
        [
            ndimage.shift(image, (*offset, 0), order=1)
            for image, offset in zip(images, offsets, strict=True)
        ]
    )


def _signs(images: Images, rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.choice([-1.0, 1.0], len(images))


def _mapped(images: Images, matrices: NDArray[np.float64]) -> Images:
    """Each image under its own 2 × 2 map around its centre; matrices are (2, 2, n)."""
    centre = (np.array(images.shape[1:3]) - 1) / 2
    result = np.empty_like(images)
    for i, image in enumerate(images):
        matrix = np.eye(3)
        matrix[:2, :2] = matrices[:, :, i]
        offset = np.append(centre - matrices[:, :, i] @ centre, 0.0)
        result[i] = ndimage.affine_transform(image, matrix, offset, order=1)
    return result
