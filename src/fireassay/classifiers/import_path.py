"""Models named by where they live in Python code: "package.module:name"."""

import importlib
import re
from pathlib import Path
from typing import Any

from fireassay.core.errors import ModelError

_PATTERN = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def is_import_path(text: str) -> bool:
    """Whether a text reads like "package.module:name".

    >>> is_import_path("hospital.models:sepsis"), is_import_path("C:/models/m.onnx")
    (True, False)
    """
    return _PATTERN.fullmatch(text) is not None


def accepts(obj: Any) -> bool:
    """Whether a model is named by its place in Python code, and not a file of that name."""
    return isinstance(obj, str) and is_import_path(obj) and not Path(obj).exists()


def adapt(path: str, **options: Any) -> Any:
    """The classifier made of what the path names."""
    from fireassay.classifiers.adapt import as_classifier

    return as_classifier(import_object(path), **options)


def import_object(path: str) -> Any:
    """The object that "package.module:name" names; importing a module runs its code."""
    module_name, _, name = path.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as missing:
        if missing.name is None or not module_name.startswith(missing.name):
            raise ModelError(
                f"The module '{module_name}' must be importable.", got=str(missing)
            ) from missing
        raise ModelError(
            f"The module '{module_name}' must be importable.",
            got=str(missing),
            do="Install it, or add its folder to PYTHONPATH (PYTHONPATH=. for this folder).",
        ) from missing
    except Exception as failure:
        raise ModelError(
            f"The module '{module_name}' must be importable.",
            got=f"{type(failure).__name__}: {failure}",
        ) from failure
    for part in name.split("."):
        if not hasattr(found, part):
            raise ModelError(
                f"'{path}' must name an object.",
                got=f"no '{part}' in {getattr(found, '__name__', type(found).__name__)}",
            )
        found = getattr(found, part)
    return found
