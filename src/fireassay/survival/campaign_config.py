"""A campaign's file: data sets × models × epochs × rates × defences × attacks × seeds."""

import itertools
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fireassay.core import ConfigError, generator
from fireassay.core.files import read_small_text
from fireassay.survival.defences import DEFENCES
from fireassay.survival.reference_models import LAYERS
from fireassay.survival.rows import BUDGET, GRADIENT_COST


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DefenceAxis(_Strict):
    """A defence and the values to try; none needs no value."""

    name: str
    values: tuple[float, ...] = ()

    @model_validator(mode="after")
    def _known(self) -> "DefenceAxis":
        if self.name not in DEFENCES:
            raise ValueError(f"unknown defence '{self.name}'; one of {DEFENCES.listed()}")
        examples = DEFENCES[self.name].values
        if examples and not self.values:
            raise ValueError(f"the defence '{self.name}' needs values, e.g. {list(examples)}")
        return self

    @property
    def in_training(self) -> bool:
        """Whether it changes how a model is trained."""
        return DEFENCES[self.name].in_training


class AttackAxis(_Strict):
    """An attack, its norm and the perturbations ε* to try, and further parameters."""

    name: str
    norm: str | None = None
    eps: tuple[float, ...] = ()
    label: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)


class OwnModel(_Strict):
    """A model of the user's own, attacked on ``data`` (default: all), and its training's cost."""

    # ``path`` is as in `as_classifier`; ``seconds_per_query`` must be given for a model elsewhere,
    # because CPU seconds are measured in this process.

    name: str
    path: str
    train_seconds: float = Field(gt=0)
    n_train: int = Field(gt=0)
    layers: int = Field(default=0, ge=0)
    epochs: int | None = Field(default=None, ge=0)
    seconds_per_query: float | None = Field(default=None, gt=0)
    output: str = "probabilities"
    bounds: tuple[float, float] = (0.0, 1.0)
    data: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _no_trust(cls, given: Any) -> Any:
        if isinstance(given, dict) and "trust" in given:
            raise ValueError(
                "a campaign file cannot give trust, because it may come from somebody else; "
                "delete it and say --trust (trust=True)"
            )
        return given


class CampaignConfig(_Strict):
    """What a campaign crosses: data, reference and own models, defences, attacks, seeds."""

    # Own models are attacked on the test parts of reference models, or on whole data sets without
    # any. Each trial is drawn by a number of its own: a larger ``sample`` holds all trials of a
    # smaller one.

    data: tuple[str, ...] = ("digits",)
    models: tuple[str, ...] = ("resnet18",)
    own_models: tuple[OwnModel, ...] = ()
    epochs: tuple[int, ...] = (10,)
    learning_rates: tuple[float, ...] = (0.05,)
    seeds: tuple[int, ...] = (0,)
    defences: tuple[DefenceAxis, ...] = (DefenceAxis(name="none"),)
    attacks: tuple[AttackAxis, ...]
    width: int = Field(default=16, ge=1)
    train_share: float = Field(default=0.8, gt=0, lt=1)
    max_train: int | None = Field(default=None, ge=10)
    samples: int = Field(default=100, ge=1)
    budget: int = Field(default=BUDGET, ge=1)
    gradient_cost: float = Field(default=GRADIENT_COST, ge=0)
    eps_in_training_std: bool = True
    batch_size: int = Field(default=32, ge=1)
    sample: float = Field(default=1.0, gt=0, le=1)

    @model_validator(mode="after")
    def _known(self) -> "CampaignConfig":
        unknown = sorted(set(self.models) - set(LAYERS))
        if unknown:
            raise ValueError(f"unknown model '{unknown[0]}'; one of {', '.join(LAYERS)}")
        names = [own.name for own in self.own_models]
        taken = sorted({name for name in names if names.count(name) > 1 or name in self.models})
        if taken:
            raise ValueError(f"two models are called '{taken[0]}'")
        if not self.models and not names:
            raise ValueError("a campaign needs models or own_models")
        if not self.models and all(axis.in_training for axis in self.defences):
            name = self.defences[0].name
            raise ValueError(f"{name} is a way to train: own_models need another defence or none")
        return self

    def trainings(self) -> list[dict[str, Any]]:
        """One row per model to train, also for each defence that changes the training."""
        hardened = [("none", 0.0)] + [
            (axis.name, value)
            for axis in self.defences
            if axis.in_training
            for value in axis.values
        ]
        if all(axis.in_training for axis in self.defences):
            hardened = hardened[1:]
        axes = (self.data, self.models, self.epochs, self.learning_rates, self.seeds, hardened)
        rows = [
            {
                "data": data,
                "model": model,
                "epochs": epochs,
                "learning_rate": rate,
                "seed": seed,
                "training_defence": defence,
                "training_value": value,
                "width": self.width,
                "model_id": f"{data}/{model}/e{epochs}/lr{rate:g}/s{seed}",
            }
            for data, model, epochs, rate, seed, (defence, value) in itertools.product(*axes)
        ]
        return rows if self.sample == 1 else [row for row in rows if self._drawn(row).any()]

    def attacked_as_they_are(self) -> list[tuple[OwnModel, dict[str, Any]]]:
        """The user's own models, one row per data set and seed; a model is one group."""
        return [
            (
                own,
                {
                    "data": data,
                    "model": own.name,
                    "epochs": own.epochs,
                    "learning_rate": None,
                    "seed": seed,
                    "training_defence": "none",
                    "training_value": 0.0,
                    "width": None,
                    "model_id": f"{data}/{own.name}",
                },
            )
            for own in self.own_models
            for data in ((own.data,) if own.data else self.data)
            for seed in self.seeds
        ]

    def trials(self, training: dict[str, Any]) -> list[dict[str, Any]]:
        """The attacks (those drawn) on one trained model, behind each defence that fits it."""
        rows = [
            {
                **{key: training[key] for key in training if not key.startswith("training_")},
                "defence": defence,
                "defence_value": value,
                "attack": axis.name,
                "label": axis.label or (f"{axis.name}-{axis.norm}" if axis.norm else axis.name),
                "norm": axis.norm,
                "eps": eps,
                "parameters": dict(axis.parameters),
                "budget": self.budget,
                "gradient_cost": self.gradient_cost,
                "batch_size": self.batch_size,
            }
            for (defence, value) in self._shields(training)
            for axis in self.attacks
            for eps in (axis.eps or (None,))
        ]
        if self.sample == 1:
            return rows
        return [row for row, drawn in zip(rows, self._drawn(training), strict=True) if drawn]

    def _shields(self, training: dict[str, Any]) -> list[tuple[str, float]]:
        if training["training_defence"] != "none":
            return [(training["training_defence"], training["training_value"])]
        return [
            (axis.name, value)
            for axis in self.defences
            if not axis.in_training
            for value in (axis.values or (0.0,))
        ]

    def _drawn(self, training: dict[str, Any]) -> NDArray[np.bool_]:
        """Which of a training's trials are run."""
        count = sum(len(axis.eps) or 1 for axis in self.attacks) * len(self._shields(training))
        named = [str(training[key]) for key in sorted(training) if key != "width"]
        rng = generator(0, "campaign sample", *named)
        return np.asarray(rng.random(count) < self.sample)


def read_config(source: str | Path | dict[str, Any]) -> CampaignConfig:
    """A campaign from a TOML file or a dict; `ConfigError` names the place of a wrong setting."""
    if isinstance(source, dict):
        content = source
    else:
        try:
            content = _beside(Path(source).parent, tomllib.loads(read_small_text(source)))
        except (OSError, ValueError, RecursionError) as failure:
            raise ConfigError(
                f"A campaign must be a readable TOML file, also {source}.", got=f"{failure}"
            ) from failure
    try:
        return CampaignConfig(**content)
    except ValidationError as failure:
        first = failure.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "campaign"
        raise ConfigError(
            f"The campaign setting '{place}' is not valid.", got=str(first["msg"])
        ) from failure


def _beside(folder: Path, content: dict[str, Any]) -> dict[str, Any]:
    """Paths in a campaign's file are relative to the file."""

    def found(path: Any) -> Any:
        beside = folder / path if isinstance(path, str) and path else None
        return str(beside) if beside is not None and beside.is_file() else path

    moved = dict(content)
    if isinstance(moved.get("data"), list):
        moved["data"] = [found(name) for name in moved["data"]]
    if isinstance(moved.get("own_models"), list):
        moved["own_models"] = [
            {k: found(v) if k in ("path", "data") else v for k, v in own.items()}
            if isinstance(own, dict)
            else own
            for own in moved["own_models"]
        ]
    return moved
