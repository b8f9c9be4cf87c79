"""Reliability: how often will it be wrong in the field, with a bound that holds."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from fireassay.assessment.context import Context, Cost
from fireassay.reliability import ReliabilityResult, assess

USES: tuple[str, ...] = ()


class Settings(BaseModel):
    """``[reliability]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Literal["rectified", "conservative-bayes"] = Field(
        default="rectified", description="rectified (no prior belief) or conservative-bayes."
    )
    alpha: float = Field(
        default=0.025, gt=0, lt=1, description="One-sided error probability of the bound."
    )


def missing(context: Context) -> str | None:
    """Why no bound can be given, or None."""
    return None if context.test.y is not None else "the test rows have no labels"


def cost(context: Context, settings: Settings) -> Cost:
    """One query per labelled and per operational row."""
    del settings
    field_rows = 0 if context.operational is None else len(context.operational)
    rows = len(context.test)
    return Cost(queries=rows + field_rows, labels=rows, extra_seconds=2.0 + rows * 1e-3)


def run(context: Context, settings: Settings) -> ReliabilityResult:
    """Bound the probability of a misclassification."""
    return assess(
        context.model,
        context.test.X,
        context.test.labels,
        operational=None if context.operational is None else context.operational.X,
        mode=settings.mode,
        alpha=settings.alpha,
        seed=context.seed,
    )
