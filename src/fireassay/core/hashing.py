"""Content hashes: equal content, equal hash; nothing else counts."""

from __future__ import annotations

import dataclasses
import hashlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core.arrays import is_frame, is_series
from fireassay.core.errors import DataError


def sha256(*values: Any) -> str:
    """SHA-256 of values by content: arrays, frames, sparse matrices, dataclasses, plain types.

    Args:
        values: What to hash, in this order.

    >>> sha256(np.arange(3), {"a": 1, "b": 2.0}) == sha256(np.arange(3), {"b": 2.0, "a": 1})
    True
    """
    digest = hashlib.sha256()
    for value in values:
        _feed(digest, value)
    return digest.hexdigest()


def sha256_file(path: str | Path) -> str:
    """SHA-256 of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _feed(digest: Any, value: Any) -> None:
    content_hash = getattr(value, "sha256", None)
    if isinstance(content_hash, str):
        _tag(digest, "hashed", content_hash)
    elif value is None or isinstance(value, bool | int | float | str | bytes):
        _tag(digest, type(value).__name__, repr(value))
    elif isinstance(value, np.generic):
        _feed(digest, value.item())
    elif isinstance(value, np.ndarray):
        _feed_array(digest, value)
    elif is_frame(value):
        _tag(digest, "frame", f"{len(value)}x{value.shape[1]}")
        for column in value.columns:
            _feed(digest, column)
            _feed(digest, value[column].to_numpy())
    elif is_series(value):
        _feed(digest, value.to_numpy())
    elif _is_sparse(value):
        _feed_sparse(digest, value)
    elif isinstance(value, list | tuple):
        _tag(digest, "list", str(len(value)))
        for item in value:
            _feed(digest, item)
    elif isinstance(value, dict):
        _tag(digest, "dict", str(len(value)))
        for key in sorted(value, key=lambda k: (type(k).__name__, repr(k))):
            _feed(digest, key)
            _feed(digest, value[key])
    elif isinstance(value, set | frozenset):
        _feed(digest, sorted(value, key=repr))
    elif isinstance(value, Path):
        _tag(digest, "path", str(value))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        _tag(digest, "dataclass", f"{type(value).__module__}.{type(value).__qualname__}")
        for field in dataclasses.fields(value):
            _feed(digest, field.name)
            _feed(digest, getattr(value, field.name))
    else:
        raise DataError(
            "Only arrays, frames, dataclasses and plain values can be hashed by content.",
            got=type(value).__name__,
            do="Give the object an attribute 'sha256' that identifies its content.",
        )


def _is_sparse(value: Any) -> bool:
    # Whoever made a sparse matrix has imported scipy.sparse; nobody else should pay for it.
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(value))


def _feed_sparse(digest: Any, value: Any) -> None:
    matrix = value.tocsr().sorted_indices()
    _tag(digest, "sparse", str(matrix.shape))
    for part in (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data):
        _feed_array(digest, part)


def _feed_array(digest: Any, array: np.ndarray[Any, Any]) -> None:
    if array.dtype.kind == "O":
        _tag(digest, "objects", str(array.shape))
        for item in array.ravel().tolist():
            _feed(digest, item)
        return
    _tag(digest, "array", f"{array.dtype.str}{array.shape}")
    flat = np.ascontiguousarray(array)
    if flat.dtype.kind in "mM":
        flat = flat.view(np.int64)
    digest.update(flat.data if flat.size and flat.dtype.kind != "U" else flat.tobytes())


def _tag(digest: Any, kind: str, text: str) -> None:
    encoded = text.encode("utf-8", "surrogatepass")
    digest.update(f"{kind}:{len(encoded)}:".encode())
    digest.update(encoded)
