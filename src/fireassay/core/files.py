"""Atomic writes, refusal of devices and pipes, limits on unpacked sizes, and npy headers."""

import lzma
import math
import os
import re
import stat
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core.errors import DataError, FireassayError, UntrustedFileError
from fireassay.core.mapped import guarded

ARCHIVE_DAMAGE = (
    OSError,  # a damaged bzip2 stream, too
    EOFError,
    LookupError,
    NotImplementedError,  # a compression that zipfile does not know
    RuntimeError,  # an encrypted member
    ValueError,
    lzma.LZMAError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


@contextmanager
def expected(
    what: str, damage: tuple[type[Exception], ...], do: str | None = None
) -> Iterator[None]:
    """Turn what a reader raises on damaged content into a `DataError`; fireassay's own stay."""
    try:
        yield
    except FireassayError:
        raise
    except damage as error:
        raise DataError(what, got=str(error), do=do) from error


@contextmanager
def written_whole(path: str | Path) -> Iterator[Path]:
    """A temporary path (0600) that replaces ``path`` at the end, unless an error is raised."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_bytes(path: str | Path, content: bytes) -> Path:
    """Write bytes whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_bytes(content)
    return Path(path)


def write_text(path: str | Path, text: str) -> Path:
    """Write UTF-8 text whole or not at all."""
    return write_bytes(path, text.encode("utf-8"))


def cache_folder() -> Path:
    """Where programs of this user keep what they can make again."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if named.is_absolute():
        return named / "fireassay"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "fireassay" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fireassay"
    return Path.home() / ".cache" / "fireassay"


MOST_TEXT_BYTES = 64 * 2**20
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def check_regular(path: str | Path) -> Path:
    """The path of an ordinary file, also one that a link leads to."""
    path = Path(path)
    kind = stat.S_IFMT(path.stat().st_mode)
    if kind != stat.S_IFREG:
        raise DataError(f"{path} must be an ordinary file.", got=_KINDS.get(kind, "something else"))
    return path


def read_small_text(path: str | Path) -> str:
    """The text of an ordinary file that people or fireassay write, at most 64 MiB of UTF-8."""
    with open(check_regular(path), "rb") as file:
        content = file.read(MOST_TEXT_BYTES + 1)
    if len(content) > MOST_TEXT_BYTES:
        raise DataError(f"{path} must have at most {MOST_TEXT_BYTES // 2**20} MiB.", got="more")
    return content.decode("utf-8")


MAX_BYTES = 16 * 1024**3
# Measured data packs to a hundredth at best; above a gigabyte, what packs better is a bomb.
_HARMLESS_BYTES = 1024**3
_MOST_PACKED = 200


def check_declared_size(
    declared: int, max_bytes: int, path: str | Path, *, packed: int | None = None
) -> None:
    """Refuse, before reading, a file that unpacks to more than ``max_bytes`` or is a bomb."""
    # A bomb: over a gigabyte from less than a two-hundredth of it; an own max_bytes allows that.
    if packed is not None and max_bytes == MAX_BYTES and declared > _MOST_PACKED * packed:
        max_bytes = _HARMLESS_BYTES
    if declared > max_bytes:
        raise DataError(
            f"{path} must unpack to at most {max_bytes / 1e9:.3g} GB.",
            got=f"{declared / 1e9:.3g} GB declared",
            do="If the file is what you think it is, allow more with max_bytes=.",
        )


def check_text_size(texts: list[str], name: str) -> None:
    """Refuse texts of which a single long one makes an array of texts huge."""
    longest = max(map(len, texts), default=0)
    if 4 * longest * len(texts) > _HARMLESS_BYTES:
        raise DataError(
            f"{name} must be short texts, below 1 GB as an array.",
            got=f"{len(texts)} of them, one with {longest} characters",
            do="Name another column, or shorten them.",
        )


_MAGIC = b"\x93NUMPY"
_LONGEST = 10_000
_GRAMMAR = re.compile(
    r"\{\s*'descr'\s*:\s*'(?P<descr>[<>|=]?[A-Za-z?]\d*(?:\[\d*\w+\])?)'\s*,"
    r"\s*'fortran_order'\s*:\s*(?:True|False)\s*,"
    r"\s*'shape'\s*:\s*\((?P<shape>(?:\s*\d{1,19}\s*,)*\s*(?:\d{1,19})?)\s*\)\s*,?\s*\}\s*",
    re.ASCII,
)
LEAST_MAPPED = 2**26


def check_npy_header(file: Any, size: int, name: object) -> tuple[int, ...]:
    """The shape of an array; one that is not plain, or that its file cannot hold, is refused."""
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
    return shape


def map_npy(path: Path) -> np.ndarray[Any, Any]:
    """An npy file as an array, header checked; from 64 MiB on memory-mapped."""
    # A map of a file that is cut while it is read ends the process: small files are copied.
    with open(path, "rb") as file:
        check_npy_header(file, path.stat().st_size, path.name)
    try:
        mode: Any = "r" if path.stat().st_size >= LEAST_MAPPED else None
        found: np.ndarray[Any, Any] = np.load(path, mmap_mode=mode, allow_pickle=False)
    except (ValueError, OSError) as damage:
        raise _damaged(path.name, f"{damage}") from damage
    found.flags.writeable = False
    return guarded(found, path) if isinstance(found, np.memmap) else found


def _damaged(name: object, got: str) -> DataError:
    return DataError(
        f"{name} must be a plain array and hold what it declares.",
        got=got,
        do="Copy or write it again; pickled files are never read.",
    )
