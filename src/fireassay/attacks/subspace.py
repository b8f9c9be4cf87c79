"""Low-frequency directions of images: fewer dimensions to explore, and the ones models use."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.errors import ParameterError
from fireassay.core.validation import check_integer

_HALF_AT = 1 / 4


@dataclass(frozen=True)
class Subspace:
    """Directions in which an attack may look: single features, or cosine frequencies of images.

    ``rows_basis`` and ``columns_basis`` hold orthonormal cosines, one per row; both are None where
    every feature is a direction of its own. ``weights`` says how strongly each coefficient is drawn
    (None: all alike).
    """

    size: int
    shape: tuple[int, ...]
    free: NDArray[np.int64]
    rows_basis: NDArray[np.float32] | None = None
    columns_basis: NDArray[np.float32] | None = None
    channels_first: bool = False
    weights: NDArray[np.float32] | None = None

    def draw(
        self, rng: np.random.Generator, count: int, *, evenly: bool = False
    ) -> NDArray[np.float32]:
        """Random coefficients of ``count`` unit directions, ``(count, size)``.

        ``evenly`` draws all coefficients alike, whatever the weights.
        """
        drawn = rng.standard_normal((count, self.size), dtype=np.float32)
        if self.weights is not None and not evenly:
            drawn *= self.weights
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
        return drawn

    def expand(self, coefficients: NDArray[np.float32]) -> NDArray[np.float32]:
        """Coefficients ``(m, size)`` as directions of the same length, ``(m, d)``."""
        m, d = len(coefficients), int(np.prod(self.shape))
        if self.rows_basis is None or self.columns_basis is None:
            if len(self.free) == d:
                return coefficients
            spread = np.zeros((m, d), dtype=np.float32)
            spread[:, self.free] = coefficients
            return spread
        height, width = len(self.rows_basis), len(self.columns_basis)
        grid = coefficients.reshape(-1, height, width)
        images: NDArray[Any] = self.rows_basis.T @ grid @ self.columns_basis
        channels = self.size // (height * width)
        images = images.reshape(m, channels, *images.shape[1:])
        if not self.channels_first:
            images = np.moveaxis(images, 1, -1)
        directions = images.reshape(m, d)
        if len(self.free) < d:
            masked = np.zeros_like(directions)
            masked[:, self.free] = directions[:, self.free]
            return masked
        return directions


def make_subspace(
    subspace: str | int | None, shape: tuple[int, ...], mask: NDArray[np.bool_]
) -> Subspace:
    """Read the ``subspace`` argument of an attack.

    None: every direction; of images, low frequencies are drawn more strongly. ``"features"``: every
    direction alike. ``"dct"``: the lowest quarter of the frequencies of each side of an image. An
    int: that many frequencies per side.
    """
    free = np.flatnonzero(mask)
    if subspace == "features" or (subspace is None and len(shape) not in (2, 3)):
        return Subspace(len(free), shape, free)
    height, width, channels, channels_first = image_layout(shape)
    weights = None
    if subspace is None:
        counts = (height, width)
        weights = np.tile(_low_pass(height, width), channels)
    elif subspace == "dct":
        counts = (_quarter(height), _quarter(width))
    elif isinstance(subspace, str):
        raise ParameterError(
            "The 'subspace' parameter must be None, 'features', 'dct' or an int.",
            got=repr(subspace),
        )
    else:
        count = check_integer(subspace, "subspace", low=1)
        counts = (min(count, height), min(count, width))
    return Subspace(
        counts[0] * counts[1] * channels,
        shape,
        free,
        _cosines(counts[0], height),
        _cosines(counts[1], width),
        channels_first,
        weights,
    )


def _low_pass(height: int, width: int) -> NDArray[np.float32]:
    """One half at a quarter of the highest frequency, falling with its square."""
    rows, columns = np.arange(height)[:, None] / height, np.arange(width)[None, :] / width
    squared = (np.square(rows) + np.square(columns)) / _HALF_AT**2
    return np.asarray(1.0 / (1.0 + squared), dtype=np.float32).ravel()


def _quarter(side: int) -> int:
    return max(min(4, side), -(-side // 4))


def image_layout(shape: tuple[int, ...]) -> tuple[int, int, int, bool]:
    """Height, width, channels, and whether the channels come first."""
    if len(shape) == 2:
        return shape[0], shape[1], 1, False
    if len(shape) == 3:
        if shape[0] in (1, 3, 4) and shape[2] not in (1, 3, 4):
            return shape[1], shape[2], shape[0], True
        return shape[0], shape[1], shape[2], False
    raise ParameterError(
        "A frequency subspace needs images: X of shape (n, height, width) or with channels.",
        got=f"samples of shape {shape}",
        do="Leave subspace=None for tables.",
    )


def _cosines(count: int, side: int) -> NDArray[np.float32]:
    position = (np.arange(side) + 0.5) * np.pi / side
    basis: NDArray[Any] = np.cos(np.arange(count)[:, None] * position) * np.sqrt(2 / side)
    basis[0] = np.sqrt(1 / side)
    return np.asarray(basis, dtype=np.float32)
