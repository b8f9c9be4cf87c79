"""Accuracy on the labelled rows: the standard numbers, slices, and how true confidences are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fireassay.assessment.context import Context, Cost
from fireassay.assessment.parts import operating_point, slices
from fireassay.assessment.parts.accuracy_checks import calibration_check, class_recalls
from fireassay.assessment.parts.accuracy_result import (
    MEASURES,
    MOST_CLASSES,
    AccuracyResult,
    AnsweredRows,
    outcomes,
    samples,
    top_columns,
)
from fireassay.assessment.parts.curation import curated_rows, voted_rows
from fireassay.assessment.parts.part import Part, marks_of
from fireassay.assessment.run.preflight import classes_met, independent_draws
from fireassay.assessment.sections import Section
from fireassay.classifiers import CodedClassifier, Decided
from fireassay.classifiers.base import BLOCK_ROWS
from fireassay.classifiers.recorded import RecordedAnswers
from fireassay.core import Assumption, Estimate, ParameterError, Provenance
from fireassay.core.arrays import Probabilities
from fireassay.core.groups import largest_group
from fireassay.core.lazy import pd
from fireassay.core.validation import check_class_indices
from fireassay.data.prediction_classes import positive_class
from fireassay.statistics import share
from fireassay.statistics.calibration import stated_curve
from fireassay.statistics.groups.group_counts import GroupCounts, effective_rows
from fireassay.statistics.numbers.judged_rows import JudgedRows
from fireassay.statistics.numbers.number_registry import (
    NUMBERS,
    number_of,
    parse_number,
    standard_numbers,
)
from fireassay.statistics.numbers.probability_numbers import rate_of

_TOP = 3
_MOST_KEPT = 2**23  # probabilities that a result holds: 64 MB
_MOST_COPIED = 2**28
_MANY_COLUMNS = 256


class Settings(Section):
    """``[accuracy]`` in the configuration."""

    confidence: float = Field(default=0.95, gt=0, lt=1, description="Confidence of the intervals.")
    slice_numbers: tuple[str, ...] = Field(
        default=(), description="Further numbers to show for each slice, e.g. ppv[sepsis]."
    )


def missing(context: Context) -> str | None:
    """Why accuracy cannot be measured, or None."""
    return None if context.test.y is not None else "the test rows have no labels"


def cost(context: Context, settings: Settings) -> Cost:
    """One query per labelled row, and per labelled row of curation that is not among them."""
    del settings
    n, voted = len(context.test), None if context.votes is None else voted_rows(context)
    more = len(voted[0]) if voted and voted[1] != "test" and voted[0].y is not None else 0
    some = min(max(n, BLOCK_ROWS) * context.test.X[0].nbytes, _MOST_COPIED)
    # Answers once, in float32 or float64: 270 or 500 MB were held for 50,000 of 1,000 classes.
    n_bytes = some + n * 5 * len(context.test.classes)
    rows = n + more
    return Cost(
        queries=rows,
        labels=rows,
        data_rows=rows,
        own_seconds=0.15 + _looking_s(n, context.test.X[0].size),
        memory_mb=2e-6 * n_bytes,
    )


def _looking_s(n: int, columns: int) -> float:
    """Seconds of the look for equal rows, the slices, and the hashes."""
    numbers = n * columns
    if columns > _MANY_COLUMNS:
        return 1.6e-8 * numbers + 2e-7 * min(numbers, 2**22)
    return 1.7e-7 * numbers


def calibrated(context: Context, why: str) -> Assumption | None:
    """The calibration assumption for another part's evidence; None if accuracy has not run."""
    known = context.results.get("accuracy")
    if not isinstance(known, AccuracyResult) or known.calibration is None:
        return None
    return known.calibration.assumption(why)


def run(context: Context, settings: Settings) -> AccuracyResult:
    """Measure accuracy on the test rows."""
    before = context.model.queries
    classes = context.model.classes
    labels = check_class_indices(context.test.labels, classes, n=len(context.test))
    own, predicted = _answers(context)
    top = top_columns(own, _TOP)
    likeliest = top[:, 0].astype(np.int64)
    n, groups, confidence = len(labels), context.test.groups, settings.confidence
    names = [str(name) for name in classes]
    decision, many = context.decision, len(names) > MOST_CLASSES
    stated = own if context.has_confidences else None
    judged = JudgedRows.of(
        labels,
        predicted,
        len(names),
        stated,
        groups=groups,
        confidence=confidence,
        largest_group=largest_group(groups),
    )
    positive = positive_class(names, decision.positive)
    met = classes_met(context, labels, predicted)
    ledger: tuple[Assumption, ...] = (independent_draws(context),)
    curated, uses = _curated(context, labels == predicted, confidence)
    worth = None
    if groups is not None:
        counts = GroupCounts.of(labels == predicted, groups)
        how = f"jackknife over {len(counts.sizes)} groups"
        worth = Estimate.point(effective_rows(counts), n, how)
        from fireassay.reliability.ledger import unseen_groups

        ledger = (*ledger, *unseen_groups(counts.sizes, largest_group(groups)))
    rests_on = tuple(assumption.id for assumption in (*ledger[:2], *met))
    sure = own[np.arange(n), likeliest].astype(np.float64)
    return AccuracyResult(
        judged=judged if own.size <= _MOST_KEPT else replace(judged, probabilities=None),
        numbers={
            name: replace(number, rests_on=rests_on)
            for name, number in _numbers(judged, names, decision, many=many).items()
        },
        calibration=calibration_check(
            own,
            labels,
            confidence=confidence,
            groups=groups,
            seed=context.seed,
            mend=getattr(context.model, "output", None) != "labels",
            top=likeliest,
            rests_on=rests_on,
        )
        if context.has_confidences
        else None,
        decided=operating_point.operating_point(
            judged, own, classes, decision, groups=groups, seed=context.seed, rests_on=rests_on
        ),
        slices=slices.slice_findings(
            context.test,
            judged,
            names,
            positive,
            settings.slice_numbers,
            search=not context.recorded,
            seed=context.seed,
            rests_on=rests_on,
        ),
        classes=tuple(classes),
        positive=positive,
        curve=stated_curve(sure, likeliest == labels, n_bins=10, groups=groups)
        if context.has_confidences and not np.isnan(sure).any()
        else None,
        by_class=class_recalls(judged, classes),
        rows=AnsweredRows(
            marks_of(context, labels),
            np.asarray(context.test.ids),
            labels,
            predicted,
            groups,
            top,
            np.take_along_axis(own, top, axis=1).astype(np.float32, copy=False),
            *_row_costs(context, labels, predicted),
        ),
        sure=np.where(predicted < 0, np.nan, own[np.arange(n), predicted]).astype(np.float64)
        if context.has_confidences
        else None,
        ledger=(*ledger, *met),
        effective_n=worth,
        provenance=Provenance(
            seed=context.seed,
            model_sha256=context.model.sha256,
            data_sha256=context.digest(context.test),
            queries=context.model.queries - before,
            labels=n,
        ),
        curated=curated,
        extra=_false_alarms(context, judged, names, positive),
        uses=uses,
        notes=context.notes,
        pictures=context.pictures,
    )


def _false_alarms(
    context: Context, judged: JudgedRows, names: list[str], positive: str | None
) -> dict[str, Estimate]:
    """False alarms per unit of exposure, where rows have one: exact for rows, else by groups."""
    if context.exposure is None:
        return {}
    if positive is None:
        raise ParameterError("False alarms are of the positive class.", do="Type --positive CLASS.")
    column, exposure = context.exposure
    c = names.index(positive)
    alarms = ((judged.answers == c) & (judged.truth != c)).astype(np.float64)
    return {f"false_alarms_per_{column}": rate_of(judged, alarms, exposure)}


def _answers(context: Context) -> tuple[Probabilities, NDArray[np.int64]]:
    """The model's own probabilities, and the answers that are judged (-1: indeterminate)."""
    model = context.model.model if isinstance(context.model, CodedClassifier) else context.model
    if isinstance(model, RecordedAnswers):
        return model.known(context.test.X)
    probabilities = context.model.predict_proba(context.test.X)
    own = model.own(probabilities) if isinstance(model, Decided) else probabilities
    return own, probabilities.argmax(axis=1)


def _numbers(
    judged: JudgedRows, names: list[str], decision: operating_point.Decision, *, many: bool
) -> dict[str, Estimate]:
    """The standard numbers; of many classes those of all, and of the classes that are named."""
    chosen = [i for i, c in enumerate(names) if not many or operating_point.mentioned(decision, c)]
    ordered = bool(decision.ordered)
    if ordered and {*decision.ordered} != {*names}:
        raise ParameterError(
            f"All classes must be in the order: {', '.join(names)}.",
            got=", ".join(decision.ordered),
        )
    rows = judged
    if ordered:  # positions that mean something; numbers of all classes do not depend on them
        place = np.append([decision.ordered.index(name) for name in names], -1)
        rows = replace(judged, truth=place[judged.truth], answers=place[judged.answers])
    leave = ("auroc_macro",) if many else ()
    found = standard_numbers(judged, names, of_classes=chosen, leave_out=leave)
    for number in NUMBERS if ordered else ():
        if number.needs == "order":
            found[number.name] = number.find(rows)
    for c, rate in decision.prevalence.items():
        for value in ("ppv", "npv"):
            asked = parse_number(f"{value}[{c}]@prevalence={rate!r}", names)
            found[asked.name] = number_of(judged, asked)
    return found


def _row_costs(
    context: Context, labels: NDArray[np.int64], predicted: NDArray[np.int64]
) -> tuple[NDArray[np.float64] | None, float]:
    """What each answer costs, and the most that one can cost."""
    if not context.decision.costs:
        return None, 0.0
    cost = context.decision.matrix([str(name) for name in context.model.classes])
    return operating_point.paid(cost, labels, predicted), float(cost.max())


def _curated(
    context: Context, correct: NDArray[np.bool_], confidence: float
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Accuracy in what each dataset of curation adds, where the voted rows have labels."""
    found = curated_rows(context)
    if found is None or found.data.y is None:
        return pd.DataFrame(), ()
    groups = found.data.groups if context.groups is None else np.asarray(context.groups)
    if found.source != "test":
        y = check_class_indices(found.data.y, context.model.classes)
        correct = context.model.predict_proba(found.data.X).argmax(axis=1) == y
    shares = [
        share(int(correct[rows].sum()), len(rows), confidence)
        if groups is None
        else share(correct[rows], confidence=confidence, groups=groups[rows])
        for rows in found.rings
    ]
    table = pd.DataFrame(
        {
            "accuracy": [e.value for e in shares],
            **{name: [getattr(e, name) for e in shares] for name in ("low", "high", "n", "method")},
        },
        index=pd.RangeIndex(1, len(found.rings) + 1, name="dataset"),
    )
    return table, (found.in_words,)


PART = Part(
    "accuracy",
    Settings,
    missing,
    cost,
    run,
    uses=("curation",),
    samples=samples,
    outcomes=outcomes,
    measures=MEASURES,
    asks=False,
)
