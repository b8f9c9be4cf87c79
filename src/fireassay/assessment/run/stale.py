"""What an answer was made from: hashes by name, one comparison, one sentence on what changed."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TypedDict

from fireassay.assessment.config import Config
from fireassay.assessment.context import Context
from fireassay.assessment.parts.table import PARTS
from fireassay.classifiers.fingerprint import fingerprint
from fireassay.classifiers.import_path import is_import_path
from fireassay.core import sha256
from fireassay.core.hashing import sha256_file
from fireassay.data.idx import labels_beside
from fireassay.engine import RunStore
from fireassay.engine.labels.book import BOOK, STATE_FILE
from fireassay.version import __version__

MadeFrom = dict[str, str]  # name → hash, of files or of what was loaded from them
OTHER_ANSWERS = "other answers of the parts it takes from"
_OTHER = {
    "fireassay": "another version of fireassay",
    "model": "another model",
    "test": "other test rows",
    "train": "other training rows",
    "operational": "other field rows",
    "votes": "other votes",
    "kinds": "other kinds of columns",
    "decision": "another decision",
    "seed": "another seed",
    "settings": "other settings",
    "state": "other labels",
    "normalisation": "another mean and std",
    "perturb": "other changes of texts",
    "exposure": "another exposure",
}
# How the model is run, which its answers do not depend on.
_MANNER: dict[str, Any] = {
    "batch_size": True,
    "device": True,
    "http": {"token_env", "timeout_s", "retries", "concurrency", "ca_file"},
}
# What people have answered since: of a search that waits, and in the book of labels.
_ANSWERED: Final = (STATE_FILE, BOOK, f"{BOOK}-wal")
_META: Final = "made from"


class Made(TypedDict):
    """A part's entry in the journal: its key there, and what it was made from, seen both ways."""

    key: str
    objects: MadeFrom | None
    files: MadeFrom | None


def made_from_objects(name: str, context: Context, settings: Any) -> MadeFrom:
    """What a part's answer depends on but for the answers it takes, by what was loaded."""
    found = {
        "fireassay": __version__,
        "model": context.model.sha256,
        "test": context.digest(context.test),
        "train": None if context.train is None else context.digest(context.train),
        "operational": None if context.operational is None else context.digest(context.operational),
        "votes": (context.votes, context.vote_names, context.groups),
        "kinds": context.test.kinds,
        "decision": asdict(context.decision),
        "seed": context.seed,
        "settings": settings.model_dump(),
        "state": PARTS[name].state(context),
    }
    if context.normalisation is not None:
        found["normalisation"] = context.normalisation
    if context.exposure is not None:
        found["exposure"] = context.exposure
    if context.perturb is not None:
        found["perturb"] = fingerprint(context.perturb)
    return {key: sha256(value) for key, value in found.items()}


def made_from_files(config: Config) -> dict[str, MadeFrom]:
    """What each part's answer would be made from now, by files on the disk; nothing is loaded."""
    # A model behind an address is known by its address; a model "package.module:name" by the
    # module's file if that lies beside the configuration.
    data = config.data
    columns = data.model_dump(exclude={"test", "train", "operational", "votes", "groups"})
    found: dict[str, Any] = {
        "fireassay": __version__,
        "model": (config.model.model_dump(exclude=_MANNER), _model_content(config)),
        "votes": [
            None if path is None else _content(config.folder / path)
            for path in (data.votes, data.groups)
        ],
        "decision": config.decision.model_dump(),
        "seed": config.run.seed,
    }
    for name in ("test", "train", "operational"):
        path = getattr(data, name)
        found[name] = None if path is None else (path, columns, _content(config.folder / path))
    if config.predictions is not None:
        found["test"] = (found["test"], config.predictions.model_dump())
    if data.perturb is not None:
        found["perturb"] = _code(config, data.perturb)
    common = {key: sha256(value) for key, value in found.items()}
    return {
        part: {**common, "settings": sha256(settings.model_dump())}
        for part, settings in config.settings.items()
    }


def data_hashes(config: Config) -> dict[str, str]:
    """Hashes of the data files that a configuration names, by their role."""
    data = config.data
    named = {"test": data.test, "train": data.train, "operational": data.operational}
    return {
        role: sha256(_content(config.folder / path))
        for role, path in named.items()
        if path is not None
    }


def run_made_from(config: Config, result: Path) -> str | None:
    """One hash of all that a run's files depend on; None where files do not tell it all."""
    path = config.model.path
    if "://" in path or is_import_path(path) or not result.is_file():
        return None  # code and servers may change without a file that is known here
    answers = [result.with_name(name) for name in _ANSWERED]
    answered = [sha256_file(file) for file in answers if file.is_file()]
    settings = {name: part.model_dump(mode="json") for name, part in config.settings.items()}
    said = config.model_dump(mode="json", exclude={"folder", "settings"})
    return sha256(made_from_files(config), said, settings, answered, sha256_file(result))


def part_key(name: str, made: MadeFrom, used_keys: Mapping[str, str]) -> str:
    """The key of an answer in the journal: another input is another key."""
    return sha256(name, made, dict(used_keys))


def what_differs(before: MadeFrom | None, after: MadeFrom) -> str:
    """What has changed, in words; empty if nothing has."""
    if before is None:
        return "inputs that were not noted"
    return ", ".join(words for key, words in _OTHER.items() if before.get(key) != after.get(key))


def read_made(store: RunStore) -> dict[str, Made]:
    """The journal's entries by part."""
    found: dict[str, Made] | None = store.meta(_META)
    if found is None:  # three lists in 0.2.0
        keys, facts, sources = (
            store.meta(f"part {name}", {}) for name in ("keys", "facts", "sources")
        )
        found = {
            name: {"key": keys.get(name, ""), "objects": facts.get(name), "files": files}
            for name, files in {**dict.fromkeys(keys), **sources}.items()
        }
    return found


def write_made(store: RunStore, made: Mapping[str, Made]) -> None:
    """Put the entries into the journal."""
    store.set_meta(_META, dict(made))


def _model_content(config: Config) -> Any:
    path = config.model.path
    if "://" in path:
        return None
    return _code(config, path) if is_import_path(path) else _content(config.folder / path)


def _code(config: Config, path: str) -> Any:
    """The module of "package.module:name", if it lies beside the configuration."""
    module = config.folder.joinpath(*path.partition(":")[0].split("."))
    return [_content(module.with_name(f"{module.name}.py")), _content(module / "__init__.py")]


def _content(path: Path) -> Any:
    """Hashes of a file and of the labels beside it, or of all files in a folder."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        return [(file.relative_to(path).as_posix(), sha256_file(file)) for file in files]
    found = [path, labels_beside(path)]
    return [sha256_file(file) for file in found if file is not None and file.is_file()]
