"""The sizes that a skops archive declares, added up before any of it is unpacked."""

import io
import json
import math
import zipfile
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from fireassay.core.errors import ModelError

MOST_BYTES: Final = 2**30
_SCHEMA: Final = "schema.json"
_MOST_SCHEMA_BYTES: Final = 2**26
_MOST_HEADER_BYTES: Final = 2**14


def check_sizes(content: bytes) -> None:
    """Refuse archives that unpack to more than a gigabyte, or arrays that are not as declared.

    An array counts as often as the schema names it, because skops unpacks it as often.

    Raises
    ------
    ModelError
        With what is wrong.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
        if len(sizes) < len(archive.infolist()):
            raise _refused("two entries of one name")
        if sizes.get(_SCHEMA, 0) > _MOST_SCHEMA_BYTES:
            raise _refused(f"a {_SCHEMA} of {sizes[_SCHEMA] / 2**20:,.0f} MiB")
        named = list(_named_files(json.loads(archive.read(_SCHEMA))))
        if missing := set(named) - set(sizes):
            raise _refused(f"no entry {min(missing)!r}, which its schema names")
        unpacked = sum(sizes.values()) + sum(sizes[name] for name in named)
        if unpacked > MOST_BYTES:
            raise _refused(f"{len(content):,} bytes that unpack to {unpacked:,}")
        for name in sorted(set(named)):
            if name.endswith(".npy"):
                _check_header(archive, name, sizes[name])


def _named_files(schema: Any) -> Iterator[str]:
    pending = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node)
        elif isinstance(node, dict):
            pending.extend(node.values())
            if isinstance(node.get("file"), str):
                yield node["file"]


def _check_header(archive: zipfile.ZipFile, name: str, size: int) -> None:
    """An array's declared shape must be as large as its bytes: numpy believes the shape."""
    with archive.open(name) as file:
        head = io.BytesIO(file.read(_MOST_HEADER_BYTES))
    version = np.lib.format.read_magic(head)
    if version not in ((1, 0), (2, 0)):
        raise _refused(f"the array {name!r} in version {version} of its format")
    read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
    shape, _, dtype = read[version[0]](head)
    declared = math.prod(shape) * dtype.itemsize
    if dtype.itemsize == 0 or dtype.hasobject or declared != size - head.tell():
        raise _refused(f"the array {name!r}, {dtype} of shape {shape}, in {size:,} bytes")


def _refused(got: str) -> ModelError:
    return ModelError(
        f"A .skops file must hold what it declares, at most {MOST_BYTES // 2**20} MiB unpacked.",
        got=got,
        do="If you made it yourself, save the model as ONNX, or say trust=True (--trust).",
    )
