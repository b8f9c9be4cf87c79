"""Code that a configuration names: it is imported and called, so the user must have trusted it."""

import hashlib
import importlib.machinery
import os
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from fireassay.classifiers.import_path import is_import_path
from fireassay.classifiers.trusted_files import is_trusted_digest, remember_digest
from fireassay.core.errors import ModelError, UntrustedFileError
from fireassay.core.source_only import import_from_source

_SUFFIXES = tuple(importlib.machinery.all_suffixes())
_MOST_FILES, _MOST_BYTES = 5_000, 256 * 2**20


def code_beside(model: str, folder: Path) -> Path | None:
    """What "package.module:name" would import from a folder; None if nothing there.

    A folder that the user's own ``PYTHONPATH`` names is no longer just any folder.

    >>> code_beside("model.onnx", Path()) is None
    True
    """
    if not is_import_path(model) or folder.resolve() in _own_path():
        return None
    found = importlib.machinery.PathFinder.find_spec(_top(model), [str(folder.resolve())])
    if found is None:
        return None
    place = found.origin or next(iter(found.submodule_search_locations or ()), None)
    return None if place is None else Path(place)


def make_importable(model: str, folder: Path, *, trust: bool = False) -> None:
    """Let "package.module:name" name a module that lies in ``folder``, if the user trusts it.

    Installed code needs the user's word, too: what a configuration names is called with its rows,
    and ``subprocess:call`` is installed everywhere.

    Raises
    ------
    UntrustedFileError
        If it is code, and the user has not said, here or earlier, that it may run.
    """
    if not is_import_path(model):
        return
    place = code_beside(model, folder)
    if not trust and not is_trusted_digest(code_digest(model, folder)):
        known = "installed code, which you have not named as a model"
        raise UntrustedFileError(
            f"The model {model!r} is code that the configuration names: it is imported and called.",
            got=known if place is None else f"{place}, which you have not trusted as it is now",
            do="Look at what it does. If it may run, say so once with --trust.",
        )
    if place is not None:
        import_from_source(folder)
        if str(folder.resolve()) not in sys.path:
            sys.path.insert(0, str(folder.resolve()))


def remember_code(model: str, folder: Path) -> Path | None:
    """Keep in the user's settings that this code, as it is now, may run.

    Returns
    -------
    Path | None
        Where it was written down; None if the model is no code.

    Raises
    ------
    OSError
        If the settings cannot be written.
    """
    if not is_import_path(model):
        return None
    place = code_beside(model, folder)
    what = "installed" if place is None else f"code in {folder.resolve()}"
    return remember_digest(code_digest(model, folder), f"{model}, {what}")


def code_digest(model: str, folder: Path) -> str:
    """SHA-256 of the name, and of all that an import may take from a folder: its Python files.

    Modules in the folder itself and packages in it, with all that they hold: a trusted module that
    imports another one of the folder runs that one, too. Of installed code the name alone counts.
    """
    digest, size = hashlib.sha256(f"code\0{model}\0".encode()), 0
    if code_beside(model, folder) is None:
        return digest.hexdigest()
    for number, file in enumerate(
        sorted(islice(_importable(folder.resolve(), _top(model)), _MOST_FILES + 1))
    ):
        content = file.read_bytes()
        size += len(content)
        if number >= _MOST_FILES or size > _MOST_BYTES:
            raise ModelError(
                f"The code beside a configuration must be at most {_MOST_FILES} files and "
                f"{_MOST_BYTES // 2**20} MiB.",
                got=f"more in {folder}",
                do="Put the configuration into a folder of its own, or install the package.",
            )
        name = file.relative_to(folder.resolve()).as_posix().encode()
        digest.update(len(name).to_bytes(8, "big") + name + hashlib.sha256(content).digest())
    return digest.hexdigest()


def _importable(folder: Path, top: str) -> Iterator[Path]:
    for entry in os.scandir(folder):
        path = Path(entry.path)
        if entry.is_file() and path.name.endswith(_SUFFIXES):
            yield path
        elif entry.is_dir() and entry.name.isidentifier() and entry.name != "__pycache__":
            yield from _package(path, entry.name == top)


def _package(folder: Path, known: bool) -> Iterator[Path]:
    """All Python files of a package; a folder with none on its first level counts if ``known``."""
    inside = [Path(entry.path) for entry in os.scandir(folder)]
    if known or any(path.name.endswith(_SUFFIXES) for path in inside):
        for path in inside:
            if path.is_file() and path.name.endswith(_SUFFIXES):
                yield path
            elif path.is_dir() and path.name.isidentifier() and path.name != "__pycache__":
                if path.is_symlink():  # it may lead anywhere, or in a circle
                    raise ModelError("Code must not hold links to folders.", got=str(path))
                yield from _package(path, True)


def _top(model: str) -> str:
    return model.partition(":")[0].partition(".")[0]


def _own_path() -> set[Path]:
    given = os.environ.get("PYTHONPATH", "")
    return {Path(entry).resolve() for entry in given.split(os.pathsep) if entry}
