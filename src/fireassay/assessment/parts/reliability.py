"""Reliability: how often will it be wrong in the field, with a bound that holds."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from fireassay.assessment.context import Context, Cost
from fireassay.assessment.part_answer import PartAnswer
from fireassay.assessment.uses import with_uses
from fireassay.core import Claim, Estimate, Evidence
from fireassay.core.result import Answer
from fireassay.reliability import ReliabilityResult, assess

if TYPE_CHECKING:
    from matplotlib.figure import Figure

USES = ("discovery",)


class Settings(BaseModel):
    """``[reliability]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Literal["rectified", "conservative-bayes"] = Field(
        default="rectified", description="rectified (no prior belief) or conservative-bayes."
    )
    alpha: float = Field(
        default=0.025, gt=0, lt=1, description="One-sided error probability of the bound."
    )


@dataclass(frozen=True, eq=False)
class ReliabilityAnswer(Answer):
    """The bound from the labelled rows, and the one from labels bought by lot in the field.

    Attributes
    ----------
    field_rate, field_upper
        Error rate of the field rows and its upper bound, from discovery's draws; None if it drew
        none there, or labels are missing.
    """

    result: ReliabilityResult
    field_rate: Estimate | None
    field_upper: Estimate | None
    uses: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """All bounds on the same data, side by side."""
        return self.result.frame()

    def figures(self) -> "dict[str, Figure]":
        """Figures of the bound."""
        return self.result.figures()

    def evidence(self) -> Evidence:
        """The bound's evidence, and whether labels from the field agree with it."""
        found = self.result.evidence()
        if self.field_rate is not None and self.field_upper is not None:
            agrees = self.field_rate.low <= self.result.pmi_upper
            claim = Claim(
                f"Labels bought in the field agree with the bound: error rate {self.field_rate}, "
                f"at most {self.field_upper.value:.2%} ({self.field_upper.confidence:.1%} "
                "confidence).",
                agrees,
            )
            found = replace(
                found,
                claims=(*found.claims, claim),
                estimates={
                    **found.estimates,
                    "field_error_rate": self.field_rate,
                    "field_pmi_upper": self.field_upper,
                },
            )
        return with_uses(found, self.uses)


def missing(context: Context) -> str | None:
    """Why no bound can be given, or None."""
    return None if context.test.y is not None else "the test rows have no labels"


def cost(context: Context, settings: Settings) -> Cost:
    """One query per labelled and per operational row."""
    del settings
    rows, field_rows = len(context.test), len(context.operational or ())
    megabytes = 1e-6 * (rows + field_rows) * context.test.X[0].nbytes
    return Cost(
        queries=rows + field_rows,
        labels=rows,
        own_seconds=2.0 + 1e-3 * rows,
        memory_mb=4 * megabytes,
        disk_mb=0.2,
    )


def run(context: Context, settings: Settings) -> ReliabilityAnswer:
    """Bound the probability of a misclassification."""
    result = assess(
        context.model,
        context.test.X,
        context.test.labels,
        operational=None if context.operational is None else context.operational.X,
        mode=settings.mode,
        alpha=settings.alpha,
        seed=context.seed,
        workers=context.executor.workers,
        cluster=context.executor.cluster,
    )
    searched = context.results.get("discovery")
    drawn = searched.kept.get("drawn") if isinstance(searched, PartAnswer) else None
    if drawn is None or drawn.source != "operational":
        # Rows drawn among the test rows are labels that the bound has counted already.
        return ReliabilityAnswer(result, None, None, ())
    upper = drawn.upper_bound(settings.alpha)
    if upper is None:
        return ReliabilityAnswer(result, None, None, ())
    n, pool = len(drawn.result.wrong), len(drawn.state.rows)
    uses = (f"the {n} labels that discovery drew by lot among {pool} field rows",)
    return ReliabilityAnswer(result, drawn.result.error_rate, upper, uses)
