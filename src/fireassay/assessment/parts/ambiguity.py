"""Ambiguity: inputs made to lie between two classes, and what the model says about them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from pydantic import Field

from fireassay import ambiguity
from fireassay.ambiguity.measures import MEASURES, SENTENCES
from fireassay.ambiguity.preset import FAST
from fireassay.ambiguity.scaling import MOST_FEATURES
from fireassay.assessment.coded_rows import why_not_between
from fireassay.assessment.context import HARD_LABELS, Context, Cost
from fireassay.assessment.parts.accuracy_result import top_columns
from fireassay.assessment.parts.part import Part, PartAnswer
from fireassay.assessment.samples.gallery import MOST, Gallery
from fireassay.assessment.sections import Section
from fireassay.core import Evidence, NotEnoughEvidenceError, Sample
from fireassay.core.arrays import IntArray
from fireassay.core.lazy import is_installed, pd
from fireassay.core.seeds import generator
from fireassay.core.validation import check_class_indices
from fireassay.core.words import percent
from fireassay.data import DataSet

# Measured, torch 2.13 without CUDA: seconds and megabytes of its import.
_LIBRARIES = {"torch": (1.25, 180.0)}
_FEW_FEATURES = 256  # up to so many features training is short
MOST_PAIRS = 50
LEAST_ROWS = 20  # of each class, as the generator asks for
MOST_NUMBERS = 2**26  # of all rows together, a quarter of a gigabyte, of which copies are made
_SHOWN = 3
_ASKED = 60  # of the inputs, when samples are chosen
_OF_A_PAIR = 2  # inputs to look at, behind each cell of the chart
_MARK = "ambiguity-pair-{:03d}"
_KEPT = "ambiguous inputs"
_TRIVIAL = 2  # classes, of which any classifier ranks both first

Pair = tuple[Any, Any]


class Settings(Section):
    """``[ambiguity]`` in the configuration."""

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
    reason = why_not_between(context) or why_too_large(rows)
    if reason is not None:
        return reason
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
    if _is_in_store(context, settings):
        own = 1e-3 * megabytes * settings.samples
        return Cost(queries=2 * settings.samples, own_seconds=0.2, memory_mb=own, in_store=True)
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


def no_ambiguous_inputs(report: pd.DataFrame, tries: int) -> NotEnoughEvidenceError:
    """The error of a generator of which no pair was accepted."""
    pairs = "the one pair" if len(report) == 1 else f"each of {len(report)} pairs"
    which = "A small network" if tries == 1 else f"{tries} small networks"
    told = [_of_pair(row) for row in report.head(_SHOWN).to_dict("records")]
    more = f"; and {len(report) - _SHOWN} pairs more" if len(report) > _SHOWN else ""
    return NotEnoughEvidenceError(
        f"No inputs between two classes could be made that are worth asking about. {which} "
        f"learnt {pairs} of classes, and on rows kept apart none was good enough: "
        f"{'; '.join(told)}{more}. So what the model does with inputs that belong to two classes "
        "was not tried; this says nothing for or against it.",
        do="Give more training rows ([data] train in fireassay.toml), or let more networks try: "
        f"tries = {max(4, 2 * tries)} under [ambiguity].",
    )


def _of_pair(row: Mapping[Any, Any]) -> str:
    from fireassay.ambiguity.fitting import (  # needs torch, which has trained by now
        INDISTINGUISHABLE,
        allowed_real_fake,
        required_label_accuracy,
    )

    pair = f"“{row['first']}” and “{row['second']}”"
    reference, labels, real = (
        float(row[name]) for name in ("reference_accuracy", "label_accuracy", "real_fake_accuracy")
    )
    if reference < INDISTINGUISHABLE:
        return f"{pair} look alike, a classifier of the two is right on {_share(reference)}"
    required, (low, high) = required_label_accuracy(reference), allowed_real_fake(reference)
    faults = []
    if labels < required:
        faults.append(f"the right class named for {_share(labels)}, {_share(required)} are needed")
    if not low < real < high:
        faults.append(
            f"made-up rows told from real ones {_share(real)} of the time, where 50 % is best and "
            f"{_share(low)} to {_share(high)} will do"
        )
    return f"{pair}: {' and '.join(faults) or row['reason']}"


def _share(value: float) -> str:
    return percent(value, 1)


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
        sentence = SENTENCES["entropy"].format(told)
    from fireassay.ambiguity.model_answers import PAIRS

    marks = range(len(answer.kept["ambiguous"].unique_pairs))
    assert isinstance(answer.result, ambiguity.AmbiguityEvaluation)
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
    by_model = chosen == "confused"

    def make() -> dict[str, Any]:
        made = ambiguity.AmbiguityGenerator(
            chosen,
            tries=settings.tries,
            seed=context.seed,
            model=context.model if by_model else None,
        ).fit(
            rows.X,
            rows.labels,
            workers=context.executor.workers,
            cluster=context.executor.cluster,
            kept=None if chosen == "all" else context.kept,
        )
        some = (made.report["accepted"] > 0).any()
        drawn = made.sample(settings.samples, settings.delta_max, split="any") if some else None
        return {"report": made.report, "set": drawn}

    made = make() if by_model else context.of_data(_KEPT, _inputs(rows, chosen, settings), make)
    if made["set"] is None:
        raise no_ambiguous_inputs(made["report"], settings.tries)
    answered = ambiguity.evaluate(context.model, made["set"])
    return PartAnswer(answered, kept={"ambiguous": made["set"]})


def _is_in_store(context: Context, settings: Settings) -> bool:
    """Whether another run has made the same set: not where the model's confusions choose pairs."""
    rows = context.train or context.test
    if context.kept is None or number_of_pairs(rows.classes) > MOST_PAIRS:
        return False
    looked = f"{_KEPT} in store: {settings}"
    if looked not in context.known:
        rows, pairs = rows_to_learn_from(rows, settings.pairs, context.seed)
        found = pairs == "all" and context.has_of_data(_KEPT, _inputs(rows, pairs, settings))
        context.known[looked] = found
    return bool(context.known[looked])


def _inputs(rows: DataSet, pairs: Any, settings: Settings) -> tuple[Any, ...]:
    """What the set is made from; of the model nothing, where all pairs are taken."""
    own = settings.model_dump()
    return np.ascontiguousarray(rows.X), rows.labels, pairs, own


def confused_pairs(context: Context, rows: DataSet) -> list[tuple[Any, Any]]:
    """At most fifty pairs of learnable classes: the two likeliest answers that most often meet."""
    classes = context.model.classes
    wanted = set(enough_rows(rows).tolist())
    answers = context.model.predict_proba(rows.X)
    truth = check_class_indices(rows.labels, classes)
    first, second = top_columns(answers, 2).T
    other = np.where(first == truth, second, first)
    counts: dict[tuple[int, int], int] = {}
    for a, b in zip(truth.tolist(), other.tolist(), strict=True):
        if classes[a] in wanted and classes[b] in wanted:
            pair = (min(a, b), max(a, b))
            counts[pair] = counts.get(pair, 0) + 1
    ranked = sorted(counts, key=lambda pair: (-counts[pair], pair))
    return [(classes[a], classes[b]) for a, b in ranked[:MOST_PAIRS]]


def enough_rows(rows: DataSet) -> IntArray:
    """The classes with rows enough to learn what lies between them."""
    values, counts = np.unique(rows.labels, return_counts=True)
    return np.asarray(values[counts >= LEAST_ROWS])


def number_of_pairs(classes: Sequence[Any]) -> int:
    """All pairs of these classes."""
    return len(classes) * (len(classes) - 1) // 2


def most_rows(rows: DataSet) -> int:
    """How many rows of this size are learnt from."""
    return int(MOST_NUMBERS // rows.X[0].size)


def why_too_large(rows: DataSet) -> str | None:
    """Why rows of this size cannot be learnt from, or None."""
    if most_rows(rows) >= 2 * LEAST_ROWS:
        return None
    return (
        f"learning what lies between two classes takes {2 * LEAST_ROWS} rows in memory, of at most "
        f"{MOST_NUMBERS // (2 * LEAST_ROWS):,} numbers each; these have {rows.X[0].size:,}"
    )


def rows_to_learn_from(
    rows: DataSet, pairs: str | Sequence[Pair], seed: int
) -> tuple[DataSet, str | list[Pair]]:
    """The rows, and the pairs that they are enough for; of too many rows a share of each class."""
    most = most_rows(rows)
    if len(rows) <= most:
        return rows, pairs if isinstance(pairs, str) else list(pairs)
    kept: str | list[Pair] = pairs if isinstance(pairs, str) else []
    classes: list[Any] = list(rows.classes) if isinstance(pairs, str) else []
    for pair in () if isinstance(pairs, str) else pairs:
        more = [label for label in pair if label not in classes]
        if len(classes) + len(more) <= most // LEAST_ROWS:
            classes.extend(more)
            assert isinstance(kept, list)
            kept.append(pair)
    chosen = []
    for label in classes:
        own = np.flatnonzero(rows.labels == label)
        order = generator(seed, "rows to learn from", str(label)).permutation(len(own))
        chosen.append(own[order[: most // len(classes)]])
    return rows.subset(np.sort(np.concatenate(chosen))), kept


PART = Part(
    "ambiguity", Settings, missing, cost, run, evidence=evidence, samples=samples, measures=MEASURES
)
