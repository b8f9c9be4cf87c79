"""The configuration file: what to assess, with what, and the limits to keep."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fireassay.assessment.decision import Decision
from fireassay.assessment.measures import full_name, measure_of
from fireassay.assessment.parts import PARTS, settings_models
from fireassay.classifiers.import_path import is_import_path
from fireassay.core import ConfigError, DataError, ParameterError
from fireassay.core.regular_file import read_small_text
from fireassay.data.natural_range import as_normalisation
from fireassay.report.gates import Direction, Gate, check_limit

FILE_NAME = "fireassay.toml"


class Section(BaseModel):
    """A table of the file: unknown keys are errors, values are checked."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class HttpSection(Section):
    """How to talk to a model behind an address: ``[model.http]``."""

    request: str | None = Field(
        default=None,
        description='The request as JSON with {rows} (or {row}: one by one), e.g. {"inputs": '
        "{rows}}.",
    )
    answer: str | None = Field(
        default=None, description="Where the scores are in the answer, e.g. outputs[0].scores."
    )
    token_env: str | None = Field(
        default=None, description="Name of the environment variable with the bearer token."
    )
    timeout_s: float | None = Field(default=None, gt=0, description="Seconds for one request.")
    retries: int | None = Field(default=None, ge=0, description="Attempts after a failure.")
    ca_file: str | None = Field(
        default=None, description="Certificates (PEM) of a server that has signed its own."
    )
    concurrency: int | None = Field(
        default=None, ge=1, le=64, description="Requests under way at a time."
    )


class ModelSection(Section):
    """Which model, and how to talk to it."""

    path: str = Field(
        description="A file (.onnx, .skops), an http(s) address, or package.module:name."
    )
    output: Literal["probabilities", "logits", "labels"] = Field(
        default="probabilities", description="What the model returns."
    )
    classes: tuple[str | int, ...] | None = Field(
        default=None, description="Class labels in the order of the model's columns."
    )
    bounds: tuple[float, float] | None = Field(
        default=None, description="Smallest and largest allowed input value."
    )
    mean: tuple[float, ...] | None = Field(
        default=None,
        description="Images that were normalised: the mean of each channel (of 0 to 1, or of "
        "0 to 255) that was taken away. Attacks and corruptions then work on natural images.",
    )
    std: tuple[float, ...] | None = Field(
        default=None, description="And what each channel was divided by."
    )
    batch_size: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Rows sent to the model at once (left out: the adapter's choice)."
    )
    device: str | None = Field(default=None, description="For torch models: cpu, cuda, …")
    http: HttpSection = Field(
        default=HttpSection(), description="For addresses: how to ask and where the answer is."
    )

    @property
    def normalisation(self) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
        """Mean and standard deviation of the channels, if they were given."""
        return None if self.mean is None or self.std is None else (self.mean, self.std)

    @model_validator(mode="after")
    def _normalised_or_bounded(self) -> Self:
        try:
            as_normalisation(self.mean, self.std, self.bounds)
        except ParameterError as error:
            raise ValueError(str(error)) from error
        return self


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
    label: str | None = Field(default=None, description="The label column of a table.")
    categorical: tuple[str, ...] | None = Field(
        default=None, description="Columns of a table that are names, also if they look numeric."
    )
    group: str | None = Field(
        default=None,
        description="The column (or npz array) that says which rows belong together: a patient, "
        "a device, a video. It is no feature; intervals count groups, not rows.",
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
    kind: Literal["image", "series", "integer", "real"] | None = Field(
        default=None, description="What the rows of an array are, where the type does not say it."
    )
    missing: bool | None = Field(
        default=None,
        description="Allow missing values (NaN) in arrays, for a model that takes them.",
    )


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

    def decision(self) -> Decision:
        """Checked as far as it can be without the model."""
        return Decision.of(self.costs, self.threshold)

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
    workers: int = Field(default=1, ge=1, description="Processes on this machine.")
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


class Config(Section):
    """The whole file. Settings of a part stand under the part's own name.

    Attributes
    ----------
    model, data, decision, run, gates
        The tables of the file.
    settings
        Settings of each part by its name.
    folder
        Where relative paths start.

    >>> config = Config(model={"path": "m.onnx"}, data={"test": "t.npz"}, folder="/runs")
    >>> config.resolve("t.npz"), config.resolve("hospital.models:sepsis")
    ('/runs/t.npz', 'hospital.models:sepsis')
    """

    model: ModelSection
    data: DataSection
    decision: DecisionSection = DecisionSection()
    run: RunSection = RunSection()
    gates: GatesSection = GatesSection()
    settings: dict[str, Any] = Field(default_factory=dict)
    folder: Path = Path()
    file_name: str = FILE_NAME

    def resolve(self, path: str) -> str:
        """A path of the file, relative to its folder; addresses and import names stay."""
        if "://" in path or is_import_path(path):
            return path
        return str(self.folder / path)


def read_config(path: str | Path = FILE_NAME) -> Config:
    """Read and check a configuration file.

    Parameters
    ----------
    path
        Of the file; its folder is where relative paths in it start.

    Raises
    ------
    ConfigError
        Names the file, the line and the key of every mistake.

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
    sides: tuple[tuple[Direction, Mapping[str, float]], ...] = (
        ("max", config.gates.max),
        ("min", config.gates.min),
    )
    for direction, limits in sides:
        for name, limit in limits.items():
            try:
                measure = measure_of(full_name(name, config.run.parts))
                if measure is not None:
                    check_limit(Gate(name, direction, limit), measure)
            except ParameterError as error:
                line = _line_of(text, ("gates", direction, *name.split(".")))
                found.append(f"{path}:{line}: gates.{direction}: {error}")
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
