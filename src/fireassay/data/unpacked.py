"""Packed data files: .zip, .gz, .bz2 and .xz are unpacked once into a folder of their own."""

import atexit
import bz2
import gzip
import lzma
import shutil
import tempfile
import zipfile
import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from fireassay.core.errors import DataError
from fireassay.core.files import MAX_BYTES, check_declared_size, check_regular
from fireassay.data.table_file import is_table

_STREAMS: Final[dict[str, Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_AT_ONCE = 2**22
_DAMAGED = (OSError, EOFError, RuntimeError, zipfile.BadZipFile, lzma.LZMAError, zlib.error)


def unpacked(path: Path, max_bytes: int = MAX_BYTES) -> Path:
    """The file or folder that is packed in a file; any other path stays as it is."""
    inner = Path(path.stem)
    stream = path.suffix.lower() in _STREAMS
    packed = is_table(inner) or inner.suffix in (".npy", ".npz") if stream else _is_zip(path)
    if not packed or not path.is_file():
        return path
    kind = path.stat()
    return _unpacked(path.resolve(), kind.st_mtime_ns, kind.st_size, max_bytes)


@lru_cache(maxsize=8)
def _unpacked(path: Path, _: int, size: int, max_bytes: int) -> Path:
    check_regular(path)
    place = Path(tempfile.mkdtemp(prefix="fireassay-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    inside = place / path.stem
    try:
        if _is_zip(path):
            with zipfile.ZipFile(path) as archive:
                members = [m for m in archive.infolist() if not _is_hidden(m.filename)]
                declared = sum(member.file_size for member in members)
                check_declared_size(declared, max_bytes, path, packed=size)
                archive.extractall(inside, members)  # names that lead outside are cut by zipfile
            inside = _only(inside)
        else:
            with _STREAMS[path.suffix.lower()](path) as source, open(inside, "wb") as target:
                while block := source.read(_AT_ONCE):
                    target.write(block)
                    check_declared_size(target.tell(), max_bytes, path, packed=size)
    except _DAMAGED as error:
        raise DataError(
            f"Expected a whole packed file at {path}.", got=str(error), do="Copy it again."
        ) from error
    return inside


def _is_zip(path: Path) -> bool:
    return path.suffix.lower() == ".zip"


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in Path(name).parts)


def _only(folder: Path) -> Path:
    """What a zip file is about: its only file, or its first folder that holds more than one."""
    while folder.is_dir():
        entries = list(folder.iterdir())
        if len(entries) != 1 or (entries[0].is_dir() and any(map(Path.is_file, folder.iterdir()))):
            break
        folder = entries[0]
    return folder
