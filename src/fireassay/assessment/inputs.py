"""The model and the data that a configuration names."""

import sys
from pathlib import Path
from typing import Any

from fireassay.assessment.config import Config, DataSection
from fireassay.assessment.context import Context
from fireassay.classifiers import as_classifier
from fireassay.classifiers.import_path import is_import_path
from fireassay.core import DataError
from fireassay.data import DataSet, column_names, load
from fireassay.data.npz_file import read_npy
from fireassay.engine import Executor


def load_context(
    config: Config,
    *,
    seed: int | None = None,
    executor: Executor | None = None,
    trust: bool = False,
) -> Context:
    """Load everything a configuration names; paths are relative to the file's folder."""
    section = config.model
    options: dict[str, Any] = {}
    if section.batch_size is not None:
        options["batch_size"] = section.batch_size
    if section.device is not None:
        options["device"] = section.device
    make_importable(section.path, config.folder)
    model = as_classifier(
        config.resolve(section.path),
        classes=section.classes,
        bounds=section.bounds,
        output=section.output,
        trust=trust,
        **options,
    )
    sets = load_sets(config.data, config.folder)
    decision = config.decision.decision()
    return Context(
        model=decision.applied(model),
        test=sets["test"],
        train=sets["train"],
        operational=sets["operational"],
        votes=sets["votes"],
        groups=sets["groups"],
        decision=decision,
        seed=config.run.seed if seed is None else seed,
        executor=executor or Executor(workers=config.run.workers),
    )


def make_importable(model: str, folder: Path) -> None:
    """Let "package.module:name" name a module that lies beside the configuration file."""
    place = str(folder.resolve())
    if is_import_path(model) and place not in sys.path:
        sys.path.insert(0, place)


def load_sets(section: DataSection, folder: Path) -> dict[str, Any]:
    """The data sets by name; tables are encoded as the test table is."""
    path = folder / section.test
    test = load(
        path,
        label=section.label,
        group=section.group,
        categorical=section.categorical,
        **_as_the_model_takes_it(path),
    )
    sets: dict[str, Any] = {"test": test}
    for name in ("train", "operational"):
        path = getattr(section, name)
        sets[name] = None if path is None else _same_encoding(folder / path, section, test)
    for name in ("votes", "groups"):
        path = getattr(section, name)
        sets[name] = None if path is None else read_npy(folder / path)
    return sets


def _as_the_model_takes_it(path: Path) -> dict[str, Any]:
    """Arrays go to the model as they are: whether channels come first is between these two."""
    return {"layout": "HWC"} if path.suffix.lower() in (".npz", ".npy") else {}


def _same_encoding(path: Path, section: DataSection, test: DataSet) -> DataSet:
    group = section.group
    if group is not None and group not in column_names(path):
        group = None  # other rows may come without their groups
    loaded = load(
        path,
        label=section.label,
        group=group,
        encoder=test.encoder,
        **_as_the_model_takes_it(path),
    )
    if loaded.X.shape[1:] != test.X.shape[1:]:
        raise DataError(
            f"{path.name} must have rows like the test rows, shape {test.X.shape[1:]}.",
            got=f"shape {loaded.X.shape[1:]}",
        )
    return loaded
