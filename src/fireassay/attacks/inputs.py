"""Checked inputs of an attack: model, bounds, rows, mask; and a one-line model for examples."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.classifiers import GradientClassifier, as_classifier
from fireassay.core.arrays import AnyArray, BoolArray
from fireassay.core.errors import DataError, ModelError
from fireassay.core.lazy import require
from fireassay.core.words import percent


def checked_classifier(model: Any, *, needs_gradients: bool) -> Any:
    """The model behind the protocol, refused if gradients are needed and it has none."""
    classifier = as_classifier(model)
    if needs_gradients and not isinstance(classifier, GradientClassifier):
        raise ModelError(
            "This attack needs a model with gradients (a torch module, for example).",
            got=f"{type(classifier).__name__}, which answers with probabilities only",
            do="Use attacks.square (scores alone) or attacks.hopskipjump (decisions alone).",
        )
    return classifier


def bounds_of(model: Any, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The model's bounds as the nearest numbers of X's type that do not lie outside them."""
    if model.bounds is None:
        return dtype.type(-np.inf), dtype.type(np.inf)
    low, high = model.bounds
    inner_low, inner_high = dtype.type(low), dtype.type(high)
    if float(inner_low) < low:
        inner_low = np.nextafter(inner_low, dtype.type(np.inf))
    if float(inner_high) > high:
        inner_high = np.nextafter(inner_high, dtype.type(-np.inf))
    return inner_low, inner_high


def check_inside(rows: AnyArray, low: Any, high: Any) -> None:
    """Refuse rows that lie outside the bounds by more than the rounding of the bound itself."""
    smallest, largest = rows.min(), rows.max()
    # float32(0.1) lies above 0.1: a rounding of the bound itself is not an error.
    slack = 1e-6 * max(1.0, abs(float(high - low))) if np.isfinite(high - low) else 0.0
    if smallest < low - slack or largest > high + slack:
        raise DataError(
            f"X must lie inside the model's bounds [{low:g}, {high:g}].",
            got=f"values from {smallest:g} to {largest:g}",
            do="Scale X as the model was trained (0-255 against 0-1?), or correct bounds=.",
        )


def checked_mask(mask: ArrayLike | None, shape: tuple[int, ...]) -> BoolArray:
    """Flags of the features that may change, one per feature of a flat row."""
    size = int(np.prod(shape))
    if mask is None:
        return np.ones(size, dtype=np.bool_)
    flags = np.asarray(mask)
    if flags.dtype != np.bool_ or flags.size != size:
        raise DataError(
            f"mask must be {size} booleans, True for every feature that may change.",
            got=f"dtype {flags.dtype}, shape {flags.shape}",
        )
    check_some_free(flags)
    return flags.reshape(-1).copy()


def check_some_free(flags: BoolArray) -> None:
    """Refuse an attack that may change nothing."""
    if not flags.any():
        raise DataError(
            "mask must leave at least one feature free to change.",
            got="none",
            do="Integers and categories are moved by attacks.discrete (and auto) alone.",
        )


_LEAST_SHARE = 0.02


def check_clip_range(X: AnyArray, bounds: tuple[float, float] | None) -> None:
    """Refuse rows in a tiny part of the bounds (0–1 of 0–255): any attack would succeed."""
    if bounds is None:
        return
    low, high = bounds
    used = float(X.max()) - float(X.min())
    if used < _LEAST_SHARE * (high - low):
        raise DataError(
            f"X must use the range in which an attack may move, [{low:g}, {high:g}].",
            got=f"values from {X.min():g} to {X.max():g}, {percent(used / (high - low), 2)} of it",
            do="The clip range is not the input range: correct bounds=, or scale X.",
        )


def line_model(boundary: float, features: int = 1) -> Any:
    """Class 1 where the first feature, in [0, 1], lies above the boundary; logits and gradients.

    >>> line_model(0.5).predict([[0.45], [0.55]]).tolist()
    [0, 1]
    """
    torch = require("torch", "torch", "A model with gradients")
    net = torch.nn.Linear(features, 2)
    with torch.no_grad():
        net.weight.zero_()
        net.weight[:, 0] = torch.tensor([-1.0, 1.0])
        net.bias.copy_(torch.tensor([boundary, -boundary]))
    return as_classifier(net, output="logits", classes=[0, 1], bounds=(0, 1))
