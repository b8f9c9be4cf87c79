"""Survival: how many queries until the model falls to an attack."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from fireassay.assessment.attack_space import attack_space
from fireassay.assessment.attacked_rows import AttackedRows, attack_parameters, attacked_rows
from fireassay.assessment.context import Context, Cost
from fireassay.core import Evidence
from fireassay.core.result import Answer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

USES: tuple[str, ...] = ()


class Settings(BaseModel):
    """``[survival]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    samples: int = Field(default=100, ge=10, description="How many rows are attacked.")
    budget: int = Field(
        default=300, ge=10, description="Forward-equivalent queries per row and attack."
    )
    eps: float | None = Field(
        default=None,
        gt=0,
        description="Largest change of a feature; left out: 10 % of the range of the inputs.",
    )


@dataclass(frozen=True, eq=False)
class SurvivalAnswer(Answer):
    """Times to failure, and the adversarial inputs behind them for other parts to use."""

    attacked: AttackedRows

    def frame(self) -> pd.DataFrame:
        """One row per sample and attack."""
        return self.attacked.observations().frame()

    def figures(self) -> "dict[str, Figure]":
        """Survival curves by attack."""
        return self.attacked.observations().figures()

    def evidence(self) -> Evidence:
        """How many samples stand, how soon the others fall, per attack."""
        found = self.attacked.observations().evidence()
        if found.provenance is None:
            return found
        labelled = replace(found.provenance, labels=self.attacked.sampled)
        return replace(found, provenance=labelled)


def missing(context: Context) -> str | None:
    """Why nothing can be attacked, or None."""
    return None if context.test.y is not None else "the test rows have no labels"


def cost(context: Context, settings: Settings) -> Cost:
    """Each row is attacked until it falls, or the budget is spent."""
    rows = min(settings.samples, len(context.test))
    parameters = attack_parameters(attack_space(context), settings.budget, settings.eps)
    sent = {name: each["max_queries"] for name, each in parameters.items()}
    sent["fgm"] = min(2, sent.get("fgm", 0))
    row_mb = 1e-6 * context.test.X[0].nbytes * rows
    return Cost(
        queries=rows * (1 + sum(sent.values())),
        gradient_queries=rows * sum(n for name, n in sent.items() if name != "hopskipjump"),
        labels=rows,
        calls=2 * settings.budget,
        own_seconds=2.0 + 2e-9 * rows * sum(sent.values()) * context.test.X[0].size,
        memory_mb=100 * row_mb,
        disk_mb=0.3 + 2 * len(parameters) * row_mb,
    )


def run(context: Context, settings: Settings) -> SurvivalAnswer:
    """Attack a random sample of the test rows."""
    space = attack_space(context)
    return SurvivalAnswer(
        attacked_rows(context, space, settings.samples, settings.budget, settings.eps)
    )
