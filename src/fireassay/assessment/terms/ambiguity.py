"""What ambiguity needs and costs, and its settings."""

import sys
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from fireassay.ambiguity.preset import FAST
from fireassay.ambiguity.reduced_targets import MOST_FEATURES
from fireassay.assessment.coded_context import why_not_between
from fireassay.assessment.confused_pairs import (
    LEAST_ROWS,
    MOST_PAIRS,
    enough_rows,
    number_of_pairs,
)
from fireassay.assessment.context import HARD_LABELS, Context, Cost
from fireassay.assessment.learnable_rows import most_rows, too_large
from fireassay.core.extras import is_installed

USES: tuple[str, ...] = ()
# Measured, torch 2.13 without CUDA: seconds and megabytes of its import, and of what its first
# optimiser loads besides.
_LIBRARIES = {"torch": (1.25, 180.0), "torch._dynamo": (1.25, 80.0)}
_FEW_FEATURES = 256  # up to so many features training is short


class Settings(BaseModel):
    """``[ambiguity]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pairs: Literal["all", "confused"] = Field(
        default="all",
        description="all pairs of classes, or those that the model confuses. Of more than 50 "
        "pairs, the 50 that it confuses most.",
    )
    samples: int = Field(default=500, ge=10, description="How many ambiguous inputs.")
    delta_max: float = Field(
        default=0.25, gt=0, le=1, description="Largest difference of the two probabilities."
    )
    tries: int = Field(default=1, ge=1, description="Autoencoders per pair.")


def missing(context: Context) -> str | None:
    """Why no ambiguous inputs can be made, or None."""
    if not is_installed("torch"):
        return "torch is not installed: pip install 'fireassay[torch]'"
    if not context.has_confidences:
        return HARD_LABELS.format("how unsure it is between two classes")
    rows = context.train or context.test
    reason = why_not_between(context)
    if reason is not None:
        return reason
    if too_large(rows) is not None:
        return too_large(rows)
    if rows.y is None:
        return "there are no labelled rows to learn from (data.train)"
    if len(np.unique(rows.labels)) < 2:
        return "all labelled rows are of one class"
    if len(enough_rows(rows)) < 2:
        return (
            f"no two of its {len(rows.classes)} classes have the {LEAST_ROWS} labelled rows each "
            "that it takes to learn what lies between them"
        )
    return None


def cost(context: Context, settings: Settings) -> Cost:
    """Training dominates: some tenths of a second per autoencoder, more with many features."""
    rows = context.train or context.test
    every = number_of_pairs(rows.classes)
    trained = min(every, MOST_PAIRS) * settings.tries
    features = context.test.X[0].size
    numbers = features * min(len(rows), most_rows(rows))
    decoded = features if features <= MOST_FEATURES else FAST.components or features
    each = 0.17 if decoded <= _FEW_FEATURES else 0.9 + 9e-4 * decoded
    load = [cost for name, cost in _LIBRARIES.items() if name not in sys.modules]
    seconds = 0.7 + sum(s for s, _ in load) + each * trained + 5e-8 * min(numbers, 5000 * features)
    megabytes = 1e-6 * context.test.X[0].nbytes * settings.samples
    asked = len(rows) if every > MOST_PAIRS else 0
    return Cost(
        queries=2 * settings.samples + asked,
        data_rows=asked,
        own_seconds=seconds,
        memory_mb=50 + 20 * megabytes + trained * _network_mb(decoded) + 2e-5 * numbers,
        library_mb=sum(megabytes for _, megabytes in load),
        disk_mb=0.3 + megabytes,
    )


def _network_mb(decoded: int) -> float:
    """One autoencoder: its weights, their slopes, the optimiser's two moments, and two copies."""
    units = FAST.units(decoded)
    weights = units * (decoded + 2 * units + (FAST.components or decoded))
    return 6 * 4e-6 * weights
