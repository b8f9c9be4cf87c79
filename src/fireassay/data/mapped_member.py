"""A large array of an npz file that was not compressed: mapped from the disk, never read whole."""

import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

LEAST_BYTES: Final = 2**26  # smaller arrays are read: that is faster than it is long
_LOCAL_HEADER: Final = struct.Struct("<4s22xHH")
_SIGNATURE: Final = b"PK\x03\x04"
_ENCRYPTED: Final = 1
_AT_ONCE: Final = 2**24


def can_be_mapped(member: zipfile.ZipInfo) -> bool:
    """Whether the bytes of a member lie in the file as they are, and are many."""
    plain = member.compress_type == zipfile.ZIP_STORED and not member.flag_bits & _ENCRYPTED
    return plain and member.file_size == member.compress_size >= LEAST_BYTES


def mapped_member(path: Path, member: zipfile.ZipInfo) -> NDArray[Any]:
    """The array as a read-only map of the file; its checksum is compared, piece by piece.

    The npy header must have been checked (see `check_npy_header`).

    Raises
    ------
    zipfile.BadZipFile
        If the member does not lie where the archive says, or is not what its checksum says.
    """
    with open(path, "rb") as file:
        file.seek(member.header_offset)
        head = file.read(_LOCAL_HEADER.size)
        if len(head) < _LOCAL_HEADER.size or not head.startswith(_SIGNATURE):
            raise zipfile.BadZipFile(f"no header of {member.filename!r}")
        _, name_size, extra_size = _LOCAL_HEADER.unpack(head)
        start = member.header_offset + _LOCAL_HEADER.size + name_size + extra_size
        if start + member.file_size > path.stat().st_size:
            raise zipfile.BadZipFile(f"{member.filename!r} ends behind the end of the file")
        file.seek(start)
        _check_sum(file, member)
        file.seek(start)
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0
        if version != (1, 0):
            read = np.lib.format.read_array_header_2_0
        shape, is_fortran, dtype = read(file)
        offset = file.tell()
    order: Any = "F" if is_fortran else "C"
    return np.memmap(path, dtype=dtype, mode="r", offset=offset, shape=shape, order=order)


def _check_sum(file: Any, member: zipfile.ZipInfo) -> None:
    found, left = 0, member.file_size
    while left:
        piece = file.read(min(left, _AT_ONCE))
        if not piece:
            raise zipfile.BadZipFile(f"{member.filename!r} is cut short")
        found, left = zlib.crc32(piece, found), left - len(piece)
    if found != member.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {member.filename!r}")
