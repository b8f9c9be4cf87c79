"""Checks at the border: inside the library, arrays are trusted."""

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import IntArray, Probabilities
from fireassay.core.errors import DataError, ParameterError, ProbabilityError
from fireassay.core.groups import Groups, largest_group
from fireassay.core.mapped import stay_bytes

Floats = NDArray[np.floating[Any]]
_NUMBERS_AT_ONCE = 2**24
_SLACK = 1e-3  # how far probabilities may be from [0, 1], and their sum from one
_FLOAT32_SUM = 1e-5  # how far from one the sum of rounded float32 probabilities may be


_LABELS = "A model that gives labels only: pass output='labels' and classes=[…]."
_TABLES = "Tables with names, texts and dates go through fireassay run or evaluate."


def check_features(X: ArrayLike, *, name: str = "X", min_rows: int = 1) -> Floats:
    """Features as a finite float array of shape ``(n, ...)``; float32 stays float32."""
    array = _numeric(X, name)
    if array.ndim < 2:
        raise DataError(
            f"{name} must have rows and features: shape (n, d) or (n, height, width, channels).",
            got=f"shape {array.shape}",
            do=f"For one feature use {name}.reshape(-1, 1), for one row {name}.reshape(1, -1).",
        )
    if array.shape[0] < min_rows:
        raise DataError(f"{name} must have at least {min_rows} row(s).", got=f"{len(array)} rows")
    if 0 in array.shape[1:]:
        raise DataError(f"{name} must have at least one feature.", got=f"shape {array.shape}")
    if not stay_bytes(array):
        check_finite(array, name=name)
    return array


def refuse_masked(values: Any, name: str) -> None:
    """Refuse a masked array: what it hides would be used as if it were there."""
    if isinstance(values, np.ma.MaskedArray):
        raise DataError(
            f"{name} must be a plain array.",
            got=f"a masked array with {int(np.ma.getmaskarray(values).sum())} hidden values",
            do="Fill the hidden values or drop their rows: array.filled(…), array.compressed().",
        )


def check_finite(array: Floats, *, name: str) -> None:
    """Refuse NaN and infinities, and say in which row the first one is."""
    step = max(1, _NUMBERS_AT_ONCE // max(1, math.prod(array.shape[1:])))
    pieces = [array[start : start + step] for start in range(0, len(array), step)]
    if not all(np.isfinite(piece).all() for piece in pieces):
        fine = [np.isfinite(piece).reshape(len(piece), -1).all(axis=1) for piece in pieces]
        bad = ~np.concatenate(fine)
        raise DataError(
            f"{name} must be finite.",
            got=f"NaN or infinity in {int(bad.sum())} row(s), first in row {int(bad.argmax())}",
            do="Impute or drop those rows first; fireassay does not guess values.",
        )


def check_labels(y: ArrayLike, *, name: str = "y", n: int | None = None) -> NDArray[Any]:
    """Labels as a 1-D array without missing values; integral floats become int64."""
    refuse_masked(y, name)
    array = y if isinstance(y, Groups) else np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(
            f"{name} must be one label per row, shape (n,).",
            got=f"shape {array.shape}",
            do="For one-hot labels pass y.argmax(axis=1).",
        )
    if array.dtype.kind == "c":
        raise DataError(f"{name} must be class labels.", got="complex numbers")
    if array.dtype.kind == "f":
        _check_whole(array, name)
        array = array.astype(np.int64)
    elif array.dtype.kind == "O":
        _check_one_type(array, name)
        array = np.array(array.tolist())
        array = Groups(array, largest_group(y)) if isinstance(y, Groups) else array
    elif array.dtype.kind in "iu":
        array = array.astype(np.int64)
    if n is not None:
        check_lengths(X=n, **{name: len(array)})
    return array


def _check_whole(array: NDArray[Any], name: str) -> None:
    """Refuse numbers that are missing, or continuous."""
    if not np.isfinite(array).all():
        raise DataError(f"{name} must not be missing.", got="NaN or infinity among the labels")
    if (array != np.round(array)).any():
        raise DataError(
            f"{name} must be class labels, not continuous values.",
            got=f"{array[array != np.round(array)][0]!r}",
            do="fireassay tests classifiers; a regressor's target cannot be used.",
        )


def _check_one_type(array: NDArray[Any], name: str) -> None:
    """Refuse objects that are missing, or of several types."""
    missing = [i for i, label in enumerate(array) if label is None or label != label]
    if missing:
        raise DataError(f"{name} must not be missing.", got=f"no label in row {missing[0]}")
    kinds = {str if isinstance(label, str) else type(label) for label in array}
    if len(kinds) > 1:
        raise DataError(
            f"{name} must have labels of one type.",
            got=", ".join(sorted(kind.__name__ for kind in kinds)),
        )


def check_class_indices(
    y: ArrayLike, classes: Sequence[Any], *, name: str = "y", n: int | None = None
) -> IntArray:
    """Labels as positions in ``classes``; a label the model does not know is refused."""
    labels = check_labels(y, name=name, n=n)
    plain = (label.item() if isinstance(label, np.generic) else label for label in classes)
    position = {label: i for i, label in enumerate(plain)}
    unique, inverse = np.unique(labels, return_inverse=True)
    unknown = [label for label in unique.tolist() if label not in position]
    if unknown:
        raise DataError(
            f"{name} must contain only classes of the model ({_listed(list(position))}).",
            got=f"the label(s) {_listed(unknown)}",
            do="Drop those rows, or pass classes= to as_classifier in the model's column order.",
        )
    lookup = np.array([position[label] for label in unique.tolist()], dtype=np.int64)
    return lookup[inverse.ravel()] if len(lookup) else np.zeros(0, dtype=np.int64)


def check_probabilities(
    probabilities: ArrayLike,
    *,
    name: str = "probabilities",
    n: int | None = None,
    n_classes: int | None = None,
    keep_float32: bool = False,
) -> Probabilities:
    """Class probabilities as float64 rows that sum to one exactly (to rounding)."""
    # With keep_float32, float32 rows stay (perhaps the caller's memory) unless their sum is off by
    # more than rounding. What happens to a row never depends on the others.
    array = _numeric(probabilities, name, ProbabilityError)
    if array.ndim != 2:
        raise ProbabilityError(
            f"{name} must have one row per input and one column per class.",
            got=f"shape {array.shape}",
            do=_LABELS,
        )
    if n is not None and len(array) != n:
        raise ProbabilityError(f"{name} must have {n} rows, one per input.", got=f"{len(array)}")
    if n_classes is not None and array.shape[1] != n_classes:
        raise ProbabilityError(
            f"{name} must have {n_classes} columns, one per class.", got=f"{array.shape[1]}"
        )
    if array.shape[1] < 2:
        raise ProbabilityError(
            f"{name} must have at least two columns.",
            got=f"{array.shape[1]}",
            do="For the probability p of one class pass the columns [1 - p, p].",
        )
    as_it_comes = keep_float32 and array.dtype == np.float32
    # In C order, so that the sum of a row does not depend on how many rows there are.
    values: Probabilities = np.ascontiguousarray(array) if as_it_comes else array.astype(np.float64)
    if not values.size:
        return values
    sums = values.sum(axis=1, keepdims=True)
    low, high = float(values.min()), float(values.max())  # NaN if there is one
    if np.isnan(low):
        row = int(np.isnan(array).any(axis=1).argmax())
        raise ProbabilityError(f"{name} must not be NaN.", got=f"NaN in row {row}")
    bad = ~(np.abs(sums[:, 0] - 1) <= _SLACK)
    if low < -_SLACK or high > 1 + _SLACK:
        bad |= ((values < -_SLACK) | (values > 1 + _SLACK)).any(axis=1)
    if bad.any():
        row = int(bad.argmax())
        raise ProbabilityError(
            f"{name} must be in [0, 1] and sum to 1 in every row.",
            got=f"row {row}: {np.array2string(array[row], precision=4, threshold=8)}",
            do="If the model returns logits, pass output='logits'.",
        )
    if low < 0.0 or high > 1.0:
        values = np.clip(values, 0.0, 1.0)
        sums = values.sum(axis=1, keepdims=True)
    if not as_it_comes:
        values /= sums
        return values
    off = np.abs(sums - 1) > _FLOAT32_SUM
    return np.where(off, values / sums, values) if off.any() else values


def check_lengths(**lengths: int) -> None:
    """Refuse arrays of different lengths, by name: ``check_lengths(X=len(X), y=len(y))``."""
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise DataError("Arrays must have the same number of rows.", got=listed)


def check_real(
    value: Any, name: str, *, low: float = -np.inf, high: float = np.inf, inclusive: str = "neither"
) -> float:
    """A finite real in an interval; ``inclusive`` is 'neither', 'low', 'high' or 'both'."""
    opening = "[" if inclusive in ("low", "both") else "("
    closing = "]" if inclusive in ("high", "both") else ")"
    ok = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if ok:
        number = float(value)
        above = number >= low if inclusive in ("low", "both") else number > low
        below = number <= high if inclusive in ("high", "both") else number < high
        ok = np.isfinite(number) and above and below
    if not ok:
        raise ParameterError(
            f"The '{name}' parameter must be a float in {opening}{low:g}, {high:g}{closing}.",
            got=repr(value),
        )
    return float(value)


def check_integer(value: Any, name: str, *, low: int = 0, high: int | None = None) -> int:
    """An int in a closed range."""
    ok = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if not ok or int(value) < low or (high is not None and int(value) > high):
        limit = f">= {low}" if high is None else f"in [{low}, {high}]"
        raise ParameterError(f"The '{name}' parameter must be an int {limit}.", got=repr(value))
    return int(value)


def check_choice(value: Any, name: str, choices: Sequence[str]) -> str:
    """One of a few words."""
    if value not in choices:
        raise ParameterError(
            f"The '{name}' parameter must be one of {', '.join(map(repr, choices))}.",
            got=repr(value),
        )
    return str(value)


def _numeric(
    values: ArrayLike, name: str, error: type[DataError] | type[ProbabilityError] = DataError
) -> Floats:
    if stay_bytes(values):
        return values  # type: ignore[return-value]  # numbers from 0 to 255, whose rows are float32
    refuse_masked(values, name)
    try:
        array = np.asarray(values)
    except ValueError as ragged:
        raise error(
            f"{name} must be a rectangular array of numbers.", got="ragged rows"
        ) from ragged
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as failure:
            raise error(
                f"{name} must be numbers.",
                got=f"objects ({failure})",
                do=_TABLES if error is DataError else _LABELS,
            ) from failure
    if array.dtype.kind not in "fiub":
        raise error(
            f"{name} must be real numbers.",
            got=f"dtype {array.dtype}",
            do=_LABELS if error is ProbabilityError and array.dtype.kind == "U" else None,
        )
    if array.dtype.kind == "f" and array.dtype.itemsize in (4, 8):
        return array
    return array.astype(np.float32 if array.dtype == np.float16 else np.float64)


def _listed(items: list[Any], most: int = 6) -> str:
    shown = ", ".join(repr(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown}, … ({len(items)} in all)"
