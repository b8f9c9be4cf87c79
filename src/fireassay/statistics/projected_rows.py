"""Rows with very many columns, brought onto a few random directions that keep their distances."""

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.seeds import generator

_MOST_COLUMNS, _DIRECTIONS = 256, 128
_NUMBERS_AT_ONCE = 2**23


def standardised(rows: AnyArray, chosen: IntArray, seed: int) -> FloatArray:
    """Columns of unit spread; of more than 256 columns, 128 random mixtures of them.

    Distances between rows of mixtures are those between the rows within some 6 % (Johnson and
    Lindenstrauss), and rows that are equal stay so: enough to see which ones nearly repeat others.
    No more than a few rows are copied at a time.

    Parameters
    ----------
    rows
        All rows, of any shape.
    chosen
        Positions of the rows that centre and spread of many columns are taken from.
    seed
        Of the mixtures.

    >>> rows = np.random.default_rng(0).normal(size=(40, 3000))
    >>> mixed = standardised(rows, np.arange(40), seed=0)
    >>> apart = np.linalg.norm(mixed[0] - mixed[1]) / np.linalg.norm(rows[0] - rows[1])
    >>> mixed.shape, bool(abs(apart - 1) < 0.2)
    ((40, 128), True)
    """
    flat = rows.reshape(len(rows), -1)
    columns = flat.shape[1]
    is_wide = columns > _MOST_COLUMNS
    some = (flat[chosen] if is_wide else flat).astype(np.float64)
    centre, spread = some.mean(axis=0), some.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    if not is_wide:
        return (some - centre) / spread
    del some
    rng = generator(seed, "directions")
    mixtures = rng.standard_normal((columns, _DIRECTIONS), dtype=np.float32)
    mixtures /= np.float32(_DIRECTIONS**0.5)
    mixed = np.empty((len(flat), _DIRECTIONS))
    step = max(1, _NUMBERS_AT_ONCE // columns)
    for start in range(0, len(flat), step):
        part = (flat[start : start + step] - centre) / spread
        mixed[start : start + step] = part.astype(np.float32) @ mixtures
    return mixed
