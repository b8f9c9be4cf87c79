"""Strict JSON (NaN and infinities tagged), and the JSON files kept beside results."""

import functools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from fireassay.core.errors import DataError, FireassayError
from fireassay.core.files import read_small_text

_TAG = "$float"
_ESCAPE = "$literal"
_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def dumps(value: Any, *, indent: int | None = None, sort_keys: bool = True) -> str:
    """Strict JSON with shortest exact floats and ``{"$float": "nan"}`` for NaN."""
    return _encoder(indent, sort_keys).encode(_tagged(value))


@functools.cache
def _encoder(indent: int | None, sort_keys: bool) -> json.JSONEncoder:
    """Made once: a journal writes thousands of small values."""
    return json.JSONEncoder(allow_nan=False, sort_keys=sort_keys, indent=indent, ensure_ascii=False)


def loads(text: str | bytes) -> Any:
    """Read what `dumps` wrote; bare NaN or Infinity tokens and repeated keys are refused."""
    try:
        if isinstance(text, bytes):
            text = text.decode(json.detect_encoding(text), "surrogatepass")
        return _untagged(_DECODER.decode(text))
    except DataError:
        raise
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        raise DataError("Expected strict JSON.", got=str(error)) from error


_PLAIN = frozenset((str, int, bool, type(None)))


def _tagged(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN or (kind is float and math.isfinite(value)):
        return value  # most values, at once
    if isinstance(value, str):
        return value
    if isinstance(value, np.generic):
        value = value.item()
        if value is None or isinstance(value, bool | str):
            return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return {_TAG: "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")}
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise DataError("Keys of a JSON object must be strings.", got=repr(key))
        tagged = {key: _tagged(item) for key, item in value.items()}
        # A user's own {"$float": …} must come back as it was.
        return {_ESCAPE: tagged} if value.keys() <= {_TAG, _ESCAPE} and value else tagged
    if isinstance(value, list | tuple):
        return [_tagged(item) for item in value]
    if isinstance(value, np.ndarray):
        return _tagged(value.tolist())
    raise DataError(
        "Only numbers, text, booleans, None, lists and dicts go into JSON.",
        got=type(value).__name__,
    )


def _untagged(value: Any) -> Any:
    if isinstance(value, list):
        return [_untagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {_TAG} and value[_TAG] in _SPECIAL:
        return _SPECIAL[value[_TAG]]
    if value.keys() == {_ESCAPE} and isinstance(value[_ESCAPE], dict):
        return {key: _untagged(item) for key, item in value[_ESCAPE].items()}
    return {key: _untagged(item) for key, item in value.items()}


def _refuse_constant(name: str) -> None:
    raise DataError("Expected strict JSON.", got=f"the bare token {name}")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) != len(pairs):
        raise DataError("Expected strict JSON.", got="an object that repeats a key")
    return keys


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)


Made = TypeVar("Made")


def read_kept(path: Path, make: Callable[[Any], Made]) -> Made:
    """What ``make`` makes of a file's content."""
    damaged = (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError)
    try:
        content = loads(read_small_text(path))
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
