"""Models named by where they live in Python code: "package.module:name"."""

import functools
import importlib
import inspect
import re
import types
from pathlib import Path
from typing import Any

from fireassay.core.errors import ModelError

_PATTERN = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def is_import_path(text: str) -> bool:
    """Whether a text reads like "package.module:name"."""
    return _PATTERN.fullmatch(text) is not None


def accepts(obj: Any) -> bool:
    """Whether a model is named by its place in Python code, and not a file of that name."""
    return isinstance(obj, str) and is_import_path(obj) and not Path(obj).exists()


def adapt(path: str, **options: Any) -> Any:
    """The classifier made of what the path names: a model, or a function that loads one."""
    from fireassay.classifiers.adapt import as_classifier

    return as_classifier(loaded(import_object(path), path), **options)


def loaded(found: Any, path: str) -> Any:
    """What a factory (called once in a process) makes; anything else as it is."""
    # A function or class that needs no argument is called; if its return, such as an array, cannot
    # be a model, the function itself is the model.
    made: Any = _called
    return made(found, path) if inspect.isroutine(found) or inspect.isclass(found) else found


@functools.cache
def _called(found: Any, path: str) -> Any:
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return found
    several = inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL
    if any(p.default is p.empty and p.kind not in several for p in parameters):
        return found
    takes_rows = bool(parameters) and not inspect.isclass(found)  # a model after all
    expected = f"'{path}' must return a model when it is called without arguments."
    try:
        made = found()
    except Exception as failure:
        if takes_rows:
            return found
        got = f"{type(failure).__name__}: {failure}"[:400]
        raise ModelError(expected, got=got) from failure
    if _can_be_a_model(made):
        return made
    if takes_rows:
        return found
    do = "Return an estimator, a module, a function of the rows or the path of a model file."
    raise ModelError(expected, got=type(made).__name__, do=do)


def _can_be_a_model(made: Any) -> bool:
    from fireassay.classifiers.adapters import ADAPTERS
    from fireassay.classifiers.protocol import Classifier

    if isinstance(made, str | Path):
        return Path(made).is_file() or str(made).startswith(("http://", "https://"))
    return isinstance(made, Classifier) or any(row.accepts(made) for row in ADAPTERS.values())


def loaded_class(kind: type, path: str) -> Any:
    """An object of a class that needs no argument."""
    try:
        return kind()
    except Exception as failure:
        raise ModelError(
            f"'{path}' names a method: its class must be made without arguments.",
            got=f"{type(failure).__name__}: {failure}"[:400],
        ) from failure


def import_object(path: str) -> Any:
    """The object that "package.module:name" names; importing a module runs its code."""
    module_name, _, name = path.partition(":")
    if module_name.endswith(".py"):
        module = module_name.removesuffix(".py").replace("/", ".")
        raise ModelError(
            "A model is named by its module, not by its file.",
            got=repr(path),
            do=f"Write '{module}:{name}', its folder on PYTHONPATH (PYTHONPATH=. for here).",
        )
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as failure:
        got, do = f"{type(failure).__name__}: {failure}", None
        if isinstance(failure, ModuleNotFoundError):
            got = str(failure)
            if failure.name is not None and module_name.startswith(failure.name):
                do = "Install it, or add its folder to PYTHONPATH (PYTHONPATH=. for this folder)."
        expected = f"The module '{module_name}' must be importable."
        raise ModelError(expected, got=got, do=do) from failure
    for part in name.split("."):
        if not hasattr(found, part):
            raise ModelError(
                f"'{path}' must name an object.",
                got=f"no '{part}' in {getattr(found, '__name__', type(found).__name__)}",
            )
        own = inspect.getattr_static(found, part, None)  # None: made on demand by the module
        bound = inspect.isfunction(own) or isinstance(own, types.MethodDescriptorType)
        if inspect.isclass(found) and bound:
            found = loaded_class(found, path)  # "module:Class.method" is a method of an object
        found = getattr(found, part)
    return found
