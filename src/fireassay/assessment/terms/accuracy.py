"""What accuracy needs and costs, and its settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from fireassay.assessment.context import Context, Cost
from fireassay.assessment.curated_rows import voted_rows
from fireassay.classifiers.base import BLOCK_ROWS
from fireassay.statistics.projected_rows import (
    ALL_DISTANCES,
    DIRECTIONS,
    MOST_COLUMNS,
    MOST_ROWS,
)

USES = ("curation",)
_MOST_COPIED = 2**28
_PAIRS_OF_ONE = 1000  # among very many rows: two references of 200 rows, and two of 300


class Settings(BaseModel):
    """``[accuracy]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    confidence: float = Field(default=0.95, gt=0, lt=1, description="Confidence of the intervals.")


def missing(context: Context) -> str | None:
    """Why accuracy cannot be measured, or None."""
    return None if context.test.y is not None else "the test rows have no labels"


def cost(context: Context, settings: Settings) -> Cost:
    """One query per labelled row, and per labelled row of curation that is not among them."""
    del settings
    n, voted = len(context.test), None if context.votes is None else voted_rows(context)
    more = len(voted[0]) if voted and voted[1] != "test" and voted[0].y is not None else 0
    some = min(max(n, BLOCK_ROWS) * context.test.X[0].nbytes, _MOST_COPIED)
    # Answers once, in float32 or float64: 270 or 500 MB were held for 50,000 of 1,000 classes.
    n_bytes = some + n * 5 * len(context.test.classes)
    rows = n + more
    return Cost(
        queries=rows,
        labels=rows,
        data_rows=rows,
        own_seconds=0.15 + _looking_s(n, context.test.X[0].size),
        memory_mb=2e-6 * n_bytes,
    )


def _looking_s(n: int, columns: int) -> float:
    """Seconds of the look for rows that resemble each other, the slices, and the hashes."""
    numbers, is_wide = n * columns, columns > MOST_COLUMNS
    pairs = 3 * min(n, MOST_ROWS) * n if n <= ALL_DISTANCES else _PAIRS_OF_ONE * n
    seconds = (1.5e-9 + 3e-11 * (DIRECTIONS if is_wide else columns)) * pairs
    if is_wide:
        return seconds + 1.6e-8 * numbers + 2e-7 * min(numbers, 2**22)
    return seconds + 1.7e-7 * numbers
