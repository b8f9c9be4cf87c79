"""The configuration file: what to assess, with what, and the limits to keep."""

import tomllib
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from fireassay.assessment.parts.table import PARTS, checked_gate, settings_models
from fireassay.assessment.sections import (
    DataSection,
    DecisionSection,
    GatesSection,
    ModelSection,
    PredictionsSection,
    RequirementSection,
    Section,
)
from fireassay.classifiers.import_path import is_import_path
from fireassay.core import ConfigError, DataError, ParameterError
from fireassay.core.files import read_small_text
from fireassay.report.gates import Gate

FILE_NAME = "fireassay.toml"


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
