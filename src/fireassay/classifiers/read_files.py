"""Files that the code of a model was read from or has opened: they are part of what it is."""

import contextlib
import functools
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from fireassay.core.hashing import sha256_file

_CODE: Final = (".py", ".pyc", ".so", ".pyd")
_PREFIXES: Final = tuple(Path(place).resolve() for place in (sys.prefix, sys.base_prefix))
_SYSTEM: Final = (*_PREFIXES, *map(Path, ("/proc", "/sys", "/dev", "/etc", "/usr", "/tmp")))  # noqa: S108
_heard: list["Opened"] = []  # who listens now
_loaded: dict[tuple[str, Path], tuple[Path, ...]] = {}


@dataclass
class Opened:
    """Files that Python code opened meanwhile, for reading and for writing."""

    # What is opened past Python (XGBoost, ONNX Runtime, SQLite) is not heard.

    read: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)

    def beside(self, model: str, folder: Path) -> list[Path]:
        """Files read and not written that may belong to a model "package.module:name"."""
        found, roots = map(Path, sorted(self.read - self.written)), _roots(model, folder)
        return [p for p in found if p.suffix not in _CODE and p.is_file() and _belongs(p, roots)]


@contextlib.contextmanager
def listening(opened: Opened) -> Iterator[None]:
    """Note what this process opens meanwhile."""
    _hook()
    _heard.append(opened)
    try:
        yield
    finally:
        _heard.remove(opened)


@functools.cache
def _hook() -> None:
    sys.addaudithook(_hear)  # for the rest of the process: there is no way to take it off


def _hear(event: str, args: tuple[Any, ...]) -> None:
    if _heard and event == "open" and isinstance(args[0], str | bytes | os.PathLike):
        name = str(Path(os.fsdecode(args[0])).absolute())
        writes = bool((args[2] or 0) & (os.O_WRONLY | os.O_RDWR))
        for opened in _heard:
            (opened.written if writes else opened.read).add(name)


def files_of(model: str, folder: Path, opened: Opened) -> tuple[Path, ...]:
    """Files of a model "package.module:name" that was just loaded: its modules, what it opened."""
    # The same for a whole process: a module is imported once, and what comes later is not its own.
    key = model, folder.resolve()
    if key not in _loaded:
        roots, modules = _roots(model, folder), set()
        for name, module in list(sys.modules.items()):
            path = Path(getattr(module, "__file__", None) or "/").resolve()
            ours = name.partition(".")[0] in ("__main__", "fireassay", "conftest")
            inside = any(path.is_relative_to(root) for root in roots)
            if inside and not ours and path.is_file() and _belongs(path, roots):
                modules.add(path)
        _loaded[key] = tuple(sorted({*modules, *opened.beside(model, folder)}))
    return _loaded[key]


def _roots(model: str, folder: Path) -> list[Path]:
    """The project's folder, and the one that the model's module was found in."""
    top = sys.modules.get(model.partition(":")[0].partition(".")[0])
    file = Path(getattr(top, "__file__", None) or folder / "module").resolve()
    return [folder.resolve(), file.parents[1 if file.stem == "__init__" else 0]]


def _belongs(path: Path, roots: Iterable[Path]) -> bool:
    """Whether a file may be a model's: no library's, and outside its folders no system's."""
    libraries = [p for p in _PREFIXES if not any(root.is_relative_to(p) for root in roots)]
    if "site-packages" in path.parts or any(path.is_relative_to(p) for p in libraries):
        return False
    if any(path.is_relative_to(root) for root in roots):
        return True
    hidden = any(part.startswith(".") for part in path.parts) and "hub" not in path.parts
    return not hidden and not any(path.is_relative_to(place) for place in _SYSTEM)


def digests(paths: Iterable[Path], folder: Path) -> dict[str, str]:
    """SHA-256 of each file by its path from a folder; empty for one that is gone."""
    start = folder.resolve()
    return {
        Path(os.path.relpath(path, start)).as_posix(): sha256_file(path) if path.is_file() else ""
        for path in paths
    }


def moved(known: Mapping[str, str], folder: Path) -> list[str]:
    """Names of the files that are not what they were."""
    now = digests([folder.resolve() / name for name in known], folder)
    return [name for name, digest in known.items() if now.get(name) != digest]
