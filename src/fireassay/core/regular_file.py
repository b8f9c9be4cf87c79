"""Files that are files: a link to a device would never end, and a pipe would wait for ever."""

import stat
from pathlib import Path

from fireassay.core.errors import DataError

MOST_TEXT_BYTES = 64 * 2**20
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def check_regular(path: str | Path) -> Path:
    """The path of an ordinary file, also one that a link leads to.

    Raises
    ------
    DataError
        For devices, pipes, sockets and folders, unopened.
    OSError
        If there is nothing.

    >>> check_regular("/dev/null")
    Traceback (most recent call last):
        ...
    fireassay.core.errors.DataError: /dev/null must be an ordinary file. Got a device.
    """
    path = Path(path)
    kind = stat.S_IFMT(path.stat().st_mode)
    if kind != stat.S_IFREG:
        raise DataError(f"{path} must be an ordinary file.", got=_KINDS.get(kind, "something else"))
    return path


def read_small_text(path: str | Path) -> str:
    """The text of an ordinary file that people or fireassay write, at most 64 MiB of UTF-8.

    Raises
    ------
    DataError
        If it is larger, or no ordinary file.
    OSError, UnicodeDecodeError
        If it cannot be read.
    """
    with open(check_regular(path), "rb") as file:
        content = file.read(MOST_TEXT_BYTES + 1)
    if len(content) > MOST_TEXT_BYTES:
        raise DataError(f"{path} must have at most {MOST_TEXT_BYTES // 2**20} MiB.", got="more")
    return content.decode("utf-8")
