"""What a part of an assessment may use."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.assessment.parts.operating_point import Decision
from fireassay.classifiers import Classifier, as_classifier
from fireassay.classifiers.base import BaseClassifier, hand_rows_as, identify, innermost
from fireassay.classifiers.import_path import import_object, is_import_path
from fireassay.classifiers.read_files import Opened, digests, files_of, listening
from fireassay.classifiers.recorded import RecordedAnswers
from fireassay.classifiers.trust import check_token, make_importable
from fireassay.core import Assumption, DataError, ModelError, Result, generator, sha256
from fireassay.core.arrays import AnyArray, FloatArray
from fireassay.core.groups import Groups
from fireassay.core.lazy import pd
from fireassay.data import DataSet, NaturalRange, column_names, load
from fireassay.data.files import unpacked
from fireassay.data.handed import Handed
from fireassay.data.image_folder import split_folders
from fireassay.data.npz_file import read_npy
from fireassay.data.parts import has_part
from fireassay.data.table_file import is_table
from fireassay.engine import ContentStore, Executor
from fireassay.version import __version__

if TYPE_CHECKING:
    from fireassay.assessment.config import Config
    from fireassay.assessment.sections import DataSection

_AS_GIVEN = {"weight", "slices", "categorical", "encoding", "header", "na", "size"}
HARD_LABELS = (
    "the model answers with labels alone (every probability it gave is 0 or 1), so {} cannot be "
    "asked; give its probabilities"
)


@dataclass(frozen=True)
class Context:
    """The model, the data, and what earlier parts found."""

    model: Classifier
    test: DataSet
    train: DataSet | None = None
    operational: DataSet | None = None
    votes: Any = None
    vote_names: tuple[str, ...] | None = None
    groups: Any = None
    decision: Decision = field(default_factory=Decision)
    seed: int = 0
    executor: Executor = field(default_factory=Executor)
    kept: ContentStore | None = None
    results: Mapping[str, Result] = field(default_factory=dict)
    known: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    doubts: tuple[Assumption, ...] = ()
    hard_labels: bool = False
    normalisation: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    handed: Handed = field(default_factory=Handed)
    perturb: Callable[[str, np.random.Generator], Sequence[str]] | None = None
    pictures: bool = True
    exposure: tuple[str, FloatArray] | None = None
    stochastic: bool = False  # declared to answer at random
    repeats: int = 32  # rows that are asked twice
    partial: str | None = None  # which of the test rows there was time for
    files: Mapping[str, str] = field(default_factory=dict)  # of the model, besides its own

    @property
    def sets(self) -> dict[str, DataSet]:
        """Its data sets by their names."""
        found = {"test": self.test, "train": self.train, "operational": self.operational}
        return {name: data for name, data in found.items() if data is not None}

    @property
    def recorded(self) -> bool:
        """Whether the model is nothing but recorded answers: then nothing may be asked of it."""
        return isinstance(self.model, RecordedAnswers)

    @cached_property
    def natural_range(self) -> NaturalRange | None:
        """The range that pixels or signals naturally have; None for tables, texts and tokens."""
        X, rows = self.test.X, self.test.rows
        if rows.form not in ("image", "series") or not rows.is_plain:
            return None
        if self.normalisation is not None:
            return NaturalRange.normalised(*self.normalisation, X)
        if self.model.bounds is not None:
            return NaturalRange.declared(self.model.bounds)
        return NaturalRange.seen(X, series=rows.form == "series")

    @property
    def has_confidences(self) -> bool:
        """Whether the model says how sure it is; hard labels do not."""
        return not self.hard_labels and getattr(self.model, "output", "") != "labels"

    def lacking(self, cost: Cost) -> tuple[Cost, ...]:
        """What a part of this cost has to do itself, since the part before it gave nothing."""
        return tuple(more for name, more in cost.without.items() if name not in self.results)

    def digest(self, data: DataSet) -> str:
        """The content hash of a set of this run, computed once: large sets take long."""
        key = f"digest of {id(data)}"
        if key not in self.known:
            self.known[key] = data, data.sha256  # who is kept keeps its id
        return str(self.known[key][1])

    def once(self, name: str, inputs: Any, compute: Callable[[], Any]) -> Any:
        """What ``compute`` gives for these inputs and this model, computed once in a run."""
        key = sha256("once", name, __version__, self.model.sha256, self.seed, inputs)
        if key not in self.known:
            self.known[key] = self._stored(key, name, compute)
        return self.known[key]

    def of_data(self, name: str, inputs: Any, compute: Callable[[], Any]) -> Any:
        """The same for what the model has no part in: kept between runs, if there is a store."""
        key = sha256("of data", name, __version__, self.seed, inputs)
        if key not in self.known:
            if self.kept is not None:
                self.known[key] = self.kept.once(name, (self.seed, inputs), compute)
            else:
                self.known[key] = self._stored(key, name, compute)
        return self.known[key]

    def has_of_data(self, name: str, inputs: Any) -> bool:
        """Whether the store has this from another run."""
        return self.kept is not None and self.kept.has(name, (self.seed, inputs))

    def _stored(self, key: str, name: str, compute: Callable[[], Any]) -> Any:
        store = self.executor.store
        if store is None:
            return compute()
        kept = store.finished([key])
        if key in kept:
            return kept[key]
        store.expect([key], name=name, function=compute.__qualname__)
        start = time.perf_counter()
        return store.record(key, compute(), time.perf_counter() - start)


@dataclass(frozen=True)
class Cost:
    """What a part is expected to need."""

    queries: int = 0  # rows sent to the model
    labels: int = 0
    gradient_queries: int = 0  # rows sent through a backward pass
    data_rows: int = 0  # of the queries those about rows as they are: a run asks about each once
    spared: float = 0.0  # share of the other queries that is not needed where attacks end early
    # By name of a part before it that has given nothing: what doing that part's work costs.
    without: Mapping[str, Cost] = field(default_factory=dict)
    in_store: bool = False  # most of its own work was done for another model
    calls: int = 0  # with few rows, which cost a whole block each (attacks that go step by step)
    own_seconds: float = 0.0  # besides the model's
    memory_mb: float = 0.0  # largest arrays at one time, besides the data and the model
    library_mb: float = 0.0  # libraries that it loads, which stay for the parts after it
    disk_mb: float = 0.1  # what the result needs in the run folder


def load_context(
    config: Config,
    *,
    seed: int | None = None,
    executor: Executor | None = None,
    trust: bool = False,
) -> Context:
    """Load everything a configuration names; paths are relative to the file's folder."""
    if config.predictions is not None:
        from fireassay.assessment.judge import configured_context

        return configured_context(config, config.run.seed if seed is None else seed, executor)
    section = config.model
    options = section.model_dump(include={"batch_size", "device"}, exclude_none=True)
    options |= section.http.model_dump(exclude_none=True)
    if "ca_file" in options:
        options["ca_file"] = str(config.folder / options["ca_file"])
    check_token(section.path, section.http.token_env, trust=trust)
    with listening(opened := Opened()):
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
        identify(model)
    adapter = innermost(model)
    files = digests(getattr(adapter, "beside", ()), config.folder)
    if is_import_path(section.path):
        files |= digests(files_of(section.path, config.folder, opened), config.folder)
        if isinstance(adapter, BaseClassifier):
            adapter.made_from = files
    seed = config.run.seed if seed is None else seed
    sets = load_sets(config.data, config.folder, getattr(model, "feature_names", None), seed)
    sets = handed_to(model, sets, section.handed, section.normalisation)
    decision = config.decision.decision()
    return Context(
        model=decision.applied(model),
        **sets,
        decision=decision,
        normalisation=section.normalisation,
        handed=section.handed,
        stochastic=section.stochastic,
        repeats=section.rows_asked_twice,
        perturb=load_perturb(config.data.perturb, config.folder, trust=trust),
        seed=seed,
        executor=executor or Executor(workers=config.run.workers or 1),
        kept=ContentStore.configured(config.run.store, config.folder),
        files=files,
    )


def handed_to(
    model: Any, sets: Mapping[str, Any], handed: Handed, normalisation: Any = None
) -> dict[str, Any]:
    """All sets as the model takes their rows."""
    hand_rows_as(model, handed.rows)
    return {
        name: handed.applied(data, normalisation) if isinstance(data, DataSet) else data
        for name, data in sets.items()
    }


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
    section: DataSection, folder: Path, columns: Sequence[str] | None = None, seed: int = 0
) -> dict[str, Any]:
    """The data sets by name; of tables the columns that the model takes, in its order."""
    path = unpacked(folder / section.test)
    inside = split_folders(path)
    options = _options(section, path, columns) | _part(section, "test")
    test, notes = with_groups(load(inside.get("test", path), **options), section, seed)
    sets: dict[str, Any] = {"test": test, "notes": notes}
    for name in ("train", "operational"):
        other, sets[name] = getattr(section, name), None
        if other is not None or name in inside:
            place = inside[name] if other is None else unpacked(folder / other)
            sets[name] = _like(place, section, test)
        elif section.split is not None and has_part(path, section.split, name, section.reading):
            sets[name] = _like(path, section, test, **_part(section, name))
    for name in ("votes", "groups"):
        path = getattr(section, name)
        sets[name] = None if path is None else read_npy(folder / path)
    return sets


def with_groups(test: DataSet, section: DataSection, seed: int) -> tuple[DataSet, tuple[str, ...]]:
    """The test rows with the largest group that can occur, or some of each; and what to say."""
    columns = section.group_columns
    if test.groups is None:
        asked = {"largest_group": section.largest_group, "rows_per_group": section.rows_per_group}
        for name, value in asked.items():
            if value is not None:
                raise DataError(f"[data] {name} needs groups.", do="Name their column: group.")
        return test, ()
    notes: tuple[str, ...] = ()
    if len(columns) > 1:
        inner = " and ".join(columns[1:])
        notes = (f"Each {columns[0]} counts once; {inner} within it are not counted.",)
    most = section.rows_per_group
    if most is not None:
        drawn_rows = _some_of_each(np.asarray(test.groups), most, seed)
        left = (("not drawn by lot", len(test) - len(drawn_rows)),)
        test = replace(test.subset(drawn_rows), left_out=(*test.left_out, *left))
        drawn = (
            f"At most {most} rows of each {columns[0]} were drawn by lot: numbers are about the "
            f"rows of a {columns[0]}, where large ones count no more than small ones."
        )
        notes = (*notes, drawn)
    largest = most if section.largest_group is None else section.largest_group
    groups = np.asarray(test.groups)
    sizes = np.unique(groups, return_counts=True)[1]
    if largest is not None and sizes.max() > largest:
        raise DataError(
            f"[data] largest_group: no group has more than {largest:,} rows.",
            got=f"one of {sizes.max():,}",
            do="Say the most rows that one can have.",
        )
    return replace(test, groups=Groups(groups, largest)), notes


def _some_of_each(groups: AnyArray, most: int, seed: int) -> AnyArray:
    """So many rows of each group, drawn by lot, in the order of the file."""
    order = generator(seed, "rows per group").permutation(len(groups))
    member = np.unique(groups[order], return_inverse=True)[1].ravel()
    together = np.argsort(member, kind="stable")
    sizes = np.bincount(member)
    nth = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[together[nth < most]])


def _part(section: DataSection, name: str) -> dict[str, Any]:
    """The option of `load` that takes one part of a table."""
    return {} if section.split is None else {"split": (section.split, name)}


def unused_columns(section: DataSection, folder: Path, test: DataSet) -> tuple[str, ...]:
    """Columns of the test table that are neither features nor named for something else."""
    path = unpacked(folder / section.test)
    if not is_table(path) or test.feature_names is None:
        return ()
    label = section.label or test.label_column
    named = {section.weight, section.id, label, section.split, *(section.ignore or ())}
    named |= set(section.group_columns)
    names = column_names(path, section.reading)
    left = [n for n in names if n not in named and n not in test.feature_names]
    usual = ("label", "labels", "y", "target", "class", "id", "ids", "unnamed: 0")
    return tuple(name for name in left if name.lower() not in usual)


def _options(
    section: DataSection, path: Path, columns: Sequence[str] | None, *, other: bool = False
) -> dict[str, Any]:
    """Options of `load`; other rows than the test rows may lack columns that are no features."""
    # Arrays go to the model as they are: whether channels come first is between these two.
    group, *inner = section.group_columns or (None,)
    given: dict[str, Any] = {"label": section.label, "group": group}
    if is_table(path):
        given |= {
            **section.model_dump(include=_AS_GIVEN),
            "id_column": section.id,
            "ignore": [*(section.ignore or ()), *filter(None, inner)] or None,
            "columns": columns,
            "kind": section.kind if section.kind in ("table", "text") else None,
            "drop_unlabelled": None if other else section.drop_unlabelled,
        }
    elif path.is_dir():
        given = {"size": section.size}
    elif path.suffix.lower() in (".npz", ".npy"):
        given |= {"layout": "HWC", "kind": section.kind, "missing": section.missing}
    if other:
        present = column_names(path, section.reading)
        for role in ("label", "group", "id_column", "weight"):
            if given.get(role) is not None and given[role] not in present:
                given[role] = False if role == "label" and is_table(path) else None
        for role in ("ignore", "slices"):
            if given.get(role):
                given[role] = [column for column in given[role] if column in present]
    return {name: value for name, value in given.items() if value is not None}


def _like(path: Path, section: DataSection, test: DataSet, **part: Any) -> DataSet:
    """Other rows, with the features of the test rows."""
    # The labels of other rows are in the column that those of the test rows are in, or nowhere.
    section = section.model_copy(update={"label": section.label or test.label_column})
    options = _options(section, path, test.feature_names if is_table(path) else None, other=True)
    if is_table(path):
        options["kind"] = "text" if test.rows.is_text else "table"
    loaded = load(path, **options, **part)
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
