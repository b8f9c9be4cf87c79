"""What a user declares about a model and its rows, checked: classes, bounds, numbers."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.errors import DataError, FireassayError, ModelError, ParameterError
from fireassay.core.mapped import stay_bytes
from fireassay.core.validation import check_real

_ROUNDING: Final = 1e-6  # of the declared range: what float32 conversions may add

SUPPORTED: Final = (
    "fireassay tests classifiers: one row of numbers, pixels, a table or one text in, one "
    "probability per class out."
)


def refuse_text(X: ArrayLike) -> None:
    """Refuse text, in words, for a model that takes numbers."""
    kind = getattr(getattr(X, "dtype", None), "kind", None)
    first: Any = X
    if isinstance(X, list | tuple) or (kind == "O" and getattr(X, "ndim", 0) == 1):
        first = next(iter(X), None)  # type: ignore[arg-type]
    if isinstance(first, str) or kind in ("U", "S"):
        raise DataError(
            "This model takes numbers.",
            got="text",
            do="Texts and tables go to scikit-learn pipelines, to functions and to "
            "'package.module:name': write a function that turns them into what the model takes.",
        )


def as_objects(X: Any) -> Any:
    """Texts, or a frame that is not all numbers without holes; None for rows of numbers."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        plain = all(getattr(dtype, "kind", "O") in "fiub" for dtype in X.dtypes)
        return None if plain and not X.isna().to_numpy().any() else X
    if isinstance(X, list | tuple):
        return list(X) if X and all(isinstance(item, str) for item in X) else None
    kind = getattr(getattr(X, "dtype", None), "kind", None)
    if kind in ("O", "U") and getattr(X, "ndim", 0) == 1 and len(X):
        items = X.tolist()
        return items if all(isinstance(item, str) for item in items) else None
    return None


def checked_classes(classes: Sequence[Any]) -> tuple[Any, ...]:
    """Class labels as a tuple, each of them once."""
    if isinstance(classes, str | bytes) or not hasattr(classes, "__iter__"):
        raise ParameterError(
            "The 'classes' parameter must be a sequence of class labels in column order.",
            got=repr(classes),
            do="For ten numbered classes pass classes=range(10).",
        )
    labels = tuple(c.item() if isinstance(c, np.generic) else c for c in classes)
    if len(labels) < 2 or len(set(labels)) != len(labels):
        raise ParameterError(
            "The 'classes' parameter must have at least two labels, each of them once.",
            got=repr(labels)[:200],
        )
    return labels


def checked_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    """Two numbers, the smaller first."""
    try:
        low, high = bounds
    except (TypeError, ValueError) as failure:
        raise ParameterError(
            "The 'bounds' parameter must be two numbers (low, high).", got=repr(bounds)
        ) from failure
    low, high = check_real(low, "bounds[0]"), check_real(high, "bounds[1]")
    if low >= high:
        raise ParameterError("The 'bounds' parameter must have low < high.", got=f"{low}, {high}")
    return low, high


def check_within(array: NDArray[Any], bounds: tuple[float, float]) -> None:
    """Rows must lie within the bounds, up to rounding."""
    low, high = bounds
    slack = _ROUNDING * (high - low)
    if stay_bytes(array) and low <= 0 and high >= 255 / array.divisor:  # type: ignore[attr-defined]
        return
    smallest, largest = float(array.min()), float(array.max())
    if smallest < low - slack or largest > high + slack:
        raise DataError(
            f"Inputs must lie within the declared bounds [{low:g}, {high:g}].",
            got=f"values from {smallest:g} to {largest:g}",
            do="Rescale X (0–255 images: X / 255), or declare other bounds in as_classifier.",
        )


def columns_of(frame: Any, names: Sequence[str], model: str) -> Any:
    """The columns that a model was fitted on, in its order."""
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise DataError(
            f"The {model} was fitted on the columns {list(names)[:8]!r}.",
            got=f"a data frame without {missing[:8]!r}",
        )
    return frame[names]


def flattened(array: NDArray[Any], n_features: int, model: str) -> NDArray[Any]:
    """Rows as a table; images are flattened for a model that was fitted on their pixels."""
    if math.prod(array.shape[1:]) != n_features:
        raise DataError(
            f"The {model} takes rows of {n_features} features.", got=f"shape {array.shape}"
        )
    return array.reshape(len(array), -1)


def checked_layers(layers: Sequence[str], known: Sequence[str]) -> list[str]:
    """The names of layers to read, or of one; at least one, all of them known."""
    names = [layers] if isinstance(layers, str) else list(layers)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise ParameterError(
            f"Layers must be among {', '.join(known[:20])}.", got=repr(unknown or names)
        )
    return names


@contextlib.contextmanager
def readable(expected: str, name: str, most: int = 500) -> Iterator[None]:
    """While a file is read: what a library raises is an error of the model in the file."""
    try:
        yield
    except FireassayError:
        raise
    except Exception as failure:
        got = f"{name!r}: {type(failure).__name__}: {failure}"[:most]
        raise ModelError(expected, got=got) from failure


def refuse_masked(X: Any) -> None:
    """Refuse masked arrays: what is hidden in them would be sent as if it were there."""
    if np.ma.isMaskedArray(X):
        raise DataError(
            "X must be a plain array.",
            got="a masked array",
            do="Fill what is missing (X.filled(…)), or leave the rows out.",
        )
