"""The configuration file: what to assess, with what, and the limits to keep."""

import tomllib
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from fireassay.assessment.model_section import ModelSection, Section
from fireassay.assessment.parts.operating_point import Decision
from fireassay.assessment.parts.table import PARTS, checked_gate, settings_models
from fireassay.classifiers.import_path import is_import_path
from fireassay.core import ConfigError, DataError, ParameterError
from fireassay.core.files import read_small_text
from fireassay.data.csv_file import Reading
from fireassay.report.gates import Gate, parse_gates

FILE_NAME = "fireassay.toml"


class DataSection(Section):
    """Which rows: ``test`` is needed, the others open further questions."""

    test: str = Field(description="Labelled rows that the model was not trained on.")
    train: str | None = Field(default=None, description="Rows that the model was trained on.")
    operational: str | None = Field(
        default=None, description="Unlabelled rows as they occur in the field."
    )
    votes: str | None = Field(
        default=None, description="Votes of labelling functions on field rows (.npy, -1 abstains)."
    )
    groups: str | None = Field(
        default=None, description="Patient or device of each voted row (.npy), if rows repeat."
    )
    split: str | None = Field(
        default=None,
        description="The column of the test table that says test, train, or field or validation: "
        "one file for all rows.",
    )
    label: str | None = Field(default=None, description="The label column of a table.")
    categorical: tuple[str, ...] | None = Field(
        default=None, description="Columns of a table that are names, also if they look numeric."
    )
    encoding: str | None = Field(default=None, description="Of a CSV file: latin-1, cp1252.")
    header: bool | None = Field(default=None, description="Whether a CSV file names its columns.")
    na: tuple[str, ...] | None = Field(
        default=None, description='What stands for a missing value in a CSV file: ["?", "-9"].'
    )
    drop_unlabelled: bool | None = Field(default=None, description="Leave out unlabelled rows.")
    size: tuple[int, int] | None = Field(
        default=None, description="Height and width that images of several sizes are brought to."
    )
    group: str | tuple[str, ...] | None = Field(
        default=None,
        description="The column (or npz array) that says which rows belong together: a patient, "
        "a device, a video. It is no feature; intervals count groups, not rows. Of several, "
        'as ["site", "patient"], the first counts.',
    )
    largest_group: int | None = Field(
        default=None, ge=1, description="The most rows that a group can have (seen or not)."
    )
    rows_per_group: int | None = Field(
        default=None, ge=1, description="Take so many rows of each group, drawn by lot."
    )
    id: str | None = Field(default=None, description="The id column of a table.")
    ignore: tuple[str, ...] | None = Field(
        default=None, description="Columns of a table that are no features."
    )
    slices: tuple[str, ...] | None = Field(
        default=None, description="Columns of a table: accuracy is shown for each of their values."
    )
    weight: str | None = Field(
        default=None,
        description="The column of weights: how often the field has such a row, over how often "
        "the test rows have it.",
    )
    perturb: str | None = Field(
        default=None,
        description="For texts: package.module:name of a function perturb(text, rng) that gives "
        "changed texts of the same meaning; survival and supervision then can ask more.",
    )
    kind: Literal["image", "series", "table", "text", "tokens", "integer", "real"] | None = Field(
        default=None,
        description="What the rows are, where type and shape do not say it: image, series, table, "
        "text or tokens; integer or real for arrays of numbers.",
    )
    missing: bool | None = Field(
        default=None,
        description="Allow missing values (NaN) in arrays, for a model that takes them.",
    )

    @property
    def reading(self) -> Reading:
        """What CSV files do not say of themselves."""
        return Reading(self.encoding, self.header, self.na or ())


class DecisionSection(Section):
    """Which answer is acted on, and what mistakes cost."""

    costs: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict,
        description='What each kind of mistake costs, by truth and answer: { "sepsis -> no sepsis" '
        '= 50, "* -> *" = 1 }. * is any class.',
    )
    threshold: Literal["argmax"] | dict[str, Annotated[float, Field(gt=0, lt=1)]] = Field(
        default="argmax",
        description='"argmax", or from which probability on a class is answered: '
        '{ "sepsis" = 0.2 }. All parts judge the decision.',
    )

    positive: str | int | None = Field(
        default=None, description="The class that sensitivity and other short names are about."
    )
    prevalence: dict[str, Annotated[float, Field(gt=0, lt=1)]] = Field(
        default_factory=dict,
        description="How frequent a class is elsewhere, for PPV and NPV there: { sepsis = 0.02 }.",
    )
    ordered: tuple[str | int, ...] = Field(
        default=(), description="All classes in an order that means something: low, mid, high."
    )

    def decision(self) -> Decision:
        """Checked as far as it can be without the model."""
        return Decision.of(self.costs, self.threshold, self.positive, self.prevalence, self.ordered)

    @model_validator(mode="after")
    def _costs_are_named(self) -> Self:
        try:
            self.decision()
        except ParameterError as error:
            raise ValueError(str(error)) from error
        return self


class RunSection(Section):
    """Where results go, and what is run."""

    folder: str = Field(default="fireassay-run", description="The run folder.")
    title: str = Field(default="Fire assay", description="The title of the report.")
    seed: int = Field(default=0, ge=0, description="Same seed, same result.")
    parts: tuple[str, ...] = Field(default=tuple(PARTS), description="What to run.")
    workers: int | None = Field(
        default=None,
        ge=1,
        description="Processes on this machine. By default all cores where the model is a file "
        "and the work takes seconds, else one.",
    )
    store: str | None = Field(
        default=None,
        description="The folder of what depends on the data alone and serves every model; "
        '"off": none. By default in the user\'s cache.',
    )
    max_minutes: float | None = Field(
        default=None, gt=0, description="Most minutes in all; parts that do not fit wait."
    )
    max_queries: int | None = Field(
        default=None, ge=1, description="Most rows sent to the model in all, likewise."
    )
    hang_minutes: float = Field(
        default=30,
        gt=0,
        description="Most minutes for one block of rows; then the model is said to hang.",
    )
    samples: bool = Field(
        default=True,
        description="Show rows of the data in report.html and result.json, as evidence.",
    )


class GatesSection(Section):
    """Limits on numbers, judged at the unfavourable end of their interval."""

    looks: int | None = Field(
        default=None,
        ge=1,
        description="How many models will be judged on these labels: each gets its share of the "
        "error probability.",
    )
    max: dict[str, float] = Field(
        default_factory=dict,
        description="Upper limits, each by the name of its number.",
        examples=[{"accuracy.error": 0.1}],
    )
    min: dict[str, float] = Field(
        default_factory=dict,
        description="Lower limits.",
        examples=[{"accuracy.accuracy": 0.9}],
    )
    accept: dict[str, Annotated[str, Field(min_length=1)]] = Field(
        default_factory=dict,
        description="Assumptions accepted although the data contradicts them, with the reason.",
        examples=[{"independent-rows": "one row per patient, see protocol 7"}],
    )

    @property
    def as_written(self) -> tuple[Gate, ...]:
        """The limits by the names that the file has for their numbers."""
        return parse_gates({"max": self.max, "min": self.min})


class RequirementSection(Section):
    """One requirement of the argument: ``[requirements.R1]``."""

    text: str = Field(min_length=1, description="The requirement in one sentence.")
    gates: tuple[str, ...] = Field(
        min_length=1, description="Names of the limits in [gates] that support the requirement."
    )


class PredictionsSection(Section):
    """A file of predictions instead of ``[model]`` and ``[data]``; names of its columns."""

    file: str = Field(description="CSV, Parquet, JSON lines or npz.")
    truth: str | None = Field(default=None, description="Column of the truth.")
    answer: str | None = Field(default=None, description="Column of the answers.")
    probability: str | tuple[str, ...] | None = Field(
        default=None, description="Column of the probability, or one per class."
    )
    answer_confidence: str | None = Field(default=None, description="Confidence of the answer.")
    id: str | None = Field(default=None, description="Column of ids.")
    group: str | None = Field(default=None, description="Column of patients or devices.")
    time: str | None = Field(default=None, description="Column of times.")
    weight: str | None = Field(default=None, description="Column of weights.")
    slices: tuple[str, ...] | None = Field(default=None, description="Columns to slice by.")
    classes: tuple[str | int, ...] | None = Field(default=None, description="All classes.")
    indeterminate: str | None = Field(default=None, description='The answer for "cannot tell".')
    unlabelled: str | None = Field(default=None, description='The truth for "not known".')
    threshold: float | None = Field(
        default=None, gt=0, lt=1, description="Answer the positive class from here on."
    )
    per: Literal["any", "majority", "last"] | None = Field(
        default=None, description="Judge groups instead of rows."
    )
    exposure: str | None = Field(default=None, description="Column of exposure.")
    largest_group: float | None = Field(default=None, ge=1, description="Most rows of a group.")


class Config(Section):
    """The whole file. Settings of a part stand under the part's own name.

    Attributes:
        model, data, decision, run, gates, about, requirements: The tables of the file.
        settings: Settings of each part by its name.
        folder: Where relative paths start.

    >>> config = Config(model={"path": "m.onnx"}, data={"test": "t.npz"}, folder="/runs")
    >>> config.resolve("t.npz"), config.resolve("hospital.models:sepsis")
    ('/runs/t.npz', 'hospital.models:sepsis')
    """

    model: ModelSection
    data: DataSection
    predictions: PredictionsSection | None = None
    decision: DecisionSection = DecisionSection()
    run: RunSection = RunSection()
    gates: GatesSection = GatesSection()
    about: dict[str, str] = Field(
        default_factory=dict,
        description="What only people know, for the dossier: intended_use, responsible, setting.",
    )
    requirements: dict[str, RequirementSection] = Field(
        default_factory=dict, description="Requirements by id: the legs of the argument."
    )
    settings: dict[str, Any] = Field(default_factory=dict)
    folder: Path = Path()
    file_name: str = FILE_NAME

    @model_validator(mode="before")
    @classmethod
    def _recorded(cls, tables: Any) -> Any:
        """Predictions stand for the model and its rows."""
        given = tables.get("predictions") if isinstance(tables, dict) else None
        if not isinstance(given, dict) or "file" not in given:
            return tables
        if "model" in tables or "data" in tables:
            raise ValueError("[predictions] stands instead of [model] and [data]: leave them out")
        data = {"test": given["file"], "label": given.get("truth"), "group": given.get("group")}
        return {**tables, "model": {"path": "recorded answers"}, "data": data}

    @cached_property
    def limits(self) -> tuple[Gate, ...]:
        """The limits of ``[gates]``, each by the full name of its number."""
        return tuple(checked_gate(gate, self.run.parts) for gate in self.gates.as_written)

    def resolve(self, path: str) -> str:
        """A path of the file, relative to its folder; addresses and import names stay."""
        if "://" in path or is_import_path(path):
            return path
        return str(self.folder / path)


def read_config(path: str | Path = FILE_NAME) -> Config:
    """Read and check a configuration file.

    Args:
        path: Of the file; its folder is where relative paths in it start.

    Raises:
        ConfigError: Names the file, the line and the key of every mistake.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     file = Path(name) / "fireassay.toml"
    ...     _ = file.write_text('[model]\\npath = "m.onnx"\\n[data]\\ntest = "test.npz"\\n')
    ...     config = read_config(file)
    >>> config.run.seed, config.data.test
    (0, 'test.npz')
    """
    path = Path(path)
    try:
        text = read_small_text(path)
    except (OSError, UnicodeDecodeError, DataError) as error:
        raise ConfigError(
            f"Expected a configuration file at {path}.",
            got=str(error),
            do="Write one with: fireassay init --model MODEL --data DATA",
        ) from error
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: expected TOML.", got=str(error)) from error
    _refuse_trust(tables, text, path)
    models = settings_models()
    settings: dict[str, Any] = {}
    mistakes: list[str] = []
    for name, settings_model in models.items():
        try:
            settings[name] = settings_model.model_validate(tables.pop(name, {}))
        except ValidationError as error:
            mistakes += _mistakes(error, text, path, prefix=(name,))
    try:
        own = {"settings": settings, "folder": path.parent, "file_name": path.name}
        config = Config.model_validate({**tables, **own})
    except ValidationError as error:
        mistakes += _mistakes(error, text, path)
    else:
        unknown = [part for part in config.run.parts if part not in PARTS]
        if unknown:
            line = _line_of(text, ("run", "parts"))
            known = ", ".join(PARTS)
            mistakes.append(f"{path}:{line}: run.parts: unknown {unknown[0]!r}, known: {known}")
        try:
            config.limits  # noqa: B018 - resolved and checked here, once
        except ParameterError:
            mistakes += _unknown_gates(config, text, path)
    if mistakes:
        raise ConfigError("The configuration has mistakes:\n  " + "\n  ".join(sorted(mistakes)))
    return config


def _refuse_trust(tables: dict[str, Any], text: str, path: Path) -> None:
    """Trust is the user's to give; a file that somebody sends must not be able to."""
    model = tables.get("model")
    if isinstance(model, dict) and "trust" in model:
        raise ConfigError(
            f"{path}:{_line_of(text, ('model', 'trust'))}: model.trust: a configuration cannot "
            "give trust, because it may come from somebody else.",
            got=f"trust = {model['trust']!r}",
            do="Delete the line. If you made the model file yourself, say so once: "
            "fireassay run --trust.",
        )


def _unknown_gates(config: Config, text: str, path: Path) -> list[str]:
    """Gates on numbers that no part can have, or that keep nothing bad out: said before a run."""
    found = []
    for gate in config.gates.as_written:
        try:
            checked_gate(gate, config.run.parts)
        except ParameterError as error:
            line = _line_of(text, ("gates", gate.direction, *gate.number.split(".")))
            found.append(f"{path}:{line}: gates.{gate.direction}: {error}")
    return found


def _mistakes(
    error: ValidationError, text: str, path: Path, prefix: tuple[str, ...] = ()
) -> list[str]:
    found = []
    for item in error.errors():
        location = (*prefix, *(str(step) for step in item["loc"]))
        message = {
            "extra_forbidden": "this key is not known",
            "missing": "this key is missing",
        }.get(item["type"], item["msg"])
        got = "" if item["type"] in ("extra_forbidden", "missing") else f", got {item['input']!r}"
        found.append(f"{path}:{_line_of(text, location)}: {'.'.join(location)}: {message}{got}")
    return found


def _line_of(text: str, location: tuple[str, ...]) -> int:
    """The line of a key, or of the longest part of its path that is in the file."""
    best, best_depth = 1, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("["):
            table = tuple(part.strip(" \"'") for part in stripped.strip("[] ").split("."))
            here = table
        elif "=" in stripped and not stripped.startswith("#"):
            here = (*table, *(p.strip(" \"'") for p in stripped.split("=")[0].split(".")))
        else:
            continue
        if here == location[: len(here)] and len(here) > best_depth:
            best, best_depth = number, len(here)
    return best
