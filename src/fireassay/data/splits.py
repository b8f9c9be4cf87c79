"""Splits that keep copies of a row, and rows of a group, on one side."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import IntArray
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.lazy_modules import sparse
from fireassay.core.seeds import generator
from fireassay.core.validation import check_features, check_labels, check_real
from fireassay.data.dataset import DataSet

_BLOCK_ROWS = 4096
_MIXING = ((32, 0x9E3779B97F4A7C15), (29, 0xD6E8FEB86659FD93), (32, 0xD6E8FEB86659FD93))


def find_duplicates(X: ArrayLike | DataSet) -> IntArray:
    """For each row the position of the first row with exactly the same features.

    A row without an earlier copy points at itself, so ``find_duplicates(X) != arange(n)`` marks
    the copies. −0.0 equals 0.0.

    Parameters
    ----------
    X
        Rows.

    >>> find_duplicates([[1.0], [2.0], [1.0]]).tolist()
    [0, 1, 0]
    """
    rows = X.X if isinstance(X, DataSet) else check_features(X)
    flat = rows.reshape(len(rows), -1)
    _, first, inverse = np.unique(_fingerprints(flat), return_index=True, return_inverse=True)
    original = np.asarray(first[inverse.ravel()], dtype=np.int64)
    copies = np.flatnonzero(original != np.arange(len(flat)))
    if not all(
        np.array_equal(flat[some], flat[original[some]])
        for some in np.array_split(copies, max(1, copies.size // _BLOCK_ROWS))
    ):  # two different rows with one fingerprint: about once in 2**64 / n² data sets
        _, first, inverse = np.unique(flat, axis=0, return_index=True, return_inverse=True)
        original = np.asarray(first[inverse.ravel()], dtype=np.int64)
    return original


def find_overlap(train: ArrayLike | DataSet, test: ArrayLike | DataSet) -> IntArray:
    """The positions of rows of ``test`` that are also in ``train``, exactly.

    Parameters
    ----------
    train, test
        Rows of both parts.

    >>> find_overlap([[1.0], [2.0]], [[3.0], [2.0]]).tolist()
    [1]
    """
    known, new = (d.X if isinstance(d, DataSet) else check_features(d) for d in (train, test))
    if known.shape[1:] != new.shape[1:]:
        raise DataError(
            f"Both sides must have rows of shape {known.shape[1:]}.", got=f"{new.shape[1:]}"
        )
    first = find_duplicates(np.concatenate([known, new]))[len(known) :]
    return np.flatnonzero(first < len(known))


def _fingerprints(flat: NDArray[Any]) -> NDArray[np.uint64]:
    """A 64-bit number for each row, the same for equal rows: far quicker to sort than rows."""
    width = np.uint32 if flat.dtype.itemsize == 4 else np.uint64
    factors = generator(0, "fingerprints").integers(1, 2**64, flat.shape[1], dtype=np.uint64)
    prints = np.empty(len(flat), dtype=np.uint64)
    for start in range(0, len(flat), _BLOCK_ROWS):
        block = np.ascontiguousarray(flat[start : start + _BLOCK_ROWS]) + flat.dtype.type(0)
        words = block.view(width).astype(np.uint64)
        for shift, factor in _MIXING:  # else round numbers, whose low bits are all 0, collide
            words ^= words >> np.uint64(shift)
            words *= np.uint64(factor)
        prints[start : start + _BLOCK_ROWS] = (words * factors).sum(axis=1, dtype=np.uint64)
    return prints


def split(
    data: DataSet,
    shares: Mapping[str, float] | Sequence[float],
    seed: int = 0,
    groups: ArrayLike | None = None,
    stratify: bool = True,
) -> tuple[DataSet, ...]:
    """Cut a data set into parts at random, without a row's copy on the other side.

    Parameters
    ----------
    data
        What to cut.
    shares
        The share of each part, e.g. ``(0.8, 0.2)``; they sum to 1. With a mapping the names are
        appended to the data's name.
    seed
        Same seed, same parts.
    groups
        One value per row (a patient, a camera): rows of one group stay together, too. The
        data's own groups if None.
    stratify
        Keep each class's share in every part (as far as groups and duplicates allow).

    Returns
    -------
    tuple of DataSet
        One for each share, rows in their original order.

    Raises
    ------
    DataError
        If a part would be empty.

    >>> data = DataSet(np.arange(20.0)[:, None], np.arange(20) % 2)
    >>> train, test = split(data, (0.8, 0.2), seed=0)
    >>> len(train), len(test)
    (16, 4)
    """
    weights, names = _checked_shares(shares)
    block = _blocks(data, data.groups if groups is None else groups)
    n_blocks = int(block.max()) + 1
    if n_blocks < len(weights):
        raise DataError(
            f"{len(weights)} parts need as many different rows or groups.",
            got=f"{n_blocks} (copies and groups counted once)",
        )
    sizes = np.bincount(block)
    stratum = _strata(data, block, n_blocks) if stratify else np.zeros(n_blocks, dtype=np.int64)
    part_of_block = _assign(sizes, stratum, weights, generator(seed, "split"))
    part = part_of_block[block]
    parts = []
    for i, name in enumerate(names):
        rows = np.flatnonzero(part == i)
        if not len(rows):
            raise DataError(
                "Every part must get at least one row.",
                got=f"none for the share {weights[i]:g} of {len(data)} rows",
                do="Use larger shares or more data.",
            )
        parts.append(_named(data.subset(rows), name))
    return tuple(parts)


def _assign(
    sizes: IntArray, stratum: IntArray, weights: NDArray[np.float64], rng: np.random.Generator
) -> IntArray:
    """Blocks in random order, each to the part that lacks most of its share in the stratum."""
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]  # large blocks first: they fit worst
    part = np.empty(len(sizes), dtype=np.int64)
    given = np.zeros(len(weights))
    for value in np.unique(stratum):
        blocks = order[stratum[order] == value]
        # What rounding took from a part in one class is made good in the next.
        goal = weights * (given.sum() + sizes[blocks].sum())
        for block in blocks:
            part[block] = np.argmax(goal - given)
            given[part[block]] += sizes[block]
    return part


def _strata(data: DataSet, block: IntArray, n_blocks: int) -> IntArray:
    """The commonest class of each block."""
    if data.y is None:
        return np.zeros(n_blocks, dtype=np.int64)
    _, classes = np.unique(data.y, return_inverse=True)
    counts = sparse.coo_array((np.ones(len(block)), (block, classes.ravel()))).toarray()
    return np.asarray(counts.argmax(axis=1), dtype=np.int64)


def _blocks(data: DataSet, groups: ArrayLike | None) -> IntArray:
    """Rows that must stay together: the connected components of copies and groups."""
    first = find_duplicates(data)
    n = len(first)
    edges = [(np.arange(n), first)]
    if groups is not None:
        labels = check_labels(groups, name="groups", n=n)
        _, first_of_group, inverse = np.unique(labels, return_index=True, return_inverse=True)
        edges.append((np.arange(n), first_of_group[inverse.ravel()]))
    rows = np.concatenate([a for a, _ in edges])
    columns = np.concatenate([b for _, b in edges])
    graph = sparse.coo_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(n, n))
    from scipy.sparse.csgraph import connected_components

    _, block = connected_components(graph, directed=False)
    return np.asarray(block, dtype=np.int64)


def _checked_shares(
    shares: Mapping[str, float] | Sequence[float],
) -> tuple[NDArray[np.float64], list[str]]:
    names = list(shares) if isinstance(shares, Mapping) else [""] * len(shares)
    values: list[Any] = list(shares.values()) if isinstance(shares, Mapping) else list(shares)
    weights = [check_real(value, "shares", low=0.0, high=1.0) for value in values]
    if len(weights) < 2 or abs(sum(weights) - 1.0) > 1e-9:
        raise ParameterError("The 'shares' must be two or more and sum to 1.", got=repr(values))
    return np.array(weights), names


def _named(data: DataSet, name: str) -> DataSet:
    if not name:
        return data
    title = f"{data.name} {name}".strip()
    return replace(data, name=title)
