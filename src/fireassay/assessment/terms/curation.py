"""What curation needs and costs, and its settings."""

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from fireassay.assessment.context import Context, Cost
from fireassay.assessment.curated_rows import voted_rows

USES: tuple[str, ...] = ()


class Settings(BaseModel):
    """``[curation]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    labeler: str = Field(
        default="majority",
        description="Label model: majority, snorkel, dawid-skene, one-coin, triplet.",
    )
    prune: float | None = Field(
        default=0.5, description="Drop functions whose votes correlate more than this."
    )
    n_sets: int = Field(default=10, ge=2, description="How many cumulative datasets.")
    default_class: int = Field(
        default=0, ge=0, description="Class (by position) of rows without a decision."
    )
    gamma: float = Field(default=0.05, gt=0, lt=1, description="Level of the tests.")


def missing(context: Context) -> str | None:
    """Why nothing can be curated, or None."""
    if context.votes is None:
        return "there are no votes of labelling functions (data.votes)"
    return None if voted_rows(context) is not None else "votes and rows differ in number"


def cost(context: Context, settings: Settings) -> Cost:
    """One query per voted row."""
    del settings
    n, functions = np.shape(context.votes)
    megabytes = 1e-6 * n * (8 * functions + 200)
    return Cost(
        queries=n,
        labels=0 if context.test.y is None else n,
        own_seconds=2.0 + 2e-5 * n,
        memory_mb=3 * megabytes,
        disk_mb=0.3 + 0.2 * megabytes,
    )
