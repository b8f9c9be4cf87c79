"""Directions for black-box attacks: low frequencies, windows and blocks."""

import functools
from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import AnyArray, BoolArray, Float32Array, FloatArray, IntArray
from fireassay.core.errors import ParameterError
from fireassay.core.validation import check_integer

_HALF_AT = 1 / 4


@dataclass(frozen=True)
class Subspace:
    """Directions an attack may draw: single features, or cosine frequencies of images."""

    size: int
    shape: tuple[int, ...]
    free: IntArray
    rows_basis: Float32Array | None = None  # orthonormal cosines, one per row
    columns_basis: Float32Array | None = None
    channels_first: bool = False
    weights: Float32Array | None = None  # how strongly each coefficient is drawn

    def draw(self, rng: np.random.Generator, count: int, *, evenly: bool = False) -> Float32Array:
        """Coefficients of random unit directions, ``(count, size)``; ``evenly``: unweighted."""
        drawn = rng.standard_normal((count, self.size), dtype=np.float32)
        if self.weights is not None and not evenly:
            drawn *= self.weights
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
        return drawn

    def expand(self, coefficients: Float32Array) -> Float32Array:
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
        images: AnyArray = self.rows_basis.T @ grid @ self.columns_basis
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


def make_subspace(subspace: str | int | None, shape: tuple[int, ...], mask: BoolArray) -> Subspace:
    """The `Subspace` for an attack's ``subspace`` argument."""
    # None: every direction, of images low frequencies more strongly; "features": every direction
    # alike; "dct": the lowest quarter of frequencies per image side; an int: so many per side.
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
    size = counts[0] * counts[1] * channels
    bases = _cosines(counts[0], height), _cosines(counts[1], width)
    return Subspace(size, shape, free, *bases, channels_first, weights)


def _low_pass(height: int, width: int) -> Float32Array:
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


def _cosines(count: int, side: int) -> Float32Array:
    position = (np.arange(side) + 0.5) * np.pi / side
    basis: AnyArray = np.cos(np.arange(count)[:, None] * position) * np.sqrt(2 / side)
    basis[0] = np.sqrt(1 / side)
    return np.asarray(basis, dtype=np.float32)


Grid = IntArray


@dataclass(frozen=True, eq=False)
class Layout:
    """Pixel row, column and channel of each feature; a table is an image one pixel wide."""

    height: int
    width: int
    channels: int
    row: Grid
    column: Grid
    channel: Grid
    free: BoolArray

    @property
    def is_image(self) -> bool:
        """Whether windows have two sides."""
        return self.width > 1

    def sides(self, share: float, least: int = 1) -> tuple[int, int]:
        """Sides of a square window with this share of the pixels; of a block in a flat row."""
        if not self.is_image:
            return min(max(round(share * self.height), 1), self.height), 1
        side = max(round(float(np.sqrt(share * self.height * self.width))), least)
        return min(side, self.height), min(side, self.width)

    @functools.cached_property
    def _corners(self) -> dict[tuple[int, int], Grid]:
        return {}

    def corners(self, sides: tuple[int, int]) -> Grid:
        """First row and column of every window of this size with a feature that may change."""
        if sides not in self._corners:
            pixels = np.zeros((self.height, self.width), dtype=np.bool_)
            pixels[self.row[self.free], self.column[self.free]] = True
            views = np.lib.stride_tricks.sliding_window_view(pixels, sides)
            self._corners[sides] = np.argwhere(views.any(axis=(2, 3)))
        return self._corners[sides]

    def drawn(self, sides: tuple[int, int], uniform: FloatArray) -> Grid:
        """The windows that uniform numbers choose, ``(n, 2)``."""
        known = self.corners(sides)
        return np.asarray(known[(uniform * len(known)).astype(np.int64)])

    def inside(self, corners: Grid, sides: tuple[int, int]) -> BoolArray:
        """Which features lie in each window and may change, ``(n, d)``."""
        rows, columns = self.row - corners[:, :1], self.column - corners[:, 1:]
        inside = (rows >= 0) & (rows < sides[0]) & (columns >= 0) & (columns < sides[1])
        return np.asarray(inside & self.free)

    def painted(self, corners: Grid, sides: tuple[int, int], pattern: FloatArray) -> FloatArray:
        """A pattern of this size laid on each window, zero elsewhere, ``(n, d)``."""
        rows = np.clip(self.row - corners[:, :1], 0, sides[0] - 1)
        columns = np.clip(self.column - corners[:, 1:], 0, sides[1] - 1)
        return np.asarray(np.where(self.inside(corners, sides), pattern[rows, columns], 0.0))

    def by_channel(self, values: FloatArray) -> FloatArray:
        """Sums over the features of each channel, ``(n, channels)``."""
        return np.asarray(values @ (self.channel[:, None] == np.arange(self.channels)))


def make_layout(shape: tuple[int, ...], mask: BoolArray) -> Layout:
    """The layout of samples of this shape."""
    size = int(np.prod(shape))
    position = np.arange(size)
    if len(shape) not in (2, 3):
        zero = np.zeros(size, dtype=np.int64)
        return Layout(size, 1, 1, position, zero, zero, mask)
    height, width, channels, channels_first = image_layout(shape)
    if channels_first:
        pixel, channel = position % (height * width), position // (height * width)
    else:
        pixel, channel = position // channels, position % channels
    return Layout(height, width, channels, pixel // width, pixel % width, channel, mask)


def hill(sides: tuple[int, int]) -> FloatArray:
    """A window of norm 1, half up, half down; ring k of n has sum_{i<=k} 1 / (n + 1 - i)^2."""
    upper = sides[0] // 2
    halves = [_pyramid(upper, sides[1])] if upper else []
    pattern = np.concatenate([*halves, -_pyramid(sides[0] - upper, sides[1])])
    return np.asarray(pattern / np.sqrt(np.square(pattern).sum()))


def _pyramid(height: int, width: int) -> FloatArray:
    places = [np.arange(side) for side in (height, width) if side > 1]
    to_edge = [np.minimum(place, place[::-1]) for place in places]
    if not to_edge:
        return np.ones((1, 1))
    rings = functools.reduce(np.minimum.outer, to_edge).reshape(height, width)
    heights = np.cumsum(1.0 / np.square(rings.max() + 1.0 - np.arange(rings.max() + 1)))
    return np.asarray(heights[rings])
