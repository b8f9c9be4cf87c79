"""Folders whose Python files are imported from their source, never from bytecode kept beside it.

Trust in code is trust in the bytes of its source. A ``__pycache__`` that comes with a folder can
hold anything, and Python would run that instead.
"""

import sys
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from typing import Any

_folders: list[Path] = []


class _FromSource(SourceFileLoader):
    def path_stats(self, path: Any) -> Any:
        """Always raises, so that Python ignores cached bytecode."""
        raise OSError(f"bytecode of {path} is not looked at")


def import_from_source(*folders: str | Path) -> None:
    """From now on modules in these folders, and in packages there, are compiled anew."""
    for folder in folders:
        resolved = Path(folder).resolve()
        if resolved in _folders:
            continue
        if not _folders:
            sys.path_hooks.insert(0, _finder)
        _folders.append(resolved)
        for known in [entry for entry in sys.path_importer_cache if _is_inside(entry)]:
            del sys.path_importer_cache[known]


def source_only_folders() -> tuple[str, ...]:
    """The folders, for a process that is to import from the same ones."""
    return tuple(map(str, _folders))


def _is_inside(entry: str) -> bool:
    place = Path(entry or ".").resolve()
    return any(place.is_relative_to(folder) for folder in _folders)


def _finder(entry: str) -> FileFinder:
    if not _is_inside(entry):
        raise ImportError(f"{entry} is imported as always")
    return FileFinder(
        entry,
        (ExtensionFileLoader, EXTENSION_SUFFIXES),
        (_FromSource, SOURCE_SUFFIXES),
        (SourcelessFileLoader, BYTECODE_SUFFIXES),
    )
