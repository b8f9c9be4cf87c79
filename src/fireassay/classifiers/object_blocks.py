"""Frames and texts in smaller blocks: what tells their kinds apart, and rows to decide with."""

from typing import Any

import numpy as np

from fireassay.classifiers.block_ladder import kind_of_rows
from fireassay.core.arrays import IntArray
from fireassay.core.hashing import sha256


def kind_of_objects(objects: Any) -> str:
    """A decision holds for one kind of rows: texts, or a frame of these columns.

    >>> kind_of_objects(["a", "b"])
    'objects texts'
    """
    if isinstance(objects, list):
        return "objects texts"
    columns = [(str(name), str(dtype)) for name, dtype in objects.dtypes.items()]
    return f"objects {sha256(columns)[:16]}"


def object_question(objects: Any, positions: IntArray, largest: int) -> str:
    """The name of the decision about such rows, as they are sent: by position."""
    return f"{kind_of_objects(objects)} {kind_of_rows(positions, largest)}"


def distinct_objects(objects: Any, enough: int) -> Any:
    """So many different rows, in their order; None if there are fewer.

    >>> distinct_objects(["a", "b", "a", "c"], 3), distinct_objects(["a", "a"], 2)
    (['a', 'b', 'c'], None)
    """
    if isinstance(objects, list):
        kept = list(dict.fromkeys(objects))[:enough]
        return kept if len(kept) == enough else None
    from pandas.util import hash_pandas_object

    marks = hash_pandas_object(objects, index=False, categorize=False).to_numpy()
    first = np.sort(np.unique(marks, return_index=True)[1])[:enough]
    return objects.iloc[first] if len(first) == enough else None
