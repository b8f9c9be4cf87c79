"""Blur of optics and of motion; lengths are shares of the image's side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fireassay.core.lazy_modules import ndimage

Images = NDArray[np.float64]


def defocus_blur(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Every point becomes a disk."""
    del rng
    radius = (0.03, 0.05, 0.07, 0.1, 0.14)[severity - 1] * min(images.shape[1:3])
    reach = int(np.ceil(radius)) + 1
    # Pixels on the rim count by how much of them the disk covers, so that small radii differ.
    fine = (np.arange((2 * reach + 1) * 8) + 0.5) / 8 - reach - 0.5
    disk = (np.hypot(fine[:, None], fine) <= radius + 0.5).astype(np.float64)
    kernel = disk.reshape(2 * reach + 1, 8, 2 * reach + 1, 8).mean(axis=(1, 3))
    return _convolved(images, kernel)


def motion_blur(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Every image is smeared along one direction of its own."""
    length = (0.1, 0.16, 0.24, 0.34, 0.48)[severity - 1] * min(images.shape[1:3])
    angles = rng.uniform(0, np.pi, len(images))
    result = np.empty_like(images)
    steps = np.linspace(-length / 2, length / 2, 2 * int(np.ceil(length)) + 1)
    for i, angle in enumerate(angles):
        moved = [
            ndimage.shift(images[i], (s * np.sin(angle), s * np.cos(angle), 0), order=1)
            for s in steps
        ]
        result[i] = np.mean(moved, axis=0)
    return result


def glass_blur(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Frosted glass: pixels change places with neighbours, between two light blurs."""
    reach = (0.05, 0.08, 0.11, 0.15, 0.2)[severity - 1] * min(images.shape[1:3])
    n, height, width, _ = images.shape
    blurred = ndimage.gaussian_filter(images, (0, 0.4, 0.4, 0))
    offsets = rng.uniform(-reach, reach, (2, n, height, width))
    rows = np.clip(np.round(np.arange(height)[:, None] + offsets[0]), 0, height - 1).astype(int)
    columns = np.clip(np.round(np.arange(width) + offsets[1]), 0, width - 1).astype(int)
    scattered = blurred[np.arange(n)[:, None, None], rows, columns]
    return ndimage.gaussian_filter(scattered, (0, 0.4, 0.4, 0))


def _convolved(images: Images, kernel: NDArray[np.float64]) -> Images:
    weights = (kernel / kernel.sum())[None, :, :, None]
    result: Images = ndimage.convolve(images, weights, mode="nearest")
    return result
