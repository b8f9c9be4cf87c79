"""The identity of a task: its function, its row and all that it is given."""

import functools
import hashlib
import inspect
import types
from collections.abc import Mapping
from typing import Any

from fireassay.core.errors import ParameterError
from fireassay.core.hashing import sha256
from fireassay.engine.attempt import Task
from fireassay.version import __version__


def task_ids(task: Task, rows: list[Any], shared: Mapping[str, Any]) -> list[str]:
    """One id for each row; other code, row, shared content or fireassay version: another id."""
    common = sha256(
        __version__,
        function_identity(task),
        {key: _hashable(value) for key, value in shared.items()},
    )
    return [sha256(common, row) for row in rows]


def function_name(task: Task) -> str:
    """The function as ``module:name``."""
    if isinstance(task, functools.partial):
        return function_name(task.func)
    return f"{task.__module__}:{task.__qualname__}"


def function_identity(task: Task) -> str:
    """A hash of the function's name and source text.

    Raises
    ------
    ParameterError
        For a lambda or an inner function: what it has caught from outside would not be seen.
    """
    if isinstance(task, functools.partial):
        bound = {str(key): _hashable(value) for key, value in task.keywords.items()}
        return sha256(function_identity(task.func), [_hashable(a) for a in task.args], bound)
    name = function_name(task)
    if "<" in name:
        raise ParameterError(
            "A task of a stored run must be a function at the top level of a module.",
            got=name,
            do="Move it there, and pass what it needs through the row or shared=.",
        )
    return sha256(name, _source_hash(task))


def _source_hash(task: Task) -> str:
    if isinstance(task, types.BuiltinFunctionType | types.BuiltinMethodType):
        return "builtin"
    try:
        return sha256(inspect.getsource(task))
    except (OSError, TypeError):  # no source file: typed into an interpreter
        code = getattr(task, "__code__", None)
        return (
            ""
            if code is None
            else hashlib.sha256(code.co_code + repr(code.co_consts).encode()).hexdigest()
        )


def _hashable(value: Any) -> Any:
    return function_identity(value) if isinstance(value, types.FunctionType) else value
