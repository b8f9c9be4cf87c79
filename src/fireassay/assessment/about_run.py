"""What a run is about, from its configuration or its arrays, and when it began."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from fireassay.assessment.config import Config
from fireassay.assessment.context import Context
from fireassay.assessment.run_folder import read_about
from fireassay.classifiers.import_path import is_import_path
from fireassay.core import sha256
from fireassay.data import DataSet
from fireassay.report import About, DataFacts

_ROLES = {"train": "for training", "operational": "from the field"}


def about_files(config: Config, context: Context) -> About:
    """A run on the files of a configuration: their names, without their folders."""
    names = {name: getattr(config.data, name) for name in ("test", *_ROLES)}
    return _about(context, model_name(config.model.path), names)


def about_arrays(context: Context, model: str) -> About:
    """A run on arrays: the data has the name that it was given, if any."""
    sets = {name: getattr(context, name) for name in ("test", *_ROLES)}
    given = {name: data.name or "arrays" for name, data in sets.items() if data is not None}
    return _about(context, model, given)


def begun(about: About, folder: Path | None = None) -> About:
    """The day on which the run in a folder began; one without, or on other inputs, begins now."""
    earlier = None if folder is None else read_about(folder)
    if earlier is not None and earlier.inputs == about.inputs:
        return replace(about, began=earlier.began)
    return replace(about, began=datetime.now(UTC).isoformat(timespec="seconds"))


def model_name(path: str) -> str:
    """A file's name; an address without user, password and query; an import name as it is.

    >>> model_name("models/net.onnx"), model_name("https://me:secret@host:80/predict?key=1")
    ('net.onnx', 'host:80/predict')
    """
    if "://" in path:
        address = urlsplit(path)
        host = address.netloc.rpartition("@")[2]
        return f"{host}{address.path}".rstrip("/")
    return path if is_import_path(path) else Path(path).name


def facts_of(data: DataSet, name: str, role: str = "") -> DataFacts:
    """How many rows and groups a set has."""
    groups = None if data.groups is None else len(np.unique(data.groups))
    return DataFacts(Path(name).name, len(data), data.y is not None, groups, role)


def _about(context: Context, model: str, names: dict[str, str | None]) -> About:
    data = []
    for name in ("test", *_ROLES):
        rows = getattr(context, name)
        if rows is not None:
            data.append(facts_of(rows, names.get(name) or "arrays", _ROLES.get(name, "")))
    hashes = [None if d is None else d.sha256 for d in (getattr(context, n) for n in names)]
    inputs = sha256("about", context.model.sha256, hashes, context.seed)
    return About(model, tuple(data), context.seed, inputs=inputs)
