"""Integer labels beside a model with named classes: label i is the i-th class, and this is said."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.context import Context
from fireassay.data import DataSet


def named_by_index(context: Context) -> Context:
    """The context with integer labels named by the model's classes, where these are names.

    Where the labels have names of their own (``class_names``), those count instead of the
    position, if the model knows them all.
    """
    classes = tuple(context.model.classes)
    if not all(isinstance(name, str) for name in classes):
        return context
    sets = {name: getattr(context, name) for name in ("test", "train", "operational")}
    renamed = {name: _renamed(data, classes) for name, data in sets.items()}
    changed: dict[str, Any] = {name: data for name, data in renamed.items() if data is not None}
    if not changed:
        return context
    shown = ", ".join(f"{i} = {name!r}" for i, name in enumerate(classes[:4]))
    more = ", …" if len(classes) > 4 else ""
    note = f"Integer labels ({', '.join(changed)} rows) name the model's classes: {shown}{more}."
    return replace(context, **changed, notes=(*context.notes, note))


def _renamed(data: DataSet | None, classes: tuple[str, ...]) -> DataSet | None:
    """The rows with names for labels; None where there is nothing to rename."""
    if data is None or data.y is None or data.y.dtype.kind not in "iu":
        return None
    own = data.class_names
    names: tuple[Any, ...] = own if own is not None and set(own) <= set(classes) else classes
    y: NDArray[np.int64] = data.y
    if y.min() < 0 or y.max() >= len(names):
        return None  # labels that the model does not know: said where they are compared
    return replace(data, y=np.asarray(names)[y], class_names=None if own is None else names)
