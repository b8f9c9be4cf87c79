"""Reliability: how often will it be wrong in the field, with a bound that holds."""

from dataclasses import replace
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from fireassay.assessment.context import Context, Cost
from fireassay.assessment.part_answer import PartAnswer
from fireassay.assessment.uses import with_uses
from fireassay.core import Claim, Evidence
from fireassay.reliability import METHODS, GroupsBetting, assess

USES = ("discovery",)


class Settings(BaseModel):
    """``[reliability]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: str = Field(default="rectified", description=f"{METHODS.listed()}.")
    confidence: float = Field(
        default=0.975, gt=0, lt=1, description="Confidence of the bound, one-sided."
    )
    largest_group: int | None = Field(
        default=None,
        ge=1,
        description="groups-betting: the most rows a group can have, declared beforehand.",
    )

    @field_validator("method")
    @classmethod
    def _known(cls, name: str) -> str:
        return str(METHODS[name].name)

    @model_validator(mode="after")
    def _largest_group_is_used(self) -> Self:
        if self.largest_group is not None and self.method != GroupsBetting.name:
            raise ValueError(f"largest_group is a setting of {GroupsBetting.name} only")
        return self


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


def run(context: Context, settings: Settings) -> PartAnswer:
    """Bound the probability of a misclassification, and look at labels bought in the field."""
    result = assess(
        context.model,
        context.test.X,
        context.test.labels,
        operational=None if context.operational is None else context.operational.X,
        method=settings.method
        if settings.largest_group is None
        else GroupsBetting(settings.largest_group),
        groups=context.test.groups,
        weights=context.test.weights,
        confidence=settings.confidence,
        seed=context.seed,
        workers=context.executor.workers,
        cluster=context.executor.cluster,
    )
    searched = context.results.get("discovery")
    drawn = searched.kept.get("drawn") if isinstance(searched, PartAnswer) else None
    if drawn is None or drawn.source != "operational":
        # Rows drawn among the test rows are labels that the bound has counted already.
        return PartAnswer("reliability", result)
    upper = drawn.upper_bound(confidence=settings.confidence)
    if upper is None:
        return PartAnswer("reliability", result)
    n, pool = len(drawn.result.wrong), len(drawn.state.rows)
    uses = (f"the {n} labels that discovery drew by lot among {pool} field rows",)
    kept = {"field_rate": drawn.result.error_rate, "field_upper": upper, "uses": uses}
    return PartAnswer("reliability", result, kept)


def evidence(answer: PartAnswer) -> Evidence:
    """The bound's evidence, and whether labels from the field agree with it."""
    found = answer.result.evidence()
    if not answer.kept:
        return found
    rate, upper = answer.kept["field_rate"], answer.kept["field_upper"]
    claim = Claim(
        f"Labels bought in the field agree with the bound: error rate {rate}, "
        f"at most {upper.value:.2%} ({upper.confidence:.1%} confidence).",
        bool(rate.low <= found.estimates["pmi_upper"].value),
    )
    numbers = {"field_error_rate": rate, "field_pmi_upper": upper}
    found = replace(found, claims=(*found.claims, claim), estimates={**found.estimates, **numbers})
    return with_uses(found, answer.kept["uses"])
