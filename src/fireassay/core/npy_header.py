"""The header of an npy file, read by a grammar of its own and before numpy sees it."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core.errors import DataError, UntrustedFileError

_MAGIC = b"\x93NUMPY"
_LONGEST = 10_000
_GRAMMAR = re.compile(
    r"\{\s*'descr'\s*:\s*'(?P<descr>[<>|=]?[A-Za-z?]\d*(?:\[\d*\w+\])?)'\s*,"
    r"\s*'fortran_order'\s*:\s*(?:True|False)\s*,"
    r"\s*'shape'\s*:\s*\((?P<shape>(?:\s*\d{1,19}\s*,)*\s*(?:\d{1,19})?)\s*\)\s*,?\s*\}\s*",
    re.ASCII,
)


def check_npy_header(file: Any, size: int, name: object) -> None:
    """Refuse an array that is not plain, or declares more than the ``size`` bytes of its file.

    numpy would allocate all that is declared before it reads.
    """
    head = file.read(8)
    width = 2 if head[6:7] == b"\x01" else 4
    counted = file.read(width)
    if not head.startswith(_MAGIC) or head[6:7] not in (b"\1", b"\2", b"\3") or len(head) < 8:
        raise _damaged(name, f"it begins with {head!r}")
    length = int.from_bytes(counted, "little")
    if len(counted) < width or length > _LONGEST:
        raise _damaged(name, f"a header of {length} bytes")
    found = _GRAMMAR.fullmatch(file.read(length).decode("latin-1"))
    if found is None:
        raise _damaged(name, "a header that describes no plain array")
    try:
        dtype = np.dtype(found["descr"])
    except (TypeError, ValueError) as error:
        raise _damaged(name, f"{error}") from error
    if dtype.hasobject:
        raise UntrustedFileError(
            f"{name} must hold plain arrays.",
            got="an array of Python objects, which could run code when read",
            do="Save numbers and text with a fixed dtype, e.g. y.astype(str).",
        )
    shape = tuple(int(part) for part in found["shape"].split(",") if part.strip())
    if dtype.itemsize == 0 or dtype.kind == "V":
        raise _damaged(name, f"an array of {dtype}, shape {shape}: its items have no content")
    if math.prod(shape) * dtype.itemsize > size or max(shape, default=0) > 2**62:
        raise _damaged(name, f"an array of shape {shape} in {size} bytes")


def map_npy(path: Path) -> np.ndarray[Any, Any]:
    """An npy file as an array that stays on the disk, its header checked first.

    Raises
    ------
    DataError, UntrustedFileError
        If it is no plain array, or shorter than it says.
    """
    with open(path, "rb") as file:
        check_npy_header(file, path.stat().st_size, path.name)
    try:
        found: np.ndarray[Any, Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError) as damage:
        raise _damaged(path.name, f"{damage}") from damage
    return found


def _damaged(name: object, got: str) -> DataError:
    return DataError(
        f"{name} must be a plain array and hold what it declares.",
        got=got,
        do="Copy or write it again; pickled files are never read.",
    )
