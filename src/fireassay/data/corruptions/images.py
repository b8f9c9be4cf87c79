"""Image corruptions: noise, blur, geometry, light and weather, damaged pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.lazy import ndimage

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
    return _convolved(images, kernel, "edge")


def motion_blur(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Every image is smeared along one direction of its own."""
    length = (0.1, 0.16, 0.24, 0.34, 0.48)[severity - 1] * min(images.shape[1:3])
    angles = rng.uniform(0, np.pi, len(images))
    result = np.empty_like(images)
    steps = np.linspace(-length / 2, length / 2, 2 * int(np.ceil(length)) + 1)
    reach = int(np.ceil(length / 2)) + 1
    for i, angle in enumerate(angles):
        # The mean of images moved by parts of a pixel: each step's weight on four pixels.
        line = reach + steps * np.array([[np.sin(angle)], [np.cos(angle)]])
        corner = np.floor(line).astype(int)
        share = line - corner
        kernel = np.zeros((2 * reach + 1, 2 * reach + 1))
        for down in (0, 1):
            for right in (0, 1):
                weight = np.abs(1 - down - share[0]) * np.abs(1 - right - share[1])
                np.add.at(kernel, (corner[0] + down, corner[1] + right), weight)
        result[i : i + 1] = _convolved(images[i : i + 1], kernel, "constant")
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


def _convolved(images: Images, kernel: NDArray[np.float64], beyond: Any) -> Images:
    """Images under a symmetric kernel by Fourier transforms, one after the other."""
    reach = len(kernel) // 2
    height, width = images.shape[1:3]
    sides = [side + 2 * reach + (-side - 2 * reach) % 16 for side in (height, width)]
    weights = (kernel / kernel.sum()).astype(np.float32)
    gains = np.fft.rfft2(weights, s=sides)
    result = np.empty_like(images)
    for image, changed in zip(images, result, strict=True):
        planes = np.moveaxis(image, 2, 0).astype(np.float32, order="C")
        padded = np.pad(planes, [(0, 0)] + [(reach, reach)] * 2, beyond)
        whole = np.moveaxis(np.fft.irfft2(np.fft.rfft2(padded, s=sides) * gains, s=sides), 0, 2)
        # What wraps around lies before this.
        changed[...] = whole[2 * reach :, 2 * reach :][:height, :width]
    return result


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
    pairs = zip(images, offsets, strict=True)
    return np.stack([ndimage.shift(image, (*offset, 0), order=1) for image, offset in pairs])


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


def brightness(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Too much light everywhere."""
    del rng
    return images + (0.12, 0.22, 0.34, 0.47, 0.62)[severity - 1]


def contrast(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Everything closer to the image's mean."""
    del rng
    kept = (0.7, 0.5, 0.35, 0.22, 0.12)[severity - 1]
    means = images.mean(axis=(1, 2), keepdims=True)
    return np.asarray(means + kept * (images - means))


def fog(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """A bright, cloudy veil: smooth random fields of several sizes."""
    density = (0.2, 0.32, 0.45, 0.58, 0.72)[severity - 1]
    n, height, width, _ = images.shape
    # Noise under Gaussians of several widths, each field with a spread of its width: together one
    # noise with the sum of their spectra.
    down, right = np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)
    power = np.zeros((height, width // 2 + 1))
    size = max(height, width) / 2.0
    while size >= 1.0:
        each = [np.exp(-np.square(np.pi * size * axis)) for axis in (down, right)]
        power += size**2 * (each[0] * each[1][: width // 2 + 1]) / (each[0].mean() * each[1].mean())
        size /= 2.0
    noise = np.fft.rfft2(rng.standard_normal((n, height, width), dtype=np.float32))
    cloud = np.fft.irfft2(noise * np.sqrt(power), s=(height, width))
    low = cloud.min(axis=(1, 2), keepdims=True)
    spread = np.maximum(cloud.max(axis=(1, 2), keepdims=True) - low, 1e-12)
    veil = (density * (0.5 + 0.5 * (cloud - low) / spread))[..., None]
    return np.asarray(images * (1 - veil) + veil)


def gaussian_noise(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Normal noise on every pixel."""
    deviation = (0.06, 0.12, 0.2, 0.3, 0.45)[severity - 1]
    return images + deviation * rng.standard_normal(images.shape)


def shot_noise(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Few photons: Poisson counts instead of intensities, and some that come from nowhere."""
    photons = (60, 25, 12, 6, 3)[severity - 1]
    return rng.poisson((images + 0.02) * photons) / photons - 0.02


def impulse_noise(images: Images, severity: int, rng: np.random.Generator) -> Images:
    """Pixels that are stuck at black or white."""
    share = (0.02, 0.06, 0.12, 0.2, 0.35)[severity - 1]
    shape = (*images.shape[:3], 1)
    hit, white = rng.random(shape) < share, rng.random(shape) < 0.5
    return np.where(hit, white.astype(np.float64), images)


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
        turned = image if rng.random() < 0.5 else image.swapaxes(0, 1)  # a view of the image
        lines = rng.choice(len(turned), max(1, round(share * len(turned))), replace=False)
        turned[lines] = 1.0 - turned[lines]
    return result
