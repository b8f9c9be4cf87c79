"""What a configuration names, as it lies on the disk: hashes of files, nothing is loaded or run."""

from pathlib import Path
from typing import Any

from fireassay.assessment.config import Config
from fireassay.assessment.part_key import Facts
from fireassay.classifiers.import_path import is_import_path
from fireassay.core import sha256
from fireassay.core.hashing import sha256_file
from fireassay.data.idx import labels_beside
from fireassay.version import __version__

# How the model is run, which its answers do not depend on.
_MANNER: dict[str, Any] = {
    "batch_size": True,
    "device": True,
    "http": {"token_env", "timeout_s", "retries", "concurrency", "ca_file"},
}


def source_facts(config: Config) -> dict[str, Facts]:
    """For each part the hashes of what its answer would be made from now.

    A model behind an address is known by its address; a model "package.module:name" by the
    module's file if that lies beside the configuration.
    """
    data = config.data
    columns = data.model_dump(exclude={"test", "train", "operational", "votes", "groups"})
    sets = {
        name: None if path is None else (path, columns, _content(config.folder / path))
        for name, path in (
            ("test", data.test),
            ("train", data.train),
            ("operational", data.operational),
        )
    }
    votes = [
        None if path is None else _content(config.folder / path)
        for path in (data.votes, data.groups)
    ]
    common: dict[str, Any] = {
        "fireassay": __version__,
        "model": (config.model.model_dump(exclude=_MANNER), _model_content(config)),
        **sets,
        "votes": votes,
        "decision": config.decision.model_dump(),
        "seed": config.run.seed,
    }
    if data.perturb is not None:
        common["perturb"] = _code(config, data.perturb)
    hashed = {key: sha256(value) for key, value in common.items()}
    return {
        part: {**hashed, "settings": sha256(settings.model_dump())}
        for part, settings in config.settings.items()
    }


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
