"""Which class each column of a model stands for, if the model itself has no names for them."""

import warnings
from collections.abc import Sequence
from typing import Any

from fireassay.core.errors import AssumptionWarning


def column_classes(model_classes: Sequence[Any], classes: Sequence[Any]) -> tuple[Any, ...]:
    """The model's classes; if these are mere column numbers, the data's classes in their order.

    Functions, ONNX files and torch modules answer in columns 0 … k-1. If the data have as many
    classes with names of their own, the columns are taken to be in sorted order of these names.
    """
    known, own = tuple(model_classes), tuple(classes)
    if known != tuple(range(len(own))) or set(known) & set(own):
        return known
    warnings.warn(
        f"The model does not name its classes: its columns are taken to be "
        f"{', '.join(map(str, own[:12]))}{', …' if len(own) > 12 else ''}, in this order. "
        "Pass classes= to as_classifier to say so, or to say otherwise.",
        AssumptionWarning,
        stacklevel=3,
    )
    return own
