"""What the statistical functions accept: finite one-dimensional samples, confidences, classes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import BoolArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import special
from fireassay.core.validation import check_finite, check_real

FloatVector = NDArray[np.float64]
Scalar = float | np.integer[Any] | np.floating[Any]


def check_sample(values: ArrayLike, name: str, *, min_rows: int = 1) -> FloatVector:
    """A finite float64 array of shape ``(n,)``."""
    array = as_real(values, name)
    if array.ndim != 1:
        raise DataError(f"{name} must have shape (n,).", got=f"shape {array.shape}")
    if len(array) < min_rows:
        raise DataError(f"{name} must have at least {min_rows} value(s).", got=f"{len(array)}")
    check_finite(array, name=name)
    return array


def check_counts(values: ArrayLike, name: str) -> FloatVector:
    """Finite counts (fractions allowed) that are not negative, of any shape."""
    array = as_real(values, name)
    if not np.isfinite(array).all() or (array < 0).any():
        bad = array[~(np.isfinite(array) & (array >= 0))]
        raise DataError(f"{name} must be finite and at least 0.", got=f"{bad.ravel()[0]}")
    return array


def check_confidence(confidence: float) -> float:
    """A confidence strictly between 0 and 1."""
    return check_real(confidence, "confidence", low=0.0, high=1.0)


def check_positive(positive: ArrayLike, n: int) -> BoolArray:
    """Which rows are positive: bool or 0/1, one per score, with both classes present."""
    array = np.asarray(positive)
    if array.ndim != 1 or len(array) != n:
        raise DataError(
            f"positive must have one value per score, shape ({n},).", got=f"shape {array.shape}"
        )
    if array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        raise DataError(
            "positive must be True/False (or 1/0).",
            got=f"dtype {array.dtype} with other values",
            do="Pass y == positive_class.",
        )
    marks: BoolArray = array.astype(np.bool_)
    if marks.all() or not marks.any():
        raise DataError(
            "positive must have both classes: the AUC compares positives with negatives.",
            got=f"{int(marks.sum())} positive and {int((~marks).sum())} negative rows",
        )
    return marks


def as_real(values: ArrayLike, name: str) -> FloatVector:
    """Numbers as float64, whatever their shape."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"dtype {array.dtype}")
        return array.astype(np.float64)
    except (TypeError, ValueError) as failure:
        raise DataError(f"{name} must be real numbers.", got=str(failure)) from failure


def logit_ends(value: float, half: float) -> tuple[float, float]:
    """Ends of an interval of a share that is symmetric on the logit scale; (0, 1) without end."""
    if not np.isfinite(half):
        return 0.0, 1.0
    low, high = special.expit(special.logit(value) + np.array([-half, half]))
    return float(low), float(high)
