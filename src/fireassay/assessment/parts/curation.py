"""Curation: which field rows are naturally hard, and does the model behave on them as it should."""

from dataclasses import replace
from typing import Any

import numpy as np

from fireassay.assessment.context import Context
from fireassay.assessment.curated_rows import voted_rows
from fireassay.assessment.part_answer import PartAnswer
from fireassay.assessment.shown_rows import MOST, Gallery
from fireassay.assessment.terms.curation import USES, Settings, cost, missing
from fireassay.core import Evidence, Sample
from fireassay.core.validation import check_class_indices
from fireassay.curation import CurationFindings, curate
from fireassay.data.rows import taken

__all__ = ["USES", "Settings", "cost", "evidence", "missing", "run", "samples"]


def run(context: Context, settings: Settings) -> PartAnswer:
    """Order the rows, judge the order where labels allow it, and follow the model along it."""
    voted = voted_rows(context)
    rows = context.test if voted is None else voted[0]
    predicted = context.model.predict_proba(rows.X).argmax(axis=1)
    curation = curate(
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
        found["trend"] = curation.validate(y, settings.gamma, groups=context.groups)
        found["calibration"] = curation.calibration(y)
    found["bounds"] = curation.bounds(predicted)
    found["robustness"] = curation.robustness(
        predicted,
        validity=found.get("trend", found["bounds"]),
        gamma=settings.gamma,
        groups=context.groups,
    )
    asked = {"model_sha256": context.model.sha256, "queries": len(rows)}
    return PartAnswer("curation", curation.findings(**found), kept=asked)


def samples(context: Context, answer: PartAnswer) -> tuple[Sample, ...]:
    """The hardest rows: those at the end of the order."""
    voted = voted_rows(context)
    if voted is None or not isinstance(answer.result, CurationFindings):
        return ()
    curation = answer.result.curation
    hard = curation.order[::-1][:MOST]
    gallery = Gallery(context, *voted)
    said, sure = gallery.answers(taken(voted[0].X, hard))
    return tuple(
        gallery.at(
            int(row),
            "hard cases: the votes of the rules support them least",
            said=said[i],
            confidence=sure[i],
            scores={curation.settings.order_by: float(curation.score[row])},
        )
        for i, row in enumerate(hard)
    )


def evidence(answer: PartAnswer) -> Evidence:
    """The findings' evidence; its provenance names the model and what it was asked."""
    found = answer.result.evidence()
    assert found.provenance is not None
    return replace(found, provenance=replace(found.provenance, **answer.kept))
