"""Random splits that keep copies and groups on one side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import BoolArray, IntArray
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.lazy import sparse
from fireassay.core.mapped import stay_bytes
from fireassay.core.row_index import pieces, row_marks
from fireassay.core.seeds import generator
from fireassay.core.validation import check_features, check_labels, check_real
from fireassay.data.dataset import DataSet
from fireassay.statistics.counts import at_least
from fireassay.statistics.near_rows import near_rows, standardised


def find_duplicates(X: ArrayLike | DataSet) -> IntArray:
    """For each row the position of the first row with exactly the same features.

    ``find_duplicates(X) != arange(n)`` marks the copies of earlier rows. −0.0 equals 0.0.

    Args:
        X: Rows.

    >>> find_duplicates([[1.0], [2.0], [1.0]]).tolist()
    [0, 1, 0]
    """
    rows = _stored(X.X if isinstance(X, DataSet) else check_features(X))
    marks = _marks(rows, rows.dtype)
    _, first, inverse = np.unique(marks, return_index=True, return_inverse=True)
    original = np.asarray(first[inverse.ravel()], dtype=np.int64)
    copies = np.flatnonzero(original != np.arange(len(rows)))
    if not all(
        _equal(rows[copies[a:b]], rows[original[copies[a:b]]]).all()
        for a, b in pieces(rows, len(copies))
    ):  # two different rows with one mark: about once in 2**64 / n² data sets
        flat = rows.reshape(len(rows), -1)
        _, first, inverse = np.unique(flat, axis=0, return_index=True, return_inverse=True)
        original = np.asarray(first[inverse.ravel()], dtype=np.int64)
    return original


def find_overlap(train: ArrayLike | DataSet, test: ArrayLike | DataSet) -> IntArray:
    """The positions of rows of ``test`` that are also in ``train``, exactly.

    Args:
        train, test: Rows of both parts.

    >>> find_overlap([[1.0], [2.0]], [[3.0], [2.0]]).tolist()
    [1]
    """
    known, new = (d.X if isinstance(d, DataSet) else check_features(d) for d in (train, test))  # type: Any, Any
    if known.shape[1:] != new.shape[1:]:
        raise DataError(
            f"Both sides must have rows of shape {known.shape[1:]}.", got=f"{new.shape[1:]}"
        )
    if stay_bytes(known) and stay_bytes(new) and known.divisor == new.divisor:
        known, new = _stored(known), _stored(new)
    common = np.result_type(known.dtype, new.dtype)
    marks, wanted = _marks(known, common), _marks(new, common)
    order = np.argsort(marks, kind="stable")
    at = order[np.minimum(np.searchsorted(marks, wanted, sorter=order), len(marks) - 1)]
    hits = np.flatnonzero(marks[at] == wanted)
    found = [np.empty(0, dtype=np.int64)]
    for start, stop in pieces(new, len(hits)):
        some = hits[start:stop]
        same = _equal(new[some], known[at[some]])
        for i in np.flatnonzero(~same):  # other rows may have the same mark
            rivals = np.flatnonzero(marks == wanted[some[i]])
            same[i] = any(_equal(new[some[i] : some[i] + 1], known[j : j + 1])[0] for j in rivals)
        found.append(some[same])
    return np.concatenate(found)


def _stored(rows: Any) -> Any:
    """Rows as they are kept: bytes of images are equal where the images are."""
    return rows.stored if stay_bytes(rows) else rows


_FEW, _LEVEL, _NEAR, _LOOKED_AT, _MOST_NUMBERS = 0.01, 0.01, 3e-3, 2000, 2**26


@dataclass(frozen=True)
class CopiedRows:
    """Rows of the test data that are training rows, too, and whether chance makes so many.

    Attributes:
        rows: Their positions in the test data.
        n: How many test rows were looked at.
        by_chance: The share of training rows that another training row repeats.
        p_value: Of "no more copies than chance makes".
        rounded: Whether they are only nearly the same: rounded, or with a little noise.

    >>> CopiedRows(np.arange(6), 400, 0.0025, 0.001).many
    True
    """

    rows: IntArray
    n: int
    by_chance: float
    p_value: float
    rounded: bool = False

    @property
    def many(self) -> bool:
        """Whether they are more than chance, or coarse columns, make."""
        return len(self.rows) > _FEW * self.n and self.p_value < _LEVEL


def copied_rows(train: DataSet, test: DataSet, seed: int = 0) -> CopiedRows:
    """Test rows that were seen in training, also if rounded or with noise of a thousandth.

    Where columns are coarse, rows repeat within the training rows as well: no sign of copies.

    Args:
        train, test: The two sets.
        seed: Of the rows that are looked at where there are very many.

    >>> rows = np.random.default_rng(0).normal(size=(300, 4))
    >>> copied_rows(DataSet(rows[:200]), DataSet(rows[190:])).rows.tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    >>> copied_rows(DataSet(rows[:200]), DataSet(rows[190:].astype(np.float16))).many
    True
    """
    exact = find_overlap(train, test)
    _, place, counts = np.unique(find_duplicates(train), return_inverse=True, return_counts=True)
    found = _judged(exact, len(test), int((counts[place] > 1).sum()), len(train))
    if found.many or train.X.size + test.X.size > _MOST_NUMBERS:
        return found
    flat = standardised(np.concatenate([train.view(), test.view()]), seed)
    limit = _NEAR * (flat.std(axis=0) > 0).sum() ** 0.5
    rng = generator(seed, "copied rows")
    side = np.repeat([0, 1], [len(train), len(test)])
    chosen = len(train) + np.sort(rng.permutation(len(test))[:_LOOKED_AT])
    near = chosen[near_rows(flat, chosen, limit, rng, side)] - len(train)
    own = np.sort(rng.permutation(len(train))[:_LOOKED_AT])
    repeats = int(near_rows(flat[: len(train)], own, limit, rng).sum())
    other = replace(_judged(near, len(chosen), repeats, len(own)), rounded=True)
    return other if other.many else found


def _judged(rows: IntArray, n: int, repeats: int, among: int) -> CopiedRows:
    by_chance = min(1.0, (repeats + 1) / (among + 2))
    return CopiedRows(rows, n, by_chance, at_least(len(rows), n, by_chance))


def _marks(rows: Any, dtype: np.dtype[Any]) -> NDArray[np.uint64]:
    """A number for each row as ``dtype``, block by block; −0.0 counts as 0.0."""
    found = [np.empty(0, dtype=np.uint64)]
    for start, stop in pieces(rows):
        block = np.asarray(rows[start:stop]).astype(dtype, copy=False)
        found.append(row_marks(block + dtype.type(0) if dtype.kind == "f" else block))
    return np.concatenate(found)


def _equal(first: Any, second: Any) -> BoolArray:
    """Which pairs of rows are equal in every value."""
    return np.asarray((first == second).reshape(len(first), -1).all(axis=1))


def split(
    data: DataSet,
    shares: Mapping[str, float] | Sequence[float],
    seed: int = 0,
    groups: ArrayLike | None = None,
    stratify: bool = True,
) -> tuple[DataSet, ...]:
    """Cut a data set into parts at random, without a row's copy on the other side.

    Args:
        data: What to cut.
        shares: Of each part, e.g. ``(0.8, 0.2)``, sum 1; the keys of a mapping name the parts.
        seed: Same seed, same parts.
        groups: Rows of one patient or camera stay together, too. None: the data's own groups.
        stratify: Keep each class's share in every part (as far as groups and duplicates allow).

    Returns:
        tuple of DataSet: One for each share, rows in their original order.

    Raises:
        DataError: If a part would be empty.

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
        chosen = data.subset(rows)
        title = f"{data.name} {name}".strip()
        parts.append(replace(chosen, name=title) if name else chosen)
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


def random_half(n: int, groups: NDArray[Any] | None, seed: int, purpose: str) -> NDArray[np.bool_]:
    """True for a random half of the rows; rows of one group are on the same side."""
    rows, first = whole_groups(generator(seed, purpose).permutation(n), groups, n // 2)
    chosen = np.zeros(n, dtype=bool)
    chosen[rows[:first]] = True
    return chosen


def whole_groups(
    order: NDArray[np.int64], groups: NDArray[Any] | None, first: int
) -> tuple[NDArray[np.int64], int]:
    """Rows in an order that keeps groups together, and about ``first`` of them as a first part."""
    # The first part ends where a group ends, at the nearest such place; it has one group at least.
    if groups is None or not len(order) or not first:
        return order, first
    _, at, member = np.unique(groups[order], return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(at))[member.ravel()]
    ends = np.cumsum(np.bincount(place))
    ends = ends[:-1] if len(ends) > 1 else ends
    return order[np.argsort(place, kind="stable")], int(ends[np.abs(ends - first).argmin()])
