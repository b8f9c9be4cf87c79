"""Names of the classes in an ONNX file: its metadata, or the attributes of its last node."""

import ast
import json
from collections.abc import Mapping
from typing import Any, Final

from fireassay.core.extras import is_installed

_KEYS: Final = ("classes", "class_names", "labels", "names", "id2label", "index2label")
_ATTRIBUTES: Final = ("classlabels_strings", "classlabels_int64s", "classlabels_ints")
_MOST_TEXT: Final = 1_000_000


def class_names(
    metadata: Mapping[str, str], model: bytes, n_classes: int
) -> tuple[Any, ...] | None:
    """The names of the columns in their order, if the file has one for each; else None.

    Parameters
    ----------
    metadata
        Of the file: JSON or Python lists, dicts by number, or lines, under a usual key.
    model
        The file's bytes, whose classifier node may have the names as attributes (skl2onnx).
    n_classes
        How many columns there are.

    >>> class_names({"names": "{0: 'cat', 1: 'dog'}"}, b"", 2)
    ('cat', 'dog')
    """
    for key in _KEYS:
        if key in metadata and len(metadata[key]) <= _MOST_TEXT:
            found = _read(metadata[key])
            if found is not None and len(found) == n_classes == len(set(found)):
                return found
    return _of_nodes(model, n_classes) if b"classlabels_" in model else None


def _read(text: str) -> tuple[str, ...] | None:
    value: Any = None
    for reader in (json.loads, ast.literal_eval):
        try:
            value = reader(text)
            break
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    if value is None:
        value = [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    if isinstance(value, dict):
        numbered = {str(key): name for key, name in value.items()}
        if numbered.keys() != {str(i) for i in range(len(numbered))}:
            return None
        value = [numbered[str(i)] for i in range(len(numbered))]
    if not isinstance(value, list | tuple) or any(isinstance(v, list | dict) for v in value):
        return None
    return tuple(str(name) for name in value)


def _of_nodes(model: bytes, n_classes: int) -> tuple[Any, ...] | None:
    if not is_installed("onnx"):
        return None
    import onnx

    nodes = onnx.load_model_from_string(model).graph.node
    for node in reversed(nodes):
        for attribute in node.attribute:
            if attribute.name in _ATTRIBUTES:
                value = onnx.helper.get_attribute_value(attribute)
                names = tuple(v.decode() if isinstance(v, bytes) else int(v) for v in value)
                if len(names) == n_classes == len(set(names)):
                    return names
    return None
