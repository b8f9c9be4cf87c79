"""JSON files that fireassay keeps beside its results, read as if somebody had sent them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from fireassay.core import strict_json
from fireassay.core.errors import DataError, FireassayError
from fireassay.core.regular_file import read_small_text

Made = TypeVar("Made")


def read_kept(path: Path, make: Callable[[Any], Made]) -> Made:
    """What ``make`` makes of a file's content.

    Raises
    ------
    DataError
        If the file cannot be read, is no strict JSON, or is not what ``make`` expects.
    """
    damaged = (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError)
    try:
        content = strict_json.loads(read_small_text(path))
    except damaged as damage:
        raise _damaged(path, damage) from damage
    try:
        return make(content)
    except FireassayError:
        raise
    except damaged as damage:
        raise _damaged(path, damage) from damage


def _damaged(path: Path, damage: Exception) -> DataError:
    return DataError(
        f"{path} must be as fireassay wrote it.",
        got=f"{type(damage).__name__}: {damage}"[:200],
        do="Delete it, or run the same command as before: it is written anew.",
    )
