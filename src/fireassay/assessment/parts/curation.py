"""Curation: which field rows are naturally hard, and does the model behave on them as it should."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pydantic import Field

from fireassay import curation
from fireassay.assessment.context import Context, Cost
from fireassay.assessment.parts.part import Part, PartAnswer
from fireassay.assessment.samples.gallery import MOST, Gallery
from fireassay.assessment.sections import Section
from fireassay.core import Evidence, Sample
from fireassay.core.arrays import IntArray
from fireassay.core.validation import check_class_indices
from fireassay.curation.measures import MEASURES
from fireassay.data import DataSet
from fireassay.data.rows import taken

_LEAST_ROWS = 30


class Settings(Section):
    """``[curation]`` in the configuration."""

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


def run(context: Context, settings: Settings) -> PartAnswer:
    """Order the rows, judge the order where labels allow it, and follow the model along it."""
    voted = voted_rows(context)
    rows = context.test if voted is None else voted[0]
    predicted = context.model.predict_proba(rows.X).argmax(axis=1)
    ordered = curation.curate(
        np.asarray(context.votes),
        n_classes=len(context.model.classes),
        labeler=settings.labeler,
        prune=settings.prune,
        n_sets=settings.n_sets,
        default_class=settings.default_class,
        names=context.vote_names,
        seed=context.seed,
    )
    found: dict[str, Any] = {}
    if rows.y is not None:
        y = check_class_indices(rows.y, context.model.classes)
        found["trend"] = ordered.validate(y, settings.gamma, groups=context.groups)
        found["calibration"] = ordered.calibration(y)
    found["bounds"] = ordered.bounds(predicted)
    found["robustness"] = ordered.robustness(
        predicted,
        validity=found.get("trend", found["bounds"]),
        gamma=settings.gamma,
        groups=context.groups,
    )
    asked = {"model_sha256": context.model.sha256, "queries": len(rows)}
    return PartAnswer(ordered.findings(**found), kept=asked)


def samples(context: Context, answer: PartAnswer) -> tuple[Sample, ...]:
    """The hardest rows: those at the end of the order."""
    voted = voted_rows(context)
    if voted is None or not isinstance(answer.result, curation.CurationFindings):
        return ()
    ordered = answer.result.curation
    hard = ordered.order[::-1][:MOST]
    gallery = Gallery(context, *voted)
    said, sure = gallery.answers(taken(voted[0].X, hard))
    return tuple(
        gallery.at(
            int(row),
            "hard cases: the votes of the rules support them least",
            said=said[i],
            confidence=sure[i],
            scores={ordered.settings.order_by: float(ordered.score[row])},
        )
        for i, row in enumerate(hard)
    )


def evidence(answer: PartAnswer) -> Evidence:
    """The findings' evidence; its provenance names the model and what it was asked."""
    found = answer.result.evidence()
    assert found.provenance is not None
    return replace(found, provenance=replace(found.provenance, **answer.kept))


@dataclass(frozen=True)
class CuratedRows:
    """The voted rows, and from safe to adversarial what each dataset adds to the one before."""

    data: DataSet
    source: str
    rings: tuple[IntArray, ...]
    shown: bool

    def hardest(self, most: int) -> tuple[IntArray, IntArray]:
        """Rows of the last third of the datasets, and the number of the dataset of each."""
        first = len(self.rings) - max(1, len(self.rings) // 3)
        numbers = [np.full(len(r), i + 1) for i, r in enumerate(self.rings)][first:]
        rows, number = np.concatenate(self.rings[first:]), np.concatenate(numbers)
        kept = np.sort(np.arange(len(rows))[::-1][:most])
        return rows[kept], number[kept]

    @property
    def in_words(self) -> str:
        """Which datasets these are."""
        order = "shown" if self.shown else "not shown"
        return f"the {len(self.rings)} datasets of curation (order {order} to be adversarial)"


def voted_rows(context: Context) -> tuple[DataSet, str] | None:
    """The rows that were voted on: the field rows, or else the test rows."""
    n = len(context.votes)
    for name in ("operational", "test"):
        rows: Any = getattr(context, name)
        if rows is not None and len(rows) == n:
            return rows, name
    return None


def curated_rows(context: Context) -> CuratedRows | None:
    """What curation made of the voted rows; None if it did not run or there are too few rows."""
    known = context.results.get("curation")
    voted = None if context.votes is None else voted_rows(context)
    if not isinstance(known, PartAnswer) or voted is None:
        return None
    found = known.result
    assert isinstance(found, curation.CurationFindings)
    rings = tuple(np.asarray(ring) for ring in found.curation.added_rows if len(ring))
    if sum(map(len, rings)) < _LEAST_ROWS:
        return None
    return CuratedRows(*voted, rings, found.verdict == "decreasing")


PART = Part(
    "curation", Settings, missing, cost, run, evidence=evidence, samples=samples, measures=MEASURES
)
