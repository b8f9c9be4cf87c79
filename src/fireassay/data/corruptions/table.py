"""What goes wrong with tables: lost cells, noise, other units, columns in the wrong order."""

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]
_UNITS = (0.001, 0.01, 0.1, 1 / 2.54, 1 / 2.2046, 2.2046, 2.54, 10.0, 100.0, 1000.0)


def missing(rows: Rows, severity: int, rng: np.random.Generator) -> Rows:
    """Cells that were lost and filled with their column's median, as an imputer would."""
    share = (0.05, 0.12, 0.25, 0.4, 0.6)[severity - 1]
    lost = rng.random(rows.shape) < share
    return np.where(lost, np.median(rows, axis=0), rows)


def noise(rows: Rows, severity: int, rng: np.random.Generator) -> Rows:
    """Normal noise, in units of each column's standard deviation."""
    amount = (0.1, 0.25, 0.5, 1.0, 2.0)[severity - 1]
    return np.asarray(rows + amount * rows.std(axis=0) * rng.standard_normal(rows.shape))


def unit_change(rows: Rows, severity: int, rng: np.random.Generator) -> Rows:
    """Some columns arrive in another unit: times 0.001 … 1,000, inches for centimetres, …"""
    share = (0.05, 0.1, 0.2, 0.35, 0.5)[severity - 1]
    width = rows.shape[1]
    columns = rng.permutation(width)[: max(1, round(share * width))]
    factors = np.ones(width)
    factors[columns] = rng.choice(_UNITS, len(columns))
    return rows * factors


def swap(rows: Rows, severity: int, rng: np.random.Generator) -> Rows:
    """Some columns have changed places in pairs."""
    share = (0.05, 0.15, 0.3, 0.5, 0.8)[severity - 1]
    width = rows.shape[1]
    pairs = min(width // 2, max(1, round(share * width / 2)))
    order = rng.permutation(width)[: 2 * pairs]
    result = rows.copy()
    result[:, order[:pairs]], result[:, order[pairs:]] = (
        rows[:, order[pairs:]],
        rows[:, order[:pairs]],
    )
    return result
