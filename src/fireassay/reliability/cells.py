"""A grid of equal cells on a box, and which labels were seen in each."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError, ParameterError

NORMAL, EMPTY, CROSS_BOUNDARY = 0, 1, 2
KINDS = ("normal", "empty", "cross-boundary")
_MOST_CELLS = 5_000_000
_CELLS_BY_DIMENSION = {1: 250, 2: 250, 3: 60, 4: 20, 5: 10}


@dataclass(frozen=True)
class Grid:
    """Equal cells on the box from ``low`` to ``high``, ``shape`` cells per axis.

    >>> grid = Grid.regular(4, bounds=(0, 1), dimensions=2)
    >>> grid.n_cells, grid.side.tolist()
    (16, [0.25, 0.25])
    """

    low: FloatArray
    high: FloatArray
    shape: tuple[int, ...]

    @classmethod
    def regular(
        cls, cells: int | tuple[int, ...], bounds: ArrayLike = (0, 1), *, dimensions: int
    ) -> "Grid":
        """A grid with ``cells`` per axis on ``bounds``: one pair for all axes, or one per axis.

        Raises:
            ParameterError: For fewer than one cell, a box without inside, or more than five million
                cells.
        """
        low, high = box(bounds, dimensions)
        shape = tuple(cells) if isinstance(cells, tuple | list) else (cells,) * dimensions
        if len(shape) != dimensions or any(int(c) != c or c < 1 for c in shape):
            raise ParameterError(
                f"The 'cells' parameter must be an int >= 1, or {dimensions} of them.",
                got=repr(cells),
            )
        if math.prod(shape) > _MOST_CELLS:
            raise ParameterError(
                f"A full grid may have at most {_MOST_CELLS:,} cells.",
                got=f"{' × '.join(map(str, shape))}",
                do="Use fewer cells, or top-k cells in a latent space (latent=...).",
            )
        return cls(low, high, tuple(int(c) for c in shape))

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return int(np.prod(self.shape))

    @property
    def side(self) -> FloatArray:
        """The length of a cell along each axis."""
        return np.asarray((self.high - self.low) / np.array(self.shape))

    @property
    def edges(self) -> list[FloatArray]:
        """Cell borders along each axis."""
        return [
            np.linspace(low, high, count + 1)
            for low, high, count in zip(self.low, self.high, self.shape, strict=True)
        ]

    @property
    def centres(self) -> list[FloatArray]:
        """Cell centres along each axis."""
        return [(edges[1:] + edges[:-1]) / 2 for edges in self.edges]

    def index(self, X: FloatArray) -> IntArray:
        """The flat cell number of each row, -1 for rows outside the box."""
        position = np.floor((X - self.low) / self.side).astype(np.int64)
        # The upper border belongs to the last cell.
        position = np.where(self.high == X, np.array(self.shape) - 1, position)
        inside = ((position >= 0) & (position < np.array(self.shape))).all(axis=1)
        flat = np.full(len(X), -1, dtype=np.int64)
        flat[inside] = np.ravel_multi_index(tuple(position[inside].T), self.shape)
        return flat

    def boxes(self, cells: IntArray) -> tuple[FloatArray, FloatArray]:
        """Lower and upper corners of some cells."""
        position = np.stack(np.unravel_index(cells, self.shape), axis=1)
        low = self.low + position * self.side
        return low, low + self.side


@dataclass(frozen=True)
class CellLabels:
    """What was seen in each cell: its kind and, where one label alone was seen, that label."""

    kind: NDArray[np.int8]
    label: IntArray

    @classmethod
    def observed(cls, grid: Grid, X: FloatArray, y: IntArray) -> "CellLabels":
        """Classify cells from labelled rows; a label of -1 means not known yet."""
        where = grid.index(X)
        inside = where >= 0
        if not inside.any():
            raise DataError(
                "The cells must cover the labelled rows.",
                got=f"no row of {len(X)} inside {grid.low.tolist()} … {grid.high.tolist()}",
                do="Pass bounds= that cover the data.",
            )
        return cls.of(where[inside], y[inside], grid.n_cells)

    @classmethod
    def of(cls, cell: IntArray, y: IntArray, n_cells: int) -> "CellLabels":
        """Classify cells from the cell and the label of each row."""
        smallest = np.full(n_cells, np.iinfo(np.int64).max)
        largest = np.full(n_cells, -1, dtype=np.int64)
        np.minimum.at(smallest, cell, y)
        np.maximum.at(largest, cell, y)
        kind = np.where(largest < 0, EMPTY, np.where(smallest == largest, NORMAL, CROSS_BOUNDARY))
        return cls(kind.astype(np.int8), np.where(kind == NORMAL, largest, -1))


def box(bounds: ArrayLike, dimensions: int) -> tuple[FloatArray, FloatArray]:
    """Lower and upper corner from ``(low, high)`` or from one such pair per axis."""
    limits = np.asarray(bounds, dtype=np.float64)
    if limits.shape == (2,):
        limits = np.tile(limits, (dimensions, 1))
    if limits.shape != (dimensions, 2) or not (limits[:, 0] < limits[:, 1]).all():
        raise ParameterError(
            f"The 'bounds' parameter must be (low, high) or {dimensions} such pairs, low < high.",
            got=repr(bounds),
        )
    return limits[:, 0].copy(), limits[:, 1].copy()


def box_around(X: FloatArray) -> ArrayLike:
    """Bounds that hold the rows: the unit cube if it does, else their range and a margin."""
    if X.min() >= 0 and X.max() <= 1:
        return (0.0, 1.0)
    margin = 0.05 * np.maximum(np.ptp(X, axis=0), 1e-6)
    return np.column_stack([X.min(axis=0) - margin, X.max(axis=0) + margin])


def default_cells(dimensions: int) -> int:
    """How many cells per axis a full grid has if nobody says."""
    if dimensions not in _CELLS_BY_DIMENSION:
        raise ParameterError(
            "A full grid of cells takes at most 5 features.",
            got=f"{dimensions}",
            do="Take cells in a latent space: latent=reliability.PcaLatent(…), or --latent 3.",
        )
    return _CELLS_BY_DIMENSION[dimensions]
