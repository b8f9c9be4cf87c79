"""The model and the data that a configuration names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fireassay.assessment.config import Config, DataSection
from fireassay.assessment.context import Context
from fireassay.classifiers import as_classifier
from fireassay.classifiers.code_beside import make_importable
from fireassay.classifiers.import_path import import_object
from fireassay.classifiers.trusted_tokens import check_token
from fireassay.core import DataError, ModelError
from fireassay.core.lazy_modules import pd
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
    options |= section.http.model_dump(exclude_none=True)
    if "ca_file" in options:
        options["ca_file"] = str(config.folder / options["ca_file"])
    check_token(section.path, section.http.token_env, trust=trust)
    make_importable(section.path, config.folder, trust=trust)
    model = as_classifier(
        config.resolve(section.path),
        classes=section.classes,
        bounds=section.bounds,
        output=section.output,
        trust=trust,
        hang_minutes=config.run.hang_minutes,
        **options,
    )
    sets = load_sets(config.data, config.folder, getattr(model, "feature_names", None))
    decision = config.decision.decision()
    return Context(
        model=decision.applied(model),
        test=sets["test"],
        train=sets["train"],
        operational=sets["operational"],
        votes=sets["votes"],
        groups=sets["groups"],
        decision=decision,
        normalisation=section.normalisation,
        perturb=load_perturb(config.data.perturb, config.folder, trust=trust),
        seed=config.run.seed if seed is None else seed,
        executor=executor or Executor(workers=config.run.workers),
    )


def load_perturb(path: str | None, folder: Path, *, trust: bool = False) -> Any:
    """The function that changes texts; code beside the configuration must be trusted."""
    if path is None:
        return None
    make_importable(path, folder, trust=trust)
    found = import_object(path)
    if not callable(found):
        raise ModelError(f"{path!r} must be a function perturb(text, rng).", got=repr(found)[:80])
    return found


def load_sets(
    section: DataSection, folder: Path, columns: Sequence[str] | None = None
) -> dict[str, Any]:
    """The data sets by name; of tables the columns that the model takes, in its order."""
    path = folder / section.test
    test = load(path, **_options(section, path, columns))
    sets: dict[str, Any] = {"test": test}
    for name in ("train", "operational"):
        other = getattr(section, name)
        sets[name] = None if other is None else _like(folder / other, section, test)
    for name in ("votes", "groups"):
        path = getattr(section, name)
        sets[name] = None if path is None else read_npy(folder / path)
    return sets


def unused_columns(section: DataSection, folder: Path, test: DataSet) -> tuple[str, ...]:
    """Columns of the test table that are neither features nor named for something else."""
    if not _is_table(folder / section.test) or test.feature_names is None:
        return ()
    named = {section.group, section.weight, section.id, section.label, *(section.ignore or ())}
    names = column_names(folder / section.test)
    left = [n for n in names if n not in named and n not in test.feature_names]
    usual = ("label", "labels", "y", "target", "class", "id", "ids", "unnamed: 0")
    return tuple(name for name in left if name.lower() not in usual)


def _options(
    section: DataSection, path: Path, columns: Sequence[str] | None, *, other: bool = False
) -> dict[str, Any]:
    """Options of `load`; other rows than the test rows may lack the columns that are no features.

    Arrays go to the model as they are: whether channels come first is between these two.
    """
    given: dict[str, Any] = {"label": section.label, "group": section.group}
    if _is_table(path):
        given |= {
            "id_column": section.id,
            "weight": section.weight,
            "ignore": section.ignore,
            "slices": section.slices,
            "categorical": section.categorical,
            "columns": columns,
        }
    elif path.suffix.lower() in (".npz", ".npy"):
        given |= {"layout": "HWC", "kind": section.kind, "missing": section.missing}
    if other:
        present = column_names(path)
        for role in ("label", "group", "id_column", "weight"):
            if given.get(role) is not None and given[role] not in present:
                given[role] = False if role == "label" and _is_table(path) else None
        for role in ("ignore", "slices"):
            if given.get(role):
                given[role] = [column for column in given[role] if column in present]
    return {name: value for name, value in given.items() if value is not None}


def _is_table(path: Path) -> bool:
    return path.suffix.lower() in (".csv", ".tsv", ".txt", ".parquet", ".pq")


def _like(path: Path, section: DataSection, test: DataSet) -> DataSet:
    """Other rows, with the features of the test rows."""
    names = test.feature_names if _is_table(path) else None
    loaded = load(path, **_options(section, path, names, other=True))
    if loaded.X.shape[1:] != test.X.shape[1:]:
        raise DataError(
            f"{path.name} must have rows like the test rows, shape {test.X.shape[1:]}.",
            got=f"shape {loaded.X.shape[1:]}",
        )
    return _of_the_same_form(loaded, test)


def _of_the_same_form(loaded: DataSet, test: DataSet) -> DataSet:
    """A table of numbers beside one with names or holes becomes a frame, as the other one is."""
    if test.rows.is_frame == loaded.rows.is_frame:
        return loaded
    if test.rows.is_frame:
        return replace(loaded, X=pd.DataFrame(loaded.X, columns=loaded.feature_names))
    raise DataError(
        f"{loaded.name} must have plain numbers, as the test rows have.",
        got="text, dates or missing values in it",
        do="Mend those cells, or give the test table the same columns.",
    )
