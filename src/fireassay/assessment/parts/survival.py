"""Survival: how many queries until the model falls to an attack."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from fireassay import attacks, survival
from fireassay.assessment.coded_rows import (
    can_perturb,
    observed_texts,
    why_not_attacked,
    with_meaning,
    with_texts,
)
from fireassay.assessment.context import Context, Cost
from fireassay.assessment.parts.part import Part, PartAnswer, RowOutcomes, with_range
from fireassay.assessment.plan.machine import share_right
from fireassay.assessment.samples.gallery import MOST, Gallery
from fireassay.assessment.sections import Section
from fireassay.classifiers import GradientClassifier
from fireassay.core import Evidence, ParameterError, Sample
from fireassay.core.lazy import pd
from fireassay.data.rows import taken
from fireassay.survival.measures import MEASURES
from fireassay.survival.rows import BUDGET, GRADIENT_COST

_GREY_LEVELS = 8 / 255
_FELL = "fooled by a small change"


class Settings(Section):
    """``[survival]`` in the configuration."""

    samples: int = Field(default=100, ge=10, description="How many rows are attacked.")
    budget: int = Field(
        default=BUDGET,
        ge=10,
        description="Forward-equivalent queries per row, all attacks together.",
    )
    eps: float | None = Field(
        default=None,
        gt=0,
        description="Largest change of a feature (ε). Left out: 8/255 of the range of images, "
        "10 % of the range of other inputs; without bounds, 10 % of each column's 5 to 95 % range.",
    )
    columns: dict[str, str | dict[str, Any]] = Field(
        default_factory=dict,
        description='What may change, by column ("*": all others): "fixed", "increase only", '
        '"integer", "category", or a table of change, kind, low, high, values, eps.',
        examples=[{"age": "fixed", "visits": {"kind": "integer", "eps": 1}}],
    )

    @field_validator("columns")
    @classmethod
    def _read(cls, given: dict[str, Any]) -> dict[str, Any]:
        for name, rule in given.items():
            try:
                attacks.ColumnRule.read(name, rule)
            except ParameterError as error:
                raise ValueError(str(error)) from error
        return given


def missing(context: Context) -> str | None:
    """Why nothing can be attacked, or None."""
    if context.test.y is None:
        return "the test rows have no labels"
    return None if can_perturb(context) else why_not_attacked(context)


def cost(context: Context, settings: Settings) -> Cost:
    """Each row that the model gets right is attacked until it falls, or the budget is spent."""
    rows = min(settings.samples, len(context.test))
    gradients = isinstance(context.model, GradientClassifier)
    from fireassay.survival.attacker_checks import queries

    checked = queries(rows) if gradients else 0
    row_mb = 1e-6 * context.test.X[0].nbytes * rows
    right = share_right(context)
    return Cost(
        queries=rows * (1 + settings.budget) + checked,
        gradient_queries=int(rows * settings.budget / (1.0 + GRADIENT_COST)) + checked
        if gradients
        else 0,
        labels=rows,
        spared=1.0 - 0.2 * right,
        calls=settings.budget,
        own_seconds=0.5 + 2e-9 * right * rows * settings.budget * context.test.X[0].size,
        # With gradients a model holds what it computed on the way; else rows and their copies.
        memory_mb=100 * row_mb if gradients else min(100 * row_mb, 100 + 14 * row_mb),
        disk_mb=0.3 + 2 * row_mb,
    )


def run(context: Context, settings: Settings) -> PartAnswer:
    """Attack a random sample of the test rows."""
    # Other parts take what is kept: the inputs that fooled the model ("adversarial", texts as
    # texts), the attack that made each ("attacks"), and the test row it was made from ("samples").
    if can_perturb(context):
        seen, *made = observed_texts(context, settings.samples, settings.budget)
        names = ("adversarial", "attacks", "samples")
        return PartAnswer(seen, kept=dict(zip(names, made, strict=True)))
    found = _observed(context, settings)
    fooled = _adversarial(context, settings, found)
    return PartAnswer(
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
    if not isinstance(result, survival.Observations):
        return {}
    table = result.frame()

    def stands(part: pd.DataFrame) -> RowOutcomes:
        broken = part.groupby("sample")["success"].any()
        rows = broken.index.to_numpy(dtype=np.int64)
        values = np.asarray(1.0 - broken.to_numpy(dtype=np.float64), dtype=np.float64)
        return RowOutcomes("share", rows, values, about=result.data_sha256)

    found = {f"survival_{name}": stands(part) for name, part in table.groupby("attack")}
    whole = stands(table)
    flipped = replace(whole, values=1.0 - whole.values)
    return {"standing_share": whole, "attack_success_rate": flipped, **found}


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
    """The inputs that fooled the model, the attack and the test row of each; made if need be."""
    known = context.results.get("survival")
    if isinstance(known, PartAnswer):
        return known.kept["adversarial"], known.kept["attacks"], known.kept["samples"]
    settings = Settings()
    return _adversarial(context, settings, _observed(context, settings))


def _observed(context: Context, settings: Settings) -> survival.Observations:
    """The observations, unless they have been made in this run; each block is journalled."""
    from fireassay.assessment.parts.attack_space import attack_space

    eps = _size(context, settings)
    model, space = attack_space(context, settings.columns, eps)
    X, y = space.inside(context.test.X), context.test.labels
    inputs = (settings.model_dump() | {"eps": eps}, context.digest(context.test), model.sha256)
    found: survival.Observations = context.once(
        "attacked rows",
        inputs,
        lambda: survival.observe(
            model,
            X,
            y,
            attacks.suite(model, eps),
            budget=settings.budget,
            seed=context.seed,
            samples=settings.samples,
            keep_adversarial=True,
            executor=context.executor,
        ),
    )
    return found


def _size(context: Context, settings: Settings) -> float | None:
    """The largest change; of images in [0, 1] or [0, 255] eight grey levels of 255."""
    if settings.eps is not None or context.test.rows.form != "image":
        return settings.eps
    bounds = context.model.bounds
    if bounds is None:
        return None if context.natural_range is None else _GREY_LEVELS
    low, high = (float(end) for end in bounds)
    return _GREY_LEVELS * high if low == 0 and high in (1.0, 255.0) else None


def _adversarial(context: Context, settings: Settings, found: survival.Observations) -> Fooled:
    table = found.frame()
    fooled = table[table["success"]]
    made_by = fooled["made_by"].to_numpy(dtype=np.str_)
    assert found.adversarial is not None  # kept by _observed
    samples = fooled["sample"].to_numpy(dtype=np.int64)
    from fireassay.assessment.parts.attack_space import attack_space

    _, space = attack_space(context, settings.columns, _size(context, settings))
    return space.outside(found.adversarial), made_by, samples


PART = Part(
    "survival",
    Settings,
    missing,
    cost,
    run,
    evidence=evidence,
    samples=samples,
    outcomes=outcomes,
    measures=MEASURES,
)
