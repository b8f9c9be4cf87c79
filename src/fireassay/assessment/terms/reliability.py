"""What reliability needs and costs, and its settings."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from fireassay import reliability
from fireassay.assessment.context import Context, Cost
from fireassay.reliability.separation import rows_for_separation

USES = ("discovery", "accuracy")
_MOST_COPIED = 2**28


class Settings(BaseModel):
    """``[reliability]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: str = Field(
        default="rectified",
        description="rectified, exact, groups-betting, worst-case, conservative-bayes, ram.",
    )
    confidence: float = Field(
        default=0.975, gt=0.5, lt=1, description="Confidence of the bound, one-sided."
    )
    largest_group: int | None = Field(
        default=None,
        ge=1,
        description="groups-betting: the most rows a group can have, declared beforehand.",
    )

    second_labels: Literal["independent", "truth"] | None = Field(
        default=None,
        description="Rows that two people labelled in this run's label book say how often labels "
        "are wrong: independent (both err alike) or truth (the second is right).",
    )

    @field_validator("method")
    @classmethod
    def _known(cls, name: str) -> str:
        return str(reliability.METHODS[name].name)

    @model_validator(mode="after")
    def _largest_group_is_used(self) -> Self:
        if self.largest_group is not None and self.method != "groups-betting":
            raise ValueError("largest_group is a setting of groups-betting only")
        return self


def missing(context: Context) -> str | None:
    """Why no bound can be given, or None."""
    return None if context.test.y is not None else "the test rows have no labels"


def cost(context: Context, settings: Settings) -> Cost:
    """One query per labelled and per operational row."""
    del settings
    rows, field_rows = len(context.test), len(context.operational or ())
    megabytes = 1e-6 * min((rows + field_rows) * context.test.X[0].nbytes, _MOST_COPIED)
    columns, classes = context.test.X[0].size, len(context.test.classes)
    among = min(rows, rows_for_separation(columns))  # rows that are compared with each other
    compared = columns * among * (3.5e-10 * among + 1.2e-9 * classes)
    return Cost(
        queries=rows + field_rows,
        data_rows=rows + field_rows,
        labels=rows,
        own_seconds=0.03 + 1e-5 * rows + 1e-9 * rows * columns + compared,
        memory_mb=4 * megabytes,
        disk_mb=0.2,
    )
