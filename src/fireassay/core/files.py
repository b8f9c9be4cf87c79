"""Files that are there whole or not at all, whenever the process is killed."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path`` to write to; it takes the place of ``path`` at the end.

    An exception leaves what stood there before.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
    os.close(handle)
    temporary = Path(name)
    temporary.chmod(0o666 & ~_umask())  # mkstemp makes private files; the result is an ordinary one
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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
