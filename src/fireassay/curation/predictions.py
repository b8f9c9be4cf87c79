"""A classifier's answers as class numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.errors import DataError
from fireassay.core.validation import check_labels, check_probabilities


def check_predictions(predictions: Any, n: int, n_classes: int) -> NDArray[np.int64]:
    """Predicted classes, from class numbers (n,) or probabilities (n, k)."""
    array = np.asarray(predictions)
    if array.ndim == 2 and array.shape[1] > 1:
        probabilities = check_probabilities(array, name="predictions", n=n, n_classes=n_classes)
        best: NDArray[np.int64] = probabilities.argmax(axis=1)
        return best
    labels = check_labels(array, name="predictions", n=n)
    if labels.dtype.kind not in "iub" or labels.min() < 0 or labels.max() >= n_classes:
        raise DataError(
            f"predictions must be class numbers 0..{n_classes - 1}, as in the votes.",
            got=f"values such as {np.unique(labels)[:4].tolist()}",
            do="Map the model's class names to the classes of the labelling functions.",
        )
    return labels.astype(np.int64)


def check_rows(rows: Any, n: int) -> NDArray[np.int64]:
    """Sample numbers, each at most once."""
    array = np.asarray(rows)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array):
        raise DataError(
            "rows must be a list of sample numbers.", got=f"shape {array.shape}, {array.dtype}"
        )
    if array.min() < 0 or array.max() >= n:
        outside = array[(array < 0) | (array >= n)][0]
        raise DataError(f"rows must be in 0..{n - 1}.", got=str(outside))
    if len(np.unique(array)) < len(array):
        raise DataError("Each audited sample must be listed once.", got="repeated rows")
    return array.astype(np.int64)
