"""Curation: which field rows are naturally hard, and does the model behave on them as it should."""

from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from fireassay.assessment.context import Context, Cost
from fireassay.core.validation import check_class_indices
from fireassay.curation import curate
from fireassay.curation.answer import Answer
from fireassay.data import DataSet

USES: tuple[str, ...] = ()


class Settings(BaseModel):
    """``[curation]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    labeler: str = Field(
        default="majority", description="majority, snorkel, dawid-skene, one-coin or triplet."
    )
    prune: float | None = Field(
        default=0.5, description="Drop functions whose votes correlate more than this."
    )
    n_sets: int = Field(default=10, ge=2, description="How many cumulative datasets.")
    gamma: float = Field(default=0.05, gt=0, lt=1, description="Level of the tests.")


def missing(context: Context) -> str | None:
    """Why nothing can be curated, or None."""
    if context.votes is None:
        return "there are no votes of labelling functions (data.votes)"
    return None if _rows(context) is not None else "votes and rows differ in number"


def cost(context: Context, settings: Settings) -> Cost:
    """One query per voted row."""
    del settings
    return Cost(queries=len(context.votes), extra_seconds=2.0 + 2e-5 * len(context.votes))


def run(context: Context, settings: Settings) -> Answer:
    """Order the rows, judge the order where labels allow it, and follow the model along it."""
    rows = _rows(context) or context.test
    predicted = context.model.predict_proba(rows.X).argmax(axis=1)
    curation = curate(
        np.asarray(context.votes),
        n_classes=len(context.model.classes),
        labeler=settings.labeler,
        prune=settings.prune,
        n_sets=settings.n_sets,
        seed=context.seed,
    )
    found: dict[str, Any] = {}
    if rows.y is not None:
        y = check_class_indices(rows.y, context.model.classes)
        found["trend"] = curation.validate(y, settings.gamma)
        found["calibration"] = curation.calibration(y)
    else:
        found["bounds"] = curation.bounds(predicted)
    validity = found.get("trend", found.get("bounds"))
    found["robustness"] = curation.robustness(predicted, validity=validity, gamma=settings.gamma)
    return curation.answer(**found)


def _rows(context: Context) -> DataSet | None:
    """The rows that were voted on: the field rows, or else the test rows."""
    n = len(context.votes)
    for rows in (context.operational, context.test):
        if rows is not None and len(rows) == n:
            return rows
    return None
