"""A sample of any size as weighted points: linear binning in few dimensions, block by block."""

from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.reliability.disk_rows import DiskRows

_BINS = {1: 65_536, 2: 1024, 3: 128}
_SAMPLE = 20_000


@dataclass(frozen=True)
class BinnedRows:
    """What a kernel density needs of rows on disk.

    Attributes
    ----------
    points, weights
        Nodes of a fine grid and the share of rows at each (a row counts at the nodes around it).
        Above three dimensions: a random sample with equal shares.
    sample
        Rows drawn at random, for bandwidths and checks.
    low, high
        Range of the rows.
    """

    points: FloatArray
    weights: FloatArray
    sample: FloatArray
    low: FloatArray
    high: FloatArray


def binned_rows(rows: DiskRows, seed: int) -> BinnedRows:
    """Read the rows three times: for a sample, for their range, and to bin them."""
    sample = rows.sample(_SAMPLE, seed).astype(np.float64)
    low, high = np.full(rows.shape[0], np.inf), np.full(rows.shape[0], -np.inf)
    for block in rows.blocks():
        low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
    dims = rows.shape[0]
    if dims not in _BINS:
        return BinnedRows(sample, np.full(len(sample), 1 / len(sample)), sample, low, high)
    bins = _BINS[dims]
    width = np.maximum((high - low) / (bins - 1), np.finfo(np.float64).tiny)
    mass = np.zeros(bins**dims)
    for block in rows.blocks():
        position = (block.astype(np.float64) - low) / width
        index = np.clip(position.astype(np.int64), 0, bins - 2)
        upper = position - index
        for corner in np.ndindex(*(2,) * dims):
            share = np.prod(np.where(corner, upper, 1 - upper), axis=1)
            node = np.ravel_multi_index(tuple((index + corner).T), (bins,) * dims)
            mass += np.bincount(node, weights=share, minlength=len(mass))
    kept = np.flatnonzero(mass > 0)
    places = np.stack(np.unravel_index(kept, (bins,) * dims), axis=1)
    return BinnedRows(low + places * width, mass[kept] / mass.sum(), sample, low, high)
