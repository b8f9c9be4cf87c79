"""Is a project sound? Its files, trust, extras, disk and last run, looked at without running it."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fireassay.assessment.config import FILE_NAME, Config, read_config
from fireassay.assessment.run.folder import RESULT, read_report, reservations
from fireassay.classifiers.import_path import is_import_path
from fireassay.classifiers.model_file import model_kind
from fireassay.classifiers.trust import code_beside, code_digest, is_trusted, is_trusted_digest
from fireassay.core.errors import ConfigError, FireassayError
from fireassay.core.files import check_regular
from fireassay.core.lazy import EXTRAS, is_installed
from fireassay.engine import RunStore

State = Literal["sound", "stale", "mend"]
_LEAST_FREE_MB = 500
_SAY_TRUST = "Look at what it does. If it may run, say so once: fireassay run --trust"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: State
    found: str
    do: str = ""


def check_project(place: Path) -> list[Finding]:
    """Everything that a run of this project would stumble over, and whether its last run counts."""
    file = place / FILE_NAME if place.is_dir() else place
    try:
        config = read_config(file)
    except ConfigError as error:
        return [Finding("configuration", "mend", str(error), f"Mend {file}.")]
    gates = len(config.gates.max) + len(config.gates.min)
    limits = (
        f"{gates} limit{'' if gates == 1 else 's'}, all of known numbers" if gates else "no limits"
    )
    looks = (_model, _data, _extras, _disk, _last_run)
    said = Finding("configuration", "sound", f"{file}: {limits}")
    return [said, *(finding for look in looks for finding in look(config))]


def _model(config: Config) -> Iterator[Finding]:
    path, resolved = config.model.path, config.resolve(config.model.path)
    if "://" in path:
        yield Finding("model", "sound", f"{path}, which is not asked here")
        variable = config.model.http.token_env
        if variable is not None and variable not in os.environ:
            do = f"Set it before the run: export {variable}=…"
            yield Finding("token", "mend", f"the variable {variable} is not set", do)
        return
    if is_import_path(path):
        place = code_beside(path, config.folder)
        where = "installed, or on Python's path" if place is None else str(place)
        if is_trusted_digest(code_digest(path, config.folder)):
            yield Finding("model", "sound", f"{path}: {where}, trusted as it is now")
        else:
            yield Finding("model", "mend", f"{path}: {where}, not trusted as it is now", _SAY_TRUST)
        return
    try:
        kind = model_kind(Path(resolved))
    except FireassayError as error:
        yield Finding("model", "mend", str(error), "Name another file as [model] path.")
        return
    if not kind.is_available and kind.extra is not None:
        yield _missing("model", f"{path} is a {kind.name} file", kind.extra)
    elif kind.runs_code and not is_trusted(Path(resolved)):
        yield Finding("model", "mend", f"{path} can run code when it is read", _SAY_TRUST)
    else:
        yield Finding("model", "sound", f"{path}, a {kind.name} file")


def _data(config: Config) -> Iterator[Finding]:
    for role in ("test", "train", "operational", "votes", "groups"):
        name = getattr(config.data, role)
        if name is None:
            continue
        path = config.folder / name
        try:
            size = 0 if path.is_dir() else check_regular(path).stat().st_size
        except (OSError, FireassayError) as error:
            do = f"Put it there, or name another file as [data] {role}."
            yield Finding(f"data.{role}", "mend", f"{error}", do)
            continue
        if path.suffix.lower() in (".parquet", ".pq") and not is_installed(EXTRAS["tables"][0]):
            yield _missing(f"data.{role}", f"{name} is a Parquet file", "tables")
        else:
            yield Finding(f"data.{role}", "sound", f"{name}, {size / 1e6:,.1f} MB")


def _extras(config: Config) -> Iterator[Finding]:
    if "ambiguity" in config.run.parts and not is_installed(EXTRAS["torch"][0]):
        yield _missing("extras", "the part ambiguity trains networks", "torch")


def _missing(what: str, why: str, extra: str) -> Finding:
    return Finding(
        what, "mend", f"{why}: [{extra}] is not installed", f"pip install 'fireassay[{extra}]'"
    )


def _disk(config: Config) -> Iterator[Finding]:
    folder = config.folder / config.run.folder
    there = next(place for place in (folder, *folder.resolve().parents) if place.exists())
    free = shutil.disk_usage(there).free / 1e6
    if free < _LEAST_FREE_MB:
        yield Finding("disk", "mend", f"{free:,.0f} MB free for {folder}", "Make room.")
    elif not os.access(there, os.W_OK):
        yield Finding("disk", "mend", f"{there} cannot be written", "Name another [run] folder.")
    else:
        yield Finding("disk", "sound", f"{free / 1000:,.0f} GB free for {folder}")


def _last_run(config: Config) -> Iterator[Finding]:
    folder = config.folder / config.run.folder
    if not (folder / "run.sqlite").exists():
        empty = not folder.exists() or not any(folder.iterdir())
        if empty:
            yield Finding("last run", "sound", "none yet", "fireassay run")
        else:
            do = "Name another folder as [run] folder."
            yield Finding("last run", "mend", f"{folder} has files, but is no run's", do)
        return
    try:
        with RunStore(folder, read_only=True) as store:
            store.progress("")
        if not (folder / RESULT).is_file():
            yield Finding("last run", "stale", "it has no result yet", "fireassay run")
            return
        doubts = reservations(folder, read_report(folder, charts=False))
    except FireassayError as error:
        yield Finding("last run", "mend", str(error), "Run again, in another folder if need be.")
        return
    for part, reason in doubts.items():
        yield Finding(f"last run: {part}", "stale", reason, "fireassay run")
    if not doubts:
        yield Finding("last run", "sound", f"{folder}: made from what there is now")
