"""One writer per run folder: lock, foreign files, links, and group commit."""

import os
import sys
import threading
from pathlib import Path

from fireassay.core.errors import StoreError


class RunLock:
    """Holds ``path`` locked until `release`, the end of the process, or its kill."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
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


# What may be there before the journal: of a process killed at once, or labels to begin with.
_BEFORE_A_RUN = {
    *("artifacts", "run.lock", "labels.sqlite", "labels.sqlite-wal", "labels.sqlite-shm"),
    *("started.json", "run.log", "queues"),  # of a run that the app starts
}


def refuse_foreign(path: Path) -> None:
    """What is in a folder that is no run's must not be written over, nor swept away."""
    if path.is_dir() and not (path / "run.sqlite").exists():
        there = sorted(entry.name for entry in path.iterdir())
        if set(there) - _BEFORE_A_RUN:
            raise StoreError(
                f"{path} must be a run folder, or an empty one.",
                got=f"a folder with other files: {', '.join(there[:3])}",
                do="Name another folder for the run.",
            )


def refuse_link(path: Path) -> None:
    """A received run folder must not make fireassay read or write elsewhere."""
    if path.is_symlink():
        raise StoreError(
            "A run folder must hold its files itself.",
            got=f"a link: {path}",
            do="Put the files into the folder, or remove the link.",
        )


class GroupCommit:
    """Takes a file to the disk for many writers at once, as databases do ("group commit")."""

    # Twenty people who answer at one moment would otherwise wait for the disk one after another.

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._file: int | None = None
        self._counting, self._waiting = threading.Lock(), threading.Lock()
        self._written = self._kept = 0
        self._failed: OSError | None = None

    def wait(self) -> None:
        """Return once all that the caller has written is on the disk."""
        if self.path is None:
            return
        with self._counting:
            self._written += 1
            mine = self._written
        with self._waiting:
            if self._kept >= mine:
                return  # it was written before the last wait began
            if self._failed is not None:
                raise self._failed
            with self._counting:
                before = self._written
            try:
                self._to_disk(self.path)
            except OSError as error:
                self._failed = error
                raise
            self._kept = before

    def close(self) -> None:
        """Close the file."""
        with self._waiting:
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def _to_disk(self, path: Path) -> None:
        if self._file is None:
            self._file = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
            if os.name == "posix":  # a new file's name, too
                folder = os.open(path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
        os.fsync(self._file)
