"""What survival needs and costs, and its settings."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from fireassay import attacks
from fireassay.assessment.coded_context import why_not_attacked
from fireassay.assessment.context import Context, Cost
from fireassay.assessment.first_answers import share_right
from fireassay.assessment.perturbed_texts import can_perturb
from fireassay.classifiers import GradientClassifier
from fireassay.core.errors import ParameterError
from fireassay.survival.budget import BUDGET, GRADIENT_COST

USES: tuple[str, ...] = ()


class Settings(BaseModel):
    """``[survival]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    samples: int = Field(default=100, ge=10, description="How many rows are attacked.")
    budget: int = Field(
        default=BUDGET,
        ge=10,
        description="Forward-equivalent queries per row, all attacks together.",
    )
    eps: float | None = Field(
        default=None,
        gt=0,
        description="Largest change of a feature; left out: 10 % of the range of the inputs (of "
        "normalised images a share of their natural range, 0 to 1), "
        "of a table without bounds 10 % of what lies between the 5 % and 95 % quantiles of each "
        "column.",
    )
    columns: dict[str, str | dict[str, Any]] = Field(
        default_factory=dict,
        description='What may change, by column ("*": all others): "fixed", "increase only", '
        '"integer", "category", or a table of change, kind, low, high, values, eps.',
        examples=[{"age": "fixed", "visits": {"kind": "integer", "eps": 1}}],
    )

    @field_validator("columns")
    @classmethod
    def _read(cls, given: dict[str, Any]) -> dict[str, Any]:
        for name, rule in given.items():
            try:
                attacks.ColumnRule.read(name, rule)
            except ParameterError as error:
                raise ValueError(str(error)) from error
        return given


def missing(context: Context) -> str | None:
    """Why nothing can be attacked, or None."""
    if context.test.y is None:
        return "the test rows have no labels"
    return None if can_perturb(context) else why_not_attacked(context)


def cost(context: Context, settings: Settings) -> Cost:
    """Each row that the model gets right is attacked until it falls, or the budget is spent."""
    rows = min(settings.samples, len(context.test))
    gradients = isinstance(context.model, GradientClassifier)
    checked = _gradient_check(rows) if gradients else 0
    row_mb = 1e-6 * context.test.X[0].nbytes * rows
    right = share_right(context)
    return Cost(
        queries=rows * (1 + settings.budget) + checked,
        gradient_queries=int(rows * settings.budget / (1.0 + GRADIENT_COST)) + checked
        if gradients
        else 0,
        labels=rows,
        spared=1.0 - 0.2 * right,
        calls=settings.budget,
        own_seconds=0.5 + 2e-9 * right * rows * settings.budget * context.test.X[0].size,
        # With gradients a model holds what it computed on the way; else rows and their copies.
        memory_mb=100 * row_mb if gradients else min(100 * row_mb, 100 + 14 * row_mb),
        disk_mb=0.3 + 2 * row_mb,
    )


def _gradient_check(rows: int) -> int:
    from fireassay.survival.masked_gradients import queries

    return queries(rows)
