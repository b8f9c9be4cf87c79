"""Survival: how many queries until the model falls to an attack."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from fireassay.assessment.attack_space import AttackSpace, attack_space
from fireassay.assessment.context import Context, Cost
from fireassay.classifiers import GradientClassifier
from fireassay.core import generator
from fireassay.survival import Observations, observe

USES: tuple[str, ...] = ()
# Steps of PGD that fit into a budget of forward-equivalents, three of which one step costs.
_STEP_COST = 3


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


def missing(context: Context) -> str | None:
    """Why nothing can be attacked, or None."""
    return None if context.test.y is not None else "the test rows have no labels"


def cost(context: Context, settings: Settings) -> Cost:
    """Each row is attacked until it falls, or the budget is spent."""
    rows = min(settings.samples, len(context.test))
    names = len(_attacks(attack_space(context), settings))
    return Cost(queries=names * rows * settings.budget, labels=rows, extra_seconds=2.0)


def run(context: Context, settings: Settings) -> Observations:
    """Attack a random sample of the test rows."""
    order = generator(context.seed, "survival part").permutation(len(context.test))
    rows = context.test.subset(order[: settings.samples])
    space = attack_space(context)
    return observe(
        space.model,
        space.inside(rows.X),
        rows.labels,
        attacks=_attacks(space, settings),
        budget=settings.budget,
        seed=context.seed,
    )


def _attacks(space: AttackSpace, settings: Settings) -> list[tuple[str, dict[str, Any]]]:
    """Decisions alone are enough for one attack; gradients, where there are any, allow two more."""
    low, high = space.bounds
    limit: dict[str, Any] = {"norm": "linf", "eps": settings.eps or 0.1 * (high - low)}
    if space.mask is not None:
        limit["mask"] = space.mask
    chosen: list[tuple[str, dict[str, Any]]] = [("hopskipjump", limit)]
    if isinstance(space.model, GradientClassifier):
        steps = max(1, settings.budget // _STEP_COST)
        chosen += [("fgm", limit), ("pgd", {**limit, "steps": min(steps, 40)})]
    return chosen
