"""A campaign's file: data sets × models × epochs × rates × defences × attacks × seeds."""

import itertools
import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fireassay.core.errors import ConfigError
from fireassay.survival.defences import GRIDS
from fireassay.survival.reference_models import LAYERS


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DefenceAxis(_Strict):
    """A defence and the values to try; none needs no value."""

    name: str
    values: tuple[float, ...] = ()

    @model_validator(mode="after")
    def _known(self) -> "DefenceAxis":
        if self.name != "none" and self.name not in GRIDS:
            raise ValueError(f"unknown defence '{self.name}'; one of none, {', '.join(GRIDS)}")
        if self.name != "none" and not self.values:
            raise ValueError(
                f"the defence '{self.name}' needs values, e.g. {list(GRIDS[self.name])}"
            )
        return self


class AttackAxis(_Strict):
    """An attack, its norm and the perturbations ε* to try, and further parameters."""

    name: str
    norm: str | None = None
    eps: tuple[float, ...] = ()
    label: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)


class OwnModel(_Strict):
    """A model of the user's own, with what its training cost."""

    name: str
    path: str
    train_seconds: float = Field(gt=0)
    n_train: int = Field(gt=0)
    layers: int = 0
    output: str = "probabilities"


class CampaignConfig(_Strict):
    """What a campaign crosses."""

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
    budget: int = Field(default=200, ge=1)
    gradient_cost: float = Field(default=2.0, ge=0)
    eps_in_training_std: bool = True
    batch_size: int = Field(default=32, ge=1)

    @model_validator(mode="after")
    def _known(self) -> "CampaignConfig":
        unknown = sorted(set(self.models) - set(LAYERS))
        if unknown:
            raise ValueError(f"unknown model '{unknown[0]}'; one of {', '.join(LAYERS)}")
        return self

    def trainings(self) -> list[dict[str, Any]]:
        """One row per model to train; only Gauss-in trains differently."""
        hardened = [("none", 0.0)] + [
            (axis.name, value)
            for axis in self.defences
            if axis.name == "gauss-in"
            for value in axis.values
        ]
        if not any(axis.name != "gauss-in" for axis in self.defences):
            hardened = hardened[1:]
        axes = (self.data, self.models, self.epochs, self.learning_rates, self.seeds, hardened)
        return [
            {
                "data": data,
                "model": model,
                "epochs": epochs,
                "learning_rate": rate,
                "seed": seed,
                "training_defence": defence,
                "training_value": value,
                "width": self.width,
            }
            for data, model, epochs, rate, seed, (defence, value) in itertools.product(*axes)
        ]

    def trials(self, training: dict[str, Any]) -> list[dict[str, Any]]:
        """The attacks on one trained model, behind each defence that fits it."""
        if training["training_defence"] != "none":
            shields = [(training["training_defence"], training["training_value"])]
        else:
            shields = [
                (axis.name, value)
                for axis in self.defences
                if axis.name != "gauss-in"
                for value in (axis.values or (0.0,))
            ]
        return [
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
            for (defence, value) in shields
            for axis in self.attacks
            for eps in (axis.eps or (None,))
        ]


def read_config(source: str | Path | dict[str, Any]) -> CampaignConfig:
    """A campaign from a TOML file or a dict.

    Raises
    ------
    ConfigError
        For an unreadable file or a setting that is not understood, with its place.
    """
    if isinstance(source, dict):
        content = source
    else:
        try:
            content = tomllib.loads(Path(source).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as failure:
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
