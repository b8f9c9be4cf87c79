"""Ambiguity: inputs made to lie between two classes, and what the model says about them."""

import sys
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from fireassay.ambiguity import AmbiguityEvaluation, AmbiguityGenerator, evaluate
from fireassay.ambiguity.model_answers import PAIRS
from fireassay.ambiguity.preset import FAST
from fireassay.ambiguity.reduced_targets import MOST_FEATURES
from fireassay.assessment.coded_context import why_not_between
from fireassay.assessment.confused_pairs import (
    LEAST_ROWS,
    MOST_PAIRS,
    confused_pairs,
    enough_rows,
    number_of_pairs,
)
from fireassay.assessment.context import HARD_LABELS, Context, Cost
from fireassay.assessment.learnable_rows import most_rows, rows_to_learn_from, too_large
from fireassay.assessment.no_ambiguous_inputs import no_ambiguous_inputs
from fireassay.assessment.part_answer import PartAnswer
from fireassay.assessment.shown_rows import MOST, Gallery
from fireassay.core import Evidence, Sample
from fireassay.core.extras import is_installed
from fireassay.data import DataSet

USES: tuple[str, ...] = ()
_TORCH_MB = 190.0  # measured: torch 2.13 without CUDA, imported and used
_ASKED = 60  # of the inputs, when samples are chosen
_OF_A_PAIR = 2  # inputs to look at, behind each cell of the chart
_MARK = "ambiguity-pair-{:03d}"
_TRIVIAL = 2  # classes, of which any classifier ranks both first


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


def evidence(answer: PartAnswer) -> Evidence:
    """The evaluation's evidence, with what is known about the generated set."""
    found, made = answer.result.evidence(), answer.kept["ambiguous"].evidence()
    headline, answered, sentence = found.headline, found.answer, found.sentence
    if answer.kept["ambiguous"].soft_labels.shape[1] == _TRIVIAL:
        headline = (
            f"Between its two classes its mean uncertainty is "
            f"{found.measure('entropy').shown(found.estimates['entropy'])}, where 1 would be a "
            f"coin; that both come first says nothing with two classes."
        )
        answered = "entropy"
        told = found.measure(answered).told(found.estimates[answered])
        sentence = f"Between its two classes its uncertainty is {told}; a coin has one."
    marks = range(len(answer.kept["ambiguous"].unique_pairs))
    assert isinstance(answer.result, AmbiguityEvaluation)
    chart = answer.result.pair_chart([f"#{_MARK.format(i)}" for i in marks])
    return replace(
        found,
        charts={**found.charts, PAIRS: chart},
        headline=headline,
        answer=answered,
        sentence=sentence,
        claims=(*found.claims, *made.claims),
        assumptions=(*found.assumptions, *made.assumptions[:1]),
        tables={**found.tables, "autoencoders": made.tables["pairs"]},
        limits=(*found.limits, *made.limits),
    )


def samples(context: Context, answer: PartAnswer) -> tuple[Sample, ...]:
    """Inputs between two classes of which the model names neither, or one alone and surely."""
    made = answer.kept["ambiguous"]
    positions = made.pair_positions
    found, which = np.unique(positions, axis=0, return_inverse=True)
    which = which.ravel()
    each = np.concatenate([np.flatnonzero(which == i)[:_OF_A_PAIR] for i in range(len(found))])
    spread = np.linspace(0, len(made) - 1, min(len(made), _ASKED)).round().astype(int)
    asked = np.unique([*spread, *each])
    gallery = Gallery(context, DataSet(made.X), "made")
    said, sure = gallery.answers(made.X[asked])
    names = np.asarray([str(label) for label in made.classes])
    pairs = names[positions[asked]]
    outside = np.array([one not in pair for one, pair in zip(said, pairs, strict=True)])
    confidence = np.array([1.0 if s is None else s for s in sure])
    order = np.lexsort([np.arange(len(asked)), -confidence, ~outside])
    shown = [*order[:MOST], *(i for i in order[MOST:] if asked[i] in each)]
    return tuple(
        gallery.at(
            int(asked[i]),
            "named neither of the two" if outside[i] else "sure of one of the two",
            truth=f"{pairs[i][0]} or {pairs[i][1]}",
            said=said[i],
            confidence=sure[i],
            mark=_MARK.format(which[asked[i]]),
        )
        for i in shown
    )


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
    seconds = 2.4 + 0.33 * trained * max(1.0, decoded / 150) + 5e-8 * min(numbers, 5000 * features)
    megabytes = 1e-6 * context.test.X[0].nbytes * settings.samples
    asked = len(rows) if every > MOST_PAIRS else 0
    return Cost(
        queries=2 * settings.samples + asked,
        data_rows=asked,
        own_seconds=seconds,
        memory_mb=50 + 20 * megabytes + 0.012 * decoded * trained + 2e-5 * numbers,
        library_mb=0.0 if "torch" in sys.modules else _TORCH_MB,
        disk_mb=0.3 + megabytes,
    )


def run(context: Context, settings: Settings) -> PartAnswer:
    """Generate on the training rows (else the test rows) and evaluate the model."""
    rows = context.train or context.test
    chosen: Any = settings.pairs
    if number_of_pairs(rows.classes) > MOST_PAIRS:
        chosen = confused_pairs(context, rows)
    rows, chosen = rows_to_learn_from(rows, chosen, context.seed)
    generator = AmbiguityGenerator(
        chosen,
        tries=settings.tries,
        seed=context.seed,
        model=context.model if chosen == "confused" else None,
    ).fit(rows.X, rows.labels, workers=context.executor.workers, cluster=context.executor.cluster)
    if not (generator.report["accepted"] > 0).any():
        raise no_ambiguous_inputs(generator.report, settings.tries)
    ambiguous = generator.sample(settings.samples, settings.delta_max, split="any")
    return PartAnswer(
        "ambiguity", evaluate(context.model, ambiguous), kept={"ambiguous": ambiguous}
    )
