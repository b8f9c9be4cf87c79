"""Rows with another row very near, among so many that not all distances can be computed."""

import itertools

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray, IntArray

_AT_ONCE, _PAIRS, _MORE_LINES = 20_000, 2**18, 2
_STRIPS, _ROUNDING = 1024, 1e-11  # in keys of up to 1,025 rounding is 1e-13


def near_rows(
    rows: FloatArray,
    chosen: IntArray,
    limit: float,
    rng: np.random.Generator,
    groups: ArrayLike | None = None,
) -> int:
    """How many of the chosen rows have another row (of another group) within ``limit``.

    Exact: rows that are near each other are near on any line, too, so that only rows within a
    window on some random lines have to be looked at.

    Parameters
    ----------
    rows
        All rows, ``(n, d)``.
    chosen
        Positions of those to count.
    limit
        The distance.
    rng
        Of the lines.
    groups
        For each row the group it belongs to; rows of one group are not compared.

    >>> X = np.array([[0.0, 0.0], [5.0, 1.0], [0.0, 0.1], [9.0, 9.0]])
    >>> near_rows(X, np.arange(4), 0.2, np.random.default_rng(0))
    2
    """
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
    return int(found.sum())


def _windows(
    along: FloatArray, across: FloatArray, chosen: IntArray, slack: FloatArray
) -> tuple[IntArray, IntArray]:
    """An order of all rows, and stretches of it with all that may be near: (row, begin, end).

    Rows are ordered by strips of one line, and within a strip by the other.
    """
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
