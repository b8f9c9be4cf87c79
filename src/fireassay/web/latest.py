"""What is read from files of a folder, read again when one of them changes."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

Read = TypeVar("Read")


class Latest(Generic[Read]):
    """Calls ``read(folder)`` where the first of ``files(folder)`` is there, once per change."""

    def __init__(
        self, read: Callable[[Path], Read], files: Callable[[Path], Sequence[Path]]
    ) -> None:
        self._read, self._files = read, files
        self._lock = threading.Lock()
        self._kept: dict[Path, tuple[tuple[int, ...], Read]] = {}

    def get(self, folder: Path) -> Read | None:
        """What was read last; None while the first file is not there."""
        files = self._files(folder)
        if not files[0].is_file():
            return None
        changed = tuple(path.stat().st_mtime_ns if path.is_file() else 0 for path in files)
        with self._lock:
            kept = self._kept.get(folder)
            if kept is None or kept[0] != changed:
                kept = changed, self._read(folder)
                self._kept[folder] = kept
        return kept[1]
