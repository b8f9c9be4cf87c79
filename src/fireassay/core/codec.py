"""Results as a strict-JSON tree plus named arrays, and back: one file, never a pickle."""

from __future__ import annotations

import dataclasses
import importlib
import io
import lzma
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core import strict_json
from fireassay.core.arrays import AnyArray
from fireassay.core.errors import DataError
from fireassay.core.files import write_bytes
from fireassay.core.frames import is_frame
from fireassay.core.lazy_modules import pd
from fireassay.core.limits import MAX_BYTES, check_declared_size
from fireassay.core.npy_header import check_npy_header
from fireassay.core.regular_file import check_regular

Arrays = dict[str, AnyArray]
_TREE = "tree.json"
# Of the file: 1 had no number in it. Raised when a saved result of before can no longer be read.
SCHEMA_VERSION = 2
_DAMAGED = (
    ArithmeticError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    NotImplementedError,
    OSError,  # a damaged bzip2 stream
    RuntimeError,  # an encrypted member, or a tree too deep
    TypeError,
    ValueError,
    lzma.LZMAError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


def encode(value: Any) -> tuple[Any, Arrays]:
    """Split a value into a JSON tree and the arrays it refers to.

    Plain types, lists, tuples, dicts with string keys, arrays, pandas frames, and dataclasses of
    fireassay are understood; anything else is refused.
    """
    arrays: Arrays = {}
    return _encode(value, arrays), arrays


def decode(tree: Any, arrays: Arrays) -> Any:
    """The inverse of `encode`. Only dataclasses of fireassay itself are ever created."""
    if isinstance(tree, list):
        return [decode(item, arrays) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if "$array" in tree:
        return arrays[tree["$array"]]
    if "$tuple" in tree:
        return tuple(decode(item, arrays) for item in tree["$tuple"])
    if "$frame" in tree:
        return _decode_frame(tree["$frame"], arrays)
    if "$class" in tree:
        fields = {name: decode(item, arrays) for name, item in tree["fields"].items()}
        return _own_dataclass(tree["$class"])(**fields)
    if "$dict" in tree:
        return {key: decode(item, arrays) for key, item in tree["$dict"].items()}
    return {key: decode(item, arrays) for key, item in tree.items()}


def save(value: Any, path: str | Path) -> Path:
    """Write a value to one file, atomically: the file is there whole, or not at all."""
    return write_bytes(path, to_bytes(value))


def load(path: str | Path) -> Any:
    """Read what `save` wrote.

    Raises
    ------
    DataError
        If the file is not a fireassay result, or is damaged.
    """
    try:
        content = check_regular(path).read_bytes()
    except OSError as error:
        raise DataError(f"Expected a saved result at {path}.", got=str(error)) from error
    return from_bytes(content, name=str(path))


def to_bytes(value: Any) -> bytes:
    """A value as bytes of an npz archive; equal values, order of keys included, equal bytes."""
    tree, arrays = encode(value)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        versioned = {"schema_version": SCHEMA_VERSION, "tree": tree}
        _write_member(archive, _TREE, strict_json.dumps(versioned, sort_keys=False).encode())
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            _write_member(archive, f"{name}.npy", member.getvalue())
    return buffer.getvalue()


def from_bytes(content: bytes, *, name: str = "the result") -> Any:
    """The inverse of `to_bytes`.

    Raises
    ------
    DataError
        If these are not such bytes, or those of a fireassay with another schema version.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if len({member.filename for member in members}) < len(members):
                raise DataError("A saved result has each array once.", got="a name twice")
            declared = sum(member.file_size for member in members)
            check_declared_size(declared, MAX_BYTES, name, packed=len(content))
            saved = strict_json.loads(archive.read(_TREE))
            arrays = {
                member.filename.removesuffix(".npy"): _read_array(archive, member, name)
                for member in members
                if member.filename != _TREE
            }
        version = _version_of(saved)
        if version == SCHEMA_VERSION:
            return decode(saved["tree"], arrays)
    except _DAMAGED as error:
        raise DataError(
            f"Expected {name} to be a result saved by fireassay.", got=f"{error}"
        ) from error
    raise DataError(
        f"Expected {name} to be a result with schema version {SCHEMA_VERSION}.",
        got=f"version {version}",
        do="It was saved by another fireassay: make it again with this one.",
    )


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> AnyArray:
    with archive.open(member) as file:
        check_npy_header(file, member.file_size, name)
    with archive.open(member) as file:
        return np.asarray(np.lib.format.read_array(file, allow_pickle=False))


def _version_of(content: Any) -> Any:
    versioned = isinstance(content, dict) and content.keys() == {"schema_version", "tree"}
    return content["schema_version"] if versioned else 1


def _write_member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    # A fixed date: the same value must give the same bytes at any time.
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)


def _encode(value: Any, arrays: Arrays) -> Any:
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            return _encode(value.tolist(), arrays)
        name = f"array{len(arrays)}"
        arrays[name] = value
        return {"$array": name}
    if is_frame(value):
        return {"$frame": _encode_frame(value, arrays)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        path = f"{type(value).__module__}:{type(value).__qualname__}"
        fields = {
            field.name: _encode(getattr(value, field.name), arrays)
            for field in dataclasses.fields(value)
            if field.init
        }
        _own_dataclass(path)
        return {"$class": path, "fields": fields}
    if isinstance(value, tuple):
        return {"$tuple": [_encode(item, arrays) for item in value]}
    if isinstance(value, list):
        return [_encode(item, arrays) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise DataError("Saved dicts must have string keys.", got=f"{list(value)[:3]}")
        encoded = {key: _encode(item, arrays) for key, item in value.items()}
        return {"$dict": encoded} if any(key.startswith("$") for key in value) else encoded
    raise DataError("This type cannot be saved.", got=type(value).__name__)


def _encode_frame(frame: pd.DataFrame, arrays: Arrays) -> dict[str, Any]:
    return {
        "columns": [_encode(name, arrays) for name in frame.columns.tolist()],
        "index": _encode_column(frame.index, arrays),
        "index_name": frame.index.name,
        "values": [_encode_column(frame.iloc[:, i], arrays) for i in range(frame.shape[1])],
    }


def _encode_column(column: Any, arrays: Arrays) -> Any:
    values = column.to_numpy()
    if values.dtype.kind in "biuf":
        return _encode(values, arrays)
    return [None if item is pd.NA else _encode(item, arrays) for item in values.tolist()]


def _decode_frame(tree: dict[str, Any], arrays: Arrays) -> pd.DataFrame:
    index = pd.Index(decode(tree["index"], arrays), name=tree["index_name"])
    columns = [decode(column, arrays) for column in tree["columns"]]
    values = [decode(column, arrays) for column in tree["values"]]
    frame = pd.DataFrame({i: pd.Series(column, index=index) for i, column in enumerate(values)})
    frame.columns = pd.Index(columns)
    return frame if values else pd.DataFrame(index=index)


def _own_dataclass(path: str) -> type[Any]:
    module_name, _, qualified = path.partition(":")
    # "fireassay.__main__" is a program: importing it would run it.
    own = module_name.split(".")[0] == "fireassay" and "__" not in module_name
    if not own or not qualified.isidentifier():
        raise DataError("Only dataclasses of fireassay can be saved and loaded.", got=repr(path))
    found = getattr(importlib.import_module(module_name), qualified, None)
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
        raise DataError("Expected the name of a fireassay dataclass.", got=repr(path))
    return found
