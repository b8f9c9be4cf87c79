"""Rows that nearly repeat others, found by random projections."""

import itertools

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.core.seeds import generator

_AT_ONCE, _PAIRS, _MORE_LINES = 20_000, 2**18, 2
_STRIPS, _ROUNDING = 1024, 1e-11  # in keys of up to 1,025 rounding is 1e-13


def near_rows(
    rows: FloatArray,
    chosen: IntArray,
    limit: float,
    rng: np.random.Generator,
    groups: ArrayLike | None = None,
) -> BoolArray:
    """Which chosen rows have another row (of another group) within ``limit``: exact."""
    drawn = rng.standard_normal((2, rows.shape[1]))
    more = np.random.default_rng(len(rows)).standard_normal((_MORE_LINES, rows.shape[1]))
    lines = np.concatenate([drawn, more])
    lines /= np.linalg.norm(lines, axis=1, keepdims=True)
    along, across, *others = lines @ rows.T
    slack = limit + 1e-9 * (1.0 + np.abs(rows[chosen]).sum(axis=1))
    member = np.arange(len(rows)) if groups is None else np.asarray(groups)
    order, windows = _windows(along, across, chosen, slack)
    found = np.zeros(len(chosen), dtype=bool)
    for some in _in_groups(windows[2] - windows[1]):
        which, begin, end = windows[:, some]
        left = ~found[which]  # rows that repeat often are found at once
        which, near = _pairs(which[left], begin[left], end[left])
        near = order[near]
        for line in (across, along, *others):
            close = np.abs(line[near] - line[chosen[which]]) <= slack[which]
            which, near = which[close], near[close]
        other = member[near] != member[chosen[which]]
        which, near = which[other], near[other]
        gaps = rows[near] - rows[chosen[which]]
        found[which[np.einsum("ij,ij->i", gaps, gaps) <= limit * limit]] = True
    return found


def _windows(
    along: FloatArray, across: FloatArray, chosen: IntArray, slack: FloatArray
) -> tuple[IntArray, IntArray]:
    """An order of rows by strips, and stretches with all that may be near: (row, begin, end)."""
    place = along - along.min()
    width = max(float(slack.max()), float(place.max()) / _STRIPS)
    strip = np.floor(place / width)
    least = float(across.min())
    scale = (float(across.max()) - least) * (1.0 + 1e-9) or 1.0
    keys = strip + (across - least) / scale
    order = np.argsort(keys)
    keys = keys[order]
    low = np.clip((across[chosen] - slack - least) / scale - _ROUNDING, 0.0, 1.0)
    high = np.clip((across[chosen] + slack - least) / scale + _ROUNDING, 0.0, 1.0)
    found = []
    for beside in (0, -1, 1):
        own = strip[chosen] + beside
        begin, end = np.searchsorted(keys, own + low), np.searchsorted(keys, own + high)
        pieces = -(-(end - begin) // _AT_ONCE)
        which = np.repeat(np.arange(len(chosen)), pieces)
        nth = np.arange(len(which)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        first = begin[which] + nth * _AT_ONCE
        found.append(np.stack([which, first, np.minimum(first + _AT_ONCE, end[which])]))
    return order, np.concatenate(found, axis=1)


def _in_groups(lengths: IntArray) -> list[slice]:
    """Stretches of windows that together hold about as many rows as are looked at at once."""
    group = np.cumsum(lengths) // _PAIRS
    cuts = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), len(lengths)]
    return [slice(a, b) for a, b in itertools.pairwise(cuts)]


def _pairs(which: IntArray, begin: IntArray, end: IntArray) -> tuple[IntArray, IntArray]:
    """Every place of every window, with the row that the window belongs to."""
    lengths = end - begin
    starts = np.repeat(begin - (np.cumsum(lengths) - lengths), lengths)
    return np.repeat(which, lengths), starts + np.arange(len(starts))


MOST_COLUMNS, DIRECTIONS = 256, 128
MOST_ROWS = 2000  # that spreads are taken from
_NUMBERS_AT_ONCE, _NUMBERS_SEEN = 2**23, 2**25


def standardised(rows: AnyArray, seed: int) -> FloatArray:
    """Columns of unit spread; of over 256 columns 128 random mixtures, distances kept to 6 %."""
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
    """Columns less their means, and their spreads; 0 where a column is constant."""
    centred = np.array(flat, dtype=np.float64, order="C")
    varies = (centred != centred[0]).any(axis=0)  # the mean of equal numbers may be rounded
    centred -= centred.mean(axis=0)
    spread = np.sqrt(np.einsum("ij,ij->j", centred, centred) / len(centred))
    return centred, np.where(varies, spread, 0.0)
