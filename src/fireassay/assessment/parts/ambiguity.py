"""Ambiguity: inputs made to lie between two classes, and what the model says about them."""

from dataclasses import replace
from typing import Any

import numpy as np

from fireassay.ambiguity import AmbiguityEvaluation, AmbiguityGenerator, evaluate
from fireassay.ambiguity.model_answers import PAIRS
from fireassay.assessment.confused_pairs import (
    MOST_PAIRS,
    confused_pairs,
    number_of_pairs,
)
from fireassay.assessment.context import Context
from fireassay.assessment.learnable_rows import rows_to_learn_from
from fireassay.assessment.no_ambiguous_inputs import no_ambiguous_inputs
from fireassay.assessment.part_answer import PartAnswer
from fireassay.assessment.shown_rows import MOST, Gallery
from fireassay.assessment.terms.ambiguity import USES, Settings, cost, missing
from fireassay.core import Evidence, Sample
from fireassay.data import DataSet

__all__ = ["USES", "Settings", "cost", "evidence", "missing", "run", "samples"]

_ASKED = 60  # of the inputs, when samples are chosen
_OF_A_PAIR = 2  # inputs to look at, behind each cell of the chart
_MARK = "ambiguity-pair-{:03d}"
_TRIVIAL = 2  # classes, of which any classifier ranks both first


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
