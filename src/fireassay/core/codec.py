"""Results as a strict-JSON tree plus named arrays, and back: one file, never a pickle."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core import json_files
from fireassay.core.arrays import AnyArray, is_frame
from fireassay.core.errors import DataError
from fireassay.core.files import (
    ARCHIVE_DAMAGE,
    MAX_BYTES,
    check_declared_size,
    check_npy_header,
    check_regular,
    expected,
    write_bytes,
)
from fireassay.core.lazy import pd

# name -> "module:Class". A moved or renamed class keeps its name; a test lists what is missing.
TABLE = Path(__file__).with_name("saved_names.json")
PAPERS = TABLE.parents[1] / "papers"  # in the repository, not in the wheel
# Version 2 named the module: its package and class are the name, but for these.
_VERSION_2 = {"fireassay.assessment.watch.lines:Columns": "assessment.watch.Columns"}


def saved_name(kind: type) -> str:
    """The name under which a dataclass of fireassay is saved."""
    name = _names().get(f"{kind.__module__}:{kind.__qualname__}")
    if name is None:
        raise DataError(
            "Only dataclasses of fireassay can be saved and loaded.",
            got=f"{kind.__module__}.{kind.__qualname__}",
        )
    return name


def saved_class(name: str) -> type:
    """The dataclass behind a saved name, also behind a module path of version 2."""
    if ":" in name:
        module, _, qualified = name.partition(":")
        package = module.split(".")[1] if "." in module else ""
        name = _VERSION_2.get(name, f"{package}.{qualified}")
    if name not in _homes():
        raise DataError(
            "The file names a class that this version of fireassay does not have.",
            got=repr(name),
            do="Make the result again, or open it with the version that saved it.",
        )
    module, _, qualified = _homes()[name].partition(":")
    found = getattr(importlib.import_module(module), qualified)
    assert isinstance(found, type) and dataclasses.is_dataclass(found)  # noqa: PT018 - our table
    return found


@functools.cache
def _homes() -> dict[str, str]:
    homes: dict[str, str] = json.loads(TABLE.read_text(encoding="utf-8"))
    return {
        name: home
        for name, home in homes.items()
        if home.split(".")[1] != "papers" or PAPERS.is_dir()
    }


@functools.cache
def _names() -> dict[str, str]:
    return {home: name for name, home in _homes().items()}


Arrays = dict[str, AnyArray]
_TREE = "tree.json"
# Of the file: 1 had no number in it, 2 named classes by their modules.
SCHEMA_VERSION = 3
_READ = (2, SCHEMA_VERSION)
_DAMAGED = (*ARCHIVE_DAMAGE, ArithmeticError, AttributeError, ImportError, TypeError)


def encode(value: Any) -> tuple[Any, Arrays]:
    """Split plain values, arrays, frames and saved dataclasses into a JSON tree and its arrays."""
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
        return saved_class(tree["$class"])(**fields)
    if "$dict" in tree:
        return {key: decode(item, arrays) for key, item in tree["$dict"].items()}
    return {key: decode(item, arrays) for key, item in tree.items()}


def save(value: Any, path: str | Path) -> Path:
    """Write a value to one file, atomically: the file is there whole, or not at all."""
    return write_bytes(path, to_bytes(value))


def load(path: str | Path) -> Any:
    """Read what `save` wrote.

    Raises:
        DataError: If the file is not a fireassay result, or is damaged.
    """
    with expected(f"Expected a saved result at {path}.", (OSError,)):
        content = check_regular(path).read_bytes()
    return from_bytes(content, name=str(path))


def to_bytes(value: Any) -> bytes:
    """A value as bytes of an npz archive; equal values, order of keys included, equal bytes."""
    return packed(*encode(value))


def packed(tree: Any, arrays: Arrays) -> bytes:
    """What `encode` made as bytes of an npz archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        versioned = {"schema_version": SCHEMA_VERSION, "tree": tree}
        _write_member(archive, _TREE, json_files.dumps(versioned, sort_keys=False).encode())
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            _write_member(archive, f"{name}.npy", member.getvalue())
    return buffer.getvalue()


def from_bytes(content: bytes, *, name: str = "the result", only: str | None = None) -> Any:
    """The inverse of `to_bytes`; with ``only`` the value of one key of a saved dict."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if len({member.filename for member in members}) < len(members):
                raise DataError("A saved result has each array once.", got="a name twice")
            declared = sum(member.file_size for member in members)
            check_declared_size(declared, MAX_BYTES, name, packed=len(content))
            saved = json_files.loads(archive.read(_TREE))
            arrays = {
                member.filename.removesuffix(".npy"): _read_array(archive, member, name)
                for member in members
                if member.filename != _TREE
            }
        version = _version_of(saved)
        if version in _READ:
            return decode(saved["tree"] if only is None else saved["tree"][only], arrays)
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
    archive.writestr(info, content, compresslevel=1)  # half the time, 3 % more bytes


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
        fields = {
            field.name: _encode(getattr(value, field.name), arrays)
            for field in dataclasses.fields(value)
            if field.init
        }
        return {"$class": saved_name(type(value)), "fields": fields}
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
