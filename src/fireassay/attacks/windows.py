"""Windows of an image, or blocks of the features of a flat row, that an attack changes at once."""

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fireassay.attacks.subspace import image_layout

Grid = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Layout:
    """Where each feature of a flat row lies: its row and column of pixels, and its channel.

    A row of a table is an image that is one pixel wide.
    """

    height: int
    width: int
    channels: int
    row: Grid
    column: Grid
    channel: Grid
    free: NDArray[np.bool_]

    @property
    def is_image(self) -> bool:
        """Whether windows have two sides."""
        return self.width > 1

    @property
    def stripe(self) -> Grid:
        """The column of a pixel; in a flat row each feature is a stripe of its own."""
        return self.column if self.is_image else self.row

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

    def drawn(self, sides: tuple[int, int], uniform: NDArray[np.float64]) -> Grid:
        """The windows that uniform numbers choose, ``(n, 2)``."""
        known = self.corners(sides)
        return np.asarray(known[(uniform * len(known)).astype(np.int64)])

    def inside(self, corners: Grid, sides: tuple[int, int]) -> NDArray[np.bool_]:
        """Which features lie in each window and may change, ``(n, d)``."""
        rows, columns = self.row - corners[:, :1], self.column - corners[:, 1:]
        return np.asarray(
            (rows >= 0) & (rows < sides[0]) & (columns >= 0) & (columns < sides[1]) & self.free
        )

    def painted(
        self, corners: Grid, sides: tuple[int, int], pattern: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """A pattern of this size laid on each window, zero elsewhere, ``(n, d)``."""
        rows = np.clip(self.row - corners[:, :1], 0, sides[0] - 1)
        columns = np.clip(self.column - corners[:, 1:], 0, sides[1] - 1)
        return np.asarray(np.where(self.inside(corners, sides), pattern[rows, columns], 0.0))

    def by_channel(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over the features of each channel, ``(n, channels)``."""
        return np.asarray(values @ (self.channel[:, None] == np.arange(self.channels)))


def make_layout(shape: tuple[int, ...], mask: NDArray[np.bool_]) -> Layout:
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


def hill(sides: tuple[int, int]) -> NDArray[np.float64]:
    """One half of a window up, the other down, steepest in the middle of each; length 1.

    A cell in ring k of n (0: at the edge) has the height sum_{i<=k} 1 / (n + 1 - i)^2.
    """
    upper = sides[0] // 2
    halves = [_pyramid(upper, sides[1])] if upper else []
    pattern = np.concatenate([*halves, -_pyramid(sides[0] - upper, sides[1])])
    return np.asarray(pattern / np.sqrt(np.square(pattern).sum()))


def _pyramid(height: int, width: int) -> NDArray[np.float64]:
    to_edge = [
        np.minimum(np.arange(side), np.arange(side)[::-1]) for side in (height, width) if side > 1
    ]
    if not to_edge:
        return np.ones((1, 1))
    rings = functools.reduce(np.minimum.outer, to_edge).reshape(height, width)
    heights = np.cumsum(1.0 / np.square(rings.max() + 1.0 - np.arange(rings.max() + 1)))
    return np.asarray(heights[rings])
