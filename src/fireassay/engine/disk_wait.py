"""Waiting for the disk: one wait serves everybody who wrote before it began."""

import os
import threading
from pathlib import Path


class DiskWait:
    """Takes a file to the disk for many writers at once, as databases do ("group commit").

    Twenty people who answer at one moment would otherwise wait for the disk one after another.

    Parameters
    ----------
    path
        The file, which need not be there yet; None: there is nothing to wait for.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._file: int | None = None
        self._counting, self._waiting = threading.Lock(), threading.Lock()
        self._written = self._kept = 0
        self._failed: OSError | None = None

    def wait(self) -> None:
        """Return once all that the caller has written is on the disk.

        Raises
        ------
        OSError
            If it cannot be, now and ever after: a disk that once failed may say "done" the next
            time although what was written before is gone.
        """
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
