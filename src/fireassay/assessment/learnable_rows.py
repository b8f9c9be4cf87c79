"""The rows that ambiguity learns from: of very large rows as many as memory holds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fireassay.assessment.confused_pairs import LEAST_ROWS
from fireassay.core.seeds import generator
from fireassay.data import DataSet

MOST_NUMBERS = 2**26  # of all rows together, a quarter of a gigabyte, of which copies are made

Pair = tuple[Any, Any]


def most_rows(rows: DataSet) -> int:
    """How many rows of this size are learnt from."""
    return int(MOST_NUMBERS // rows.X[0].size)


def too_large(rows: DataSet) -> str | None:
    """Why rows of this size cannot be learnt from, or None."""
    if most_rows(rows) >= 2 * LEAST_ROWS:
        return None
    return (
        f"learning what lies between two classes takes {2 * LEAST_ROWS} rows in memory, of at most "
        f"{MOST_NUMBERS // (2 * LEAST_ROWS):,} numbers each; these have {rows.X[0].size:,}"
    )


def rows_to_learn_from(
    rows: DataSet, pairs: str | Sequence[Pair], seed: int
) -> tuple[DataSet, str | list[Pair]]:
    """The rows, and the pairs of classes that they are enough for; few enough rows stay all.

    Of too many, each class of the first pairs gets its share, drawn at random.

    >>> rows = DataSet(np.random.default_rng(0).random((90, 2)), np.arange(90) % 3)
    >>> some, pairs = rows_to_learn_from(rows, [(0, 1)], seed=0)
    >>> some is rows, pairs
    (True, [(0, 1)])
    """
    most = most_rows(rows)
    if len(rows) <= most:
        return rows, pairs if isinstance(pairs, str) else list(pairs)
    kept: str | list[Pair] = pairs if isinstance(pairs, str) else []
    classes: list[Any] = list(rows.classes) if isinstance(pairs, str) else []
    for pair in () if isinstance(pairs, str) else pairs:
        more = [label for label in pair if label not in classes]
        if len(classes) + len(more) <= most // LEAST_ROWS:
            classes.extend(more)
            assert isinstance(kept, list)
            kept.append(pair)
    chosen = []
    for label in classes:
        own = np.flatnonzero(rows.labels == label)
        order = generator(seed, "rows to learn from", str(label)).permutation(len(own))
        chosen.append(own[order[: most // len(classes)]])
    return rows.subset(np.sort(np.concatenate(chosen))), kept
