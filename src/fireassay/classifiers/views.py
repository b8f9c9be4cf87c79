"""Where distances between rows are measured: in the rows, or in the view of a coded model."""

from typing import Any

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray
from fireassay.core.byte_images import LEAST_NUMBERS


def numeric_view(model: Any, rows: AnyArray) -> FloatArray:
    """Rows as points, shape (n, d): as the model views them, if it does, else as they are.

    Parameters
    ----------
    model
        A classifier; `CodedClassifier` and what is wrapped around it have a view.
    rows
        As the classifier takes them.

    >>> numeric_view(None, np.zeros((2, 3, 3))).shape
    (2, 9)
    """
    if not has_view(model):
        return flat_rows(rows)
    viewed: FloatArray = model.view(rows)
    return viewed


def has_view(model: Any) -> bool:
    """Whether a classifier has a view of its rows that is not the rows themselves."""
    inner = getattr(model, "model", None)
    return hasattr(model, "book") or (inner is not None and has_view(inner))


def flat_rows(rows: AnyArray) -> FloatArray:
    """Rows of any shape as float64 points; not copied where they are that already.

    Too many to be held twice stay what they are: whoever takes some of them gets floats.
    """
    flat = rows.reshape(len(rows), -1)
    return flat if flat.size >= LEAST_NUMBERS else flat.astype(np.float64, copy=False)
