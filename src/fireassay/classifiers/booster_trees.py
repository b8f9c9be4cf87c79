"""Trees of a boosted model from a file, checked before compiled code walks them."""

from typing import Any

import numpy as np

from fireassay.core.errors import ModelError


def check_tree(
    left: Any, right: Any, features: Any, n_features: int, n_leaves: int | None, where: str
) -> None:
    """Refuse a tree that points outside itself, runs in circles or asks for a missing column.

    Parameters
    ----------
    left, right
        For each inner node its children. Leaves are negative numbers (``~leaf``) where
        ``n_leaves`` is given, and nodes of the same array without children (-1) otherwise.
    features
        The column that each inner node looks at.
    where
        What to call the tree in the message.

    >>> check_tree([1, -1, -2], [2, -3, -4], [0, 1, 0], 2, 4, "tree 0")
    >>> check_tree([0], [-1], [0], 1, 2, "tree 0")
    Traceback (most recent call last):
        ...
    fireassay.core.errors.ModelError: tree 0 must be a tree. Got children that point outside ...
    """
    first, second = (np.asarray(c, dtype=np.int64) for c in (left, right))
    columns = np.asarray(features, dtype=np.int64)
    n = len(first)
    inner = np.ones(n, dtype=bool) if n_leaves is not None else first != -1
    lowest = 0 if n_leaves is None else -n_leaves
    sound = len(second) == n == len(columns)
    if sound and inner.any():
        children = np.concatenate([first[inner], second[inner]])
        sound = bool(
            (children >= lowest).all()
            and (children < n).all()
            and (columns[inner] >= 0).all()
            and (columns[inner] < n_features).all()
        )
        # Every node but the root is the child of one other: then nothing runs in circles that
        # can be reached from the root.
        nodes = children[children >= 0]
        sound = sound and len(np.unique(nodes)) == len(nodes) and not (nodes == 0).any()
    if not sound:
        raise ModelError(
            f"{where} must be a tree.",
            got="children that point outside it or in circles, or columns that are not there",
            do="The file is damaged or was changed: save the model again.",
        )


def check_pieces(starts: Any, sizes: Any, total: int, where: str) -> None:
    """Refuse sets of categories that reach outside their array."""
    first, length = (np.asarray(v, dtype=np.int64) for v in (starts, sizes))
    ends = first + length if len(first) == len(length) else np.array([-1])
    if (first < 0).any() or (length < 0).any() or (ends < 0).any() or (ends > total).any():
        raise ModelError(f"{where} must keep its categories.", got="sets that reach outside them")
