"""Noise of sensors and of transmission."""

import numpy as np
from numpy.typing import NDArray

Images = NDArray[np.float64]


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
