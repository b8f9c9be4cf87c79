"""One writer for each run: a lock that the operating system frees when its owner dies."""

import os
import sys
from pathlib import Path

from fireassay.core.errors import StoreError


class RunLock:
    """Holds ``path`` locked until `release`, the end of the process, or its kill."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(self._file)
        except OSError as error:
            owner = _owner(self._file)
            os.close(self._file)
            place = "this process" if owner == str(os.getpid()) else f"process {owner}"
            raise StoreError(
                f"One process at a time can write to the run {path.parent}.",
                got=f"a run that {place} has open",
                do="Wait for it, stop it, or use another run folder.",
            ) from error
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, str(os.getpid()).encode())

    def release(self) -> None:
        """Let others write."""
        os.ftruncate(self._file, 0)
        os.close(self._file)


def _owner(file: int) -> str:
    os.lseek(file, 0, os.SEEK_SET)
    return os.read(file, 32).decode("ascii", "replace").strip() or "(unknown)"


if sys.platform == "win32":
    import msvcrt

    # Far behind the process number, which must stay readable for others.
    _LOCKED_BYTE = 1 << 20

    def _lock(file: int) -> None:
        os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
