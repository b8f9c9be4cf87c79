"""Rows with very many columns, brought onto a few random directions that keep their distances."""

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray
from fireassay.core.seeds import generator

MOST_COLUMNS, DIRECTIONS = 256, 128
MOST_ROWS, ALL_DISTANCES = 2000, 20_000  # that are looked at, and among how many by all distances
_NUMBERS_AT_ONCE, _NUMBERS_SEEN = 2**23, 2**25


def standardised(rows: AnyArray, seed: int) -> FloatArray:
    """Columns of unit spread; of more than 256 columns, 128 random mixtures of them.

    Distances between rows of mixtures are those between the rows within some 6 % (Johnson and
    Lindenstrauss), and rows that are equal stay so: enough to see which ones nearly repeat others.
    No more than a few rows are copied at a time.

    Parameters
    ----------
    rows
        All rows, of any shape.
    seed
        Of the mixtures, and of the rows that tell the centre and spread of very many columns.

    >>> rows = np.random.default_rng(0).normal(size=(40, 3000))
    >>> mixed = standardised(rows, seed=0)
    >>> apart = np.linalg.norm(mixed[0] - mixed[1]) / np.linalg.norm(rows[0] - rows[1])
    >>> mixed.shape, bool(abs(apart - 1) < 0.2)
    ((40, 128), True)
    """
    flat = rows.reshape(len(rows), -1)
    columns = flat.shape[1]
    if columns <= MOST_COLUMNS:
        centred, spread = centred_columns(flat)
        centred /= np.where(spread > 0, spread, 1.0)
        return centred
    centre, spread = _centre_and_spread(flat, seed)
    rng = generator(seed, "directions")
    mixtures = rng.standard_normal((columns, DIRECTIONS), dtype=np.float32)
    mixtures /= np.float32(DIRECTIONS**0.5)
    mixed = np.empty((len(flat), DIRECTIONS))
    step = max(1, _NUMBERS_AT_ONCE // columns)
    for start in range(0, len(flat), step):
        part = flat[start : start + step] - centre
        part /= spread
        mixed[start : start + step] = part.astype(np.float32, copy=False) @ mixtures
    return mixed


def _centre_and_spread(flat: AnyArray, seed: int) -> tuple[AnyArray, AnyArray]:
    """Of each column, by some of the rows; in float32 where rows are, which is twice as fast."""
    chosen = np.sort(generator(seed, "spread of columns").permutation(len(flat))[:MOST_ROWS])
    some = flat[chosen[:: -(-len(chosen) * flat.shape[1] // _NUMBERS_SEEN)]].astype(np.float64)
    centre, spread = some.mean(axis=0), some.std(axis=0)
    kind = np.float32 if flat.dtype == np.float32 else np.float64
    return centre.astype(kind), np.where(spread > 0, spread, 1.0).astype(kind)


def centred_columns(flat: AnyArray) -> tuple[FloatArray, FloatArray]:
    """Columns less their means, and their spreads; 0 where a column is constant. One copy of all.

    >>> centred, spread = centred_columns(np.array([[1.0, 7.0], [3.0, 7.0]]))
    >>> centred.tolist(), spread.tolist()
    ([[-1.0, 0.0], [1.0, 0.0]], [1.0, 0.0])
    """
    centred = np.array(flat, dtype=np.float64, order="C")
    varies = (centred != centred[0]).any(axis=0)  # the mean of equal numbers may be rounded
    centred -= centred.mean(axis=0)
    spread = np.sqrt(np.einsum("ij,ij->j", centred, centred) / len(centred))
    return centred, np.where(varies, spread, 0.0)
