"""Projects that can be started: every ``fireassay.toml`` below a served folder, none elsewhere."""

import hashlib
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fireassay.core.errors import DataError

FILE = "fireassay.toml"
_DEPTH, _MOST, _LARGEST = 3, 100, 2**20
_NOT_PROJECTS = ("node_modules", "site-packages", "artifacts", "queues", "samples")


@dataclass(frozen=True)
class Project:
    """A configuration under a key that a browser may know."""

    key: str
    root: Path
    file: Path
    run_folder: Path
    title: str
    model: str
    data: str
    problem: str = ""

    @property
    def name(self) -> str:
        """Its folder, as seen from the served one."""
        folder = self.file.parent
        return folder.name if folder == self.root else str(folder.relative_to(self.root))

    @property
    def sha256(self) -> str:
        """Of the configuration as it is now."""
        return hashlib.sha256(self.file.read_bytes()).hexdigest()


def find_projects(folders: Sequence[Path]) -> dict[str, Project]:
    """The projects below some folders, by key; links that lead out of them are not followed."""
    found: dict[str, Project] = {}
    for root in folders:
        for file in _files(root, _DEPTH):
            if len(found) >= _MOST or not file.resolve().is_relative_to(root):
                continue
            project = _read(root, file)
            found[project.key] = project
    return found


def _files(folder: Path, depth: int) -> Iterator[Path]:
    if not folder.is_dir():
        return
    if (folder / FILE).is_file():
        yield folder / FILE
    if depth:
        try:
            inside = sorted(folder.iterdir())
        except OSError:
            return
        for path in inside:
            hidden = path.name.startswith((".", "__")) or path.name in _NOT_PROJECTS
            if not hidden and path.is_dir() and not path.is_symlink():
                yield from _files(path, depth - 1)


def _read(root: Path, file: Path) -> Project:
    key = hashlib.sha256(str(file).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    problem, told = "", dict[str, Any]()
    try:
        if file.stat().st_size > _LARGEST:
            raise DataError(f"{FILE} must have less than 1 MiB.", got=f"{file.stat().st_size}")
        told = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        problem = f"{FILE} cannot be read: {error}"
    sections = (told.get(name) for name in ("run", "model", "data"))
    run, model, data = (found if isinstance(found, dict) else {} for found in sections)
    folder = (file.parent / str(run.get("folder", "fireassay-run"))).resolve()
    if not problem and not folder.is_relative_to(root):
        problem = f"its run folder lies outside of {root.name}: start it in a terminal"
    title, rows = str(run.get("title", "")), str(data.get("test", ""))
    shown = str(model.get("path", "")).rpartition("@")[2]  # an address may have a password in it
    return Project(key, root, file, folder, title, shown, rows, problem)
