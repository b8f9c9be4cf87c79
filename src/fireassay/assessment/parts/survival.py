"""Survival: how many queries until the model falls to an attack."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.attack_space import attack_space
from fireassay.assessment.context import Context
from fireassay.assessment.part_answer import PartAnswer
from fireassay.assessment.perturbed_texts import (
    can_perturb,
    observed_texts,
    with_meaning,
    with_texts,
)
from fireassay.assessment.row_outcomes import RowOutcomes
from fireassay.assessment.shown_rows import MOST, Gallery
from fireassay.assessment.terms.survival import USES, Settings, cost, missing
from fireassay.assessment.uses import with_range
from fireassay.attacks import suite
from fireassay.core import Evidence, Sample
from fireassay.core.lazy_modules import pd
from fireassay.data.rows import taken
from fireassay.survival import Observations, observe

__all__ = [
    "USES",
    "Settings",
    "adversarial_inputs",
    "cost",
    "evidence",
    "missing",
    "outcomes",
    "rows_that_fooled",
    "run",
    "samples",
]

_FELL = "fooled by a small change"


def run(context: Context, settings: Settings) -> PartAnswer:
    """Attack a random sample of the test rows.

    Other parts take ``kept["adversarial"]``, the inputs that fooled the model, as it takes them,
    ``kept["attacks"]``, the name of the attack that made each, and ``kept["samples"]``, the test
    row that each was made from. Texts that a function of the user's made are kept as texts.
    """
    if can_perturb(context):
        seen, *made = observed_texts(context, settings.samples, settings.budget)
        names = ("adversarial", "attacks", "samples")
        return PartAnswer("survival", seen, kept=dict(zip(names, made, strict=True)))
    found = _observed(context, settings)
    fooled = _adversarial(context, settings, found)
    return PartAnswer(
        "survival",
        replace(found, adversarial=None),
        kept={
            **dict(zip(("adversarial", "attacks", "samples"), fooled, strict=True)),
            "range": context.natural_range and context.natural_range.found,
        },
    )


def evidence(answer: PartAnswer) -> Evidence:
    """What was observed, and the range in which inputs were changed."""
    found = with_range(answer.result.evidence(), answer.kept.get("range"))
    return with_meaning(found) if _are_texts(answer.kept["adversarial"]) else found


def outcomes(answer: PartAnswer) -> dict[str, RowOutcomes]:
    """Sample by sample: whether it stands, against all attacks and against each."""
    result = answer.result
    if not isinstance(result, Observations):
        return {}
    table = result.frame()

    def stands(part: pd.DataFrame) -> RowOutcomes:
        broken = part.groupby("sample")["success"].any()
        rows = broken.index.to_numpy(dtype=np.int64)
        values = np.asarray(1.0 - broken.to_numpy(dtype=np.float64), dtype=np.float64)
        return RowOutcomes("share", rows, values, about=result.data_sha256)

    found = {f"survival_{name}": stands(part) for name, part in table.groupby("attack")}
    return {"standing_share": stands(table), **found}


def samples(context: Context, answer: PartAnswer) -> tuple[Sample, ...]:
    """Rows that fell soonest: what was sent, what it was made from, and the difference."""
    fell = answer.result.frame()
    fell = fell[fell["success"]].reset_index(drop=True)
    if not len(fell):
        return ()
    order = fell.sort_values(["upper", "distance"], kind="stable")
    chosen = order.drop_duplicates("sample").head(MOST)
    gallery = Gallery(context, context.test)
    given = taken(rows_that_fooled(context, answer), chosen.index.to_numpy())
    said, sure = gallery.answers_to(given)
    found = []
    for i, row in enumerate(chosen.to_dict("records")):
        position = int(row["sample"])
        before, after = taken(gallery.rows, [position]), taken(given, [i])
        more: dict[str, Any] = (
            {"cells": gallery.changed(before, after)}
            if gallery.is_table
            else gallery.content(after)
        )
        if "pictures" in more:
            more["pictures"] |= gallery.difference(before, after)
        found.append(
            gallery.at(
                position,
                _FELL if "pictures" not in more else f"{_FELL} (before, after, difference)",
                said=said[i],
                confidence=sure[i],
                scores={"queries": float(row["upper"]), "distance": float(row["distance"])},
                **more,
            )
        )
    return tuple(found)


def rows_that_fooled(context: Context, answer: PartAnswer) -> Any:
    """The inputs that fooled the model, in the form the user has rows."""
    made = answer.kept["adversarial"]
    if not len(made) or not _are_texts(made):
        return Gallery(context, context.test).as_given(made)
    return with_texts(context.test.rows.take(answer.kept["samples"]), made.tolist())


def _are_texts(made: Any) -> bool:
    return bool(np.asarray(made).dtype.kind == "U")


Fooled = tuple[NDArray[Any], NDArray[np.str_], NDArray[np.int64]]


def adversarial_inputs(context: Context) -> Fooled:
    """The inputs that fooled the model, which attack made each, and of which test row.

    Taken from this part, if it has run, and made with its usual settings otherwise.
    """
    known = context.results.get("survival")
    if isinstance(known, PartAnswer):
        return known.kept["adversarial"], known.kept["attacks"], known.kept["samples"]
    settings = Settings()
    return _adversarial(context, settings, _observed(context, settings))


def _observed(context: Context, settings: Settings) -> Observations:
    """The observations, unless they have been made in this run; each block is journalled."""
    model, space = attack_space(context, settings.columns, settings.eps)
    X, y = space.inside(context.test.X), context.test.labels
    inputs = (settings.model_dump(), context.test.sha256, model.sha256)
    found: Observations = context.once(
        "attacked rows",
        inputs,
        lambda: observe(
            model,
            X,
            y,
            suite(model, settings.eps),
            budget=settings.budget,
            seed=context.seed,
            samples=settings.samples,
            keep_adversarial=True,
            executor=context.executor,
        ),
    )
    return found


def _adversarial(context: Context, settings: Settings, found: Observations) -> Fooled:
    table = found.frame()
    fooled = table[table["success"]]
    made_by = fooled["made_by"].to_numpy(dtype=np.str_)
    assert found.adversarial is not None  # kept by _observed
    samples = fooled["sample"].to_numpy(dtype=np.int64)
    _, space = attack_space(context, settings.columns, settings.eps)
    return space.outside(found.adversarial), made_by, samples
