"""Accuracy on the labelled rows: overall, per class, and how honest the confidences are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment import calibration_check, operating_point, slice_report
from fireassay.assessment import class_recalls as recalls
from fireassay.assessment.accuracy_result import MEASURES, AccuracyResult, AnsweredRows
from fireassay.assessment.accuracy_rows import outcomes, rows_of_classes, samples, top_columns
from fireassay.assessment.calibration_check import CalibrationCheck
from fireassay.assessment.context import Context
from fireassay.assessment.curated_rows import curated_rows
from fireassay.assessment.row_independence import independent_draws
from fireassay.assessment.row_outcomes import marks_of
from fireassay.assessment.terms.accuracy import USES, Settings, cost, missing
from fireassay.classifiers import CodedClassifier, Decided
from fireassay.core import Assumption, Estimate, Provenance
from fireassay.core.arrays import Probabilities
from fireassay.core.lazy_modules import pd
from fireassay.core.validation import check_class_indices
from fireassay.statistics import share
from fireassay.statistics.calibration import stated_curve
from fireassay.statistics.grouped_share import GroupCounts, effective_rows
from fireassay.statistics.share import exact_shares

__all__ = [
    "MEASURES",
    "USES",
    "AccuracyResult",
    "Settings",
    "calibrated",
    "cost",
    "missing",
    "outcomes",
    "run",
    "samples",
]

_TOP = 3


def calibrated(context: Context, why: str, *, mended: bool = False) -> Assumption | None:
    """What this part, if it has run, says about the confidences that another one rests on."""
    known = context.results.get("accuracy")
    if not isinstance(known, AccuracyResult) or known.calibration is None:
        return None
    return known.calibration.assumption(why, mended=mended)


def run(context: Context, settings: Settings) -> AccuracyResult:
    """Measure accuracy on the test rows."""
    before = context.model.queries
    probabilities = context.model.predict_proba(context.test.X)
    classes = context.model.classes
    labels = check_class_indices(context.test.labels, classes, n=len(context.test))
    ruled = context.model.model if isinstance(context.model, CodedClassifier) else context.model
    own = ruled.own(probabilities) if isinstance(ruled, Decided) else probabilities
    top = top_columns(own, _TOP)
    likeliest = top[:, 0].astype(np.int64)
    predicted = likeliest if own is probabilities else probabilities.argmax(axis=1)
    correct = predicted == labels
    n, groups, confidence = len(labels), context.test.groups, settings.confidence
    curated, uses = _curated(context, correct, confidence)
    independence = independent_draws(context)
    rests_on = (independence.id,)
    worth = None
    if groups is not None:
        counts = GroupCounts.of(correct, groups)
        how = f"jackknife over {len(counts.sizes)} groups"
        worth = Estimate.point(effective_rows(counts), n, how)
    confusion = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(confusion, (labels, predicted), 1)
    stated = own[np.arange(n), likeliest].astype(np.float64)
    return AccuracyResult(
        accuracy=replace(_share(correct, groups, confidence), rests_on=rests_on),
        error=replace(_share(~correct, groups, confidence), rests_on=rests_on),
        calibration=_calibration(context, own, labels, likeliest, confidence, rests_on)
        if context.has_confidences
        else None,
        decided=operating_point.operating_point(
            own,
            predicted,
            labels,
            classes,
            context.decision,
            confidence=confidence,
            groups=groups,
            seed=context.seed,
            rests_on=rests_on,
        ),
        slices=slice_report.slice_findings(
            context.test,
            ~correct,
            predicted,
            classes,
            confidence=confidence,
            seed=context.seed,
            rests_on=rests_on,
        ),
        classes=tuple(classes),
        confusion=confusion,
        recall=_shares(
            correct,
            rows_of_classes(labels, len(classes)),
            groups,
            confidence,
            pd.Index(map(str, classes), name="class"),
            "recall",
        ).drop(columns="method"),
        curve=stated_curve(stated, likeliest == labels, n_bins=10, groups=groups)
        if context.has_confidences
        else None,
        by_class=recalls.class_recalls(labels, predicted, classes, confidence, groups),
        correct=correct,
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
        sure=own[np.arange(n), predicted].astype(np.float64) if context.has_confidences else None,
        independence=independence,
        effective_n=worth,
        provenance=Provenance(
            seed=context.seed,
            model_sha256=context.model.sha256,
            data_sha256=context.test.sha256,
            queries=context.model.queries - before,
            labels=n,
        ),
        curated=curated,
        uses=uses,
        notes=context.notes,
    )


def _row_costs(
    context: Context, labels: NDArray[np.int64], predicted: NDArray[np.int64]
) -> tuple[NDArray[np.float64] | None, float]:
    """What each answer costs, and the most that one can cost."""
    if not context.decision.costs:
        return None, 0.0
    cost = context.decision.matrix([str(name) for name in context.model.classes])
    return cost[labels, predicted], float(cost.max())


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
    index = pd.RangeIndex(1, len(found.rings) + 1, name="dataset")
    table = _shares(correct, found.rings, groups, confidence, index, "accuracy")
    return table, (found.in_words,)


def _calibration(
    context: Context,
    own: Probabilities,
    labels: NDArray[np.int64],
    top: NDArray[np.int64],
    confidence: float,
    rests_on: tuple[str, ...],
) -> CalibrationCheck:
    """Of the model's own probabilities, whatever the decision makes of them."""
    found = calibration_check.calibration_check(
        own,
        labels,
        confidence=confidence,
        groups=context.test.groups,
        seed=context.seed,
        mend=getattr(context.model, "output", None) != "labels",
        top=top,
    )
    marked = {
        name: replace(estimate, rests_on=rests_on)
        for name in ("error", "before", "after")
        if (estimate := getattr(found, name)) is not None
    }
    return replace(found, **marked)


def _share(hit: NDArray[np.bool_], groups: NDArray[Any] | None, confidence: float) -> Estimate:
    if groups is None or not len(hit):
        return share(int(hit.sum()), len(hit), confidence)
    return share(hit, confidence=confidence, groups=groups)


def _shares(
    correct: NDArray[np.bool_],
    parts: Sequence[NDArray[Any]],
    groups: NDArray[Any] | None,
    confidence: float,
    index: pd.Index[Any],
    name: str,
) -> pd.DataFrame:
    """The share of right answers in each part of the rows."""
    found = (
        exact_shares([correct[rows].sum() for rows in parts], list(map(len, parts)), confidence)
        if groups is None
        else [_share(correct[rows], groups[rows], confidence) for rows in parts]
    )
    columns = {
        name: [e.value for e in found],
        "low": [e.low for e in found],
        "high": [e.high for e in found],
        "n": [e.n for e in found],
        "method": [e.method for e in found],
    }
    return pd.DataFrame(columns, index=index)
