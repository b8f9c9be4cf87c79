"""Accuracy on the labelled rows: overall, per class, and how honest the confidences are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from fireassay.assessment import calibration_check, operating_point, slice_report
from fireassay.assessment import class_recalls as recalls
from fireassay.assessment.answered_rows import AnsweredRows, row_costs
from fireassay.assessment.calibration_check import CalibrationCheck
from fireassay.assessment.context import Context, Cost
from fireassay.assessment.curated_rows import curated_rows, voted_rows
from fireassay.assessment.operating_point import OperatingPoint
from fireassay.assessment.row_outcomes import RowOutcomes, row_marks
from fireassay.assessment.shown_rows import MOST, Gallery
from fireassay.assessment.slice_report import SliceFindings
from fireassay.assessment.uses import with_uses
from fireassay.classifiers import CodedClassifier, Decided
from fireassay.core import (
    Assumption,
    Claim,
    Estimate,
    Evidence,
    Measure,
    Provenance,
    Sample,
    Table,
)
from fireassay.core.chart import Chart
from fireassay.core.drawing import IntervalRow, diagram, intervals
from fireassay.core.evidence import LeadingNumber
from fireassay.core.result import Answer
from fireassay.core.validation import check_class_indices
from fireassay.data import DataSet
from fireassay.reliability.measures import EFFECTIVE_N
from fireassay.statistics import (
    alike_rows,
    near_duplicates,
    reliability_curve,
    share,
)
from fireassay.statistics.calibration import ReliabilityCurve
from fireassay.statistics.grouped_share import GroupCounts, effective_rows

USES = ("curation",)
MEASURES = (
    Measure(
        "accuracy",
        "Right on the labelled rows",
        "share",
        "high",
        "How often its answer is the label.",
    ),
    Measure(
        "error",
        "Wrong on the labelled rows",
        "share",
        "low",
        "How often its answer is not the label.",
    ),
    Measure(
        "accuracy_curated_last",
        "Right on the hardest curated rows",
        "share",
        "high",
        "How often its answer is the label in the last, hardest of the curated datasets.",
    ),
    EFFECTIVE_N,
    *recalls.MEASURES,
    *calibration_check.MEASURES,
    *operating_point.MEASURES,
    *slice_report.MEASURES,
)
_MOST_CLASSES = 20
_SURE = 0.9
_LABELS_ALONE = "It answers with labels alone: how true its confidences are cannot be measured."
_ROWS, _GROUPS = ("independent-rows",), ("independent-groups",)


class Settings(BaseModel):
    """``[accuracy]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    confidence: float = Field(default=0.95, gt=0, lt=1, description="Confidence of the intervals.")


@dataclass(frozen=True)
class AccuracyResult(Answer):
    """Accuracy, its complement, per-class recall and calibration, each with an interval."""

    accuracy: Estimate
    error: Estimate
    calibration: CalibrationCheck | None
    decided: OperatingPoint
    slices: SliceFindings
    classes: tuple[Any, ...]
    confusion: NDArray[np.int64]
    recall: pd.DataFrame
    curve: ReliabilityCurve | None
    by_class: recalls.ClassRecalls
    correct: NDArray[np.bool_]
    rows: AnsweredRows
    sure: NDArray[np.float64] | None
    independence: Assumption
    effective_n: Estimate | None
    provenance: Provenance
    curated: pd.DataFrame
    uses: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def frame(self) -> pd.DataFrame:
        """Recall of each class with its interval."""
        return self.recall

    def charts(self) -> dict[str, Chart]:
        """Recall of each class, worst first, and the reliability diagram."""
        worst = self.recall.sort_values(["recall", "low"], kind="stable").head(_MOST_CLASSES)
        rows = [
            IntervalRow(
                str(name),
                float(row["recall"]),
                float(row["low"]),
                float(row["high"]),
                text=f"{row['recall']:.0%} of {int(row['n']):,}",
            )
            for name, row in worst.iterrows()
        ]
        left = len(self.recall) - len(worst)
        most = f" The {len(worst)} worst of {len(self.recall)} classes." if left else ""
        found = {
            "recall": Chart(
                intervals(rows, "found", domain=(_tenth_below(worst["low"]), 1.0)),
                f"How many rows of each class it finds, worst first.{most}",
                "A dot with an interval for each class.",
            )
        }
        curve = self.curve
        if curve is not None:  # hard labels have no confidences
            found["reliability diagram"] = Chart(
                diagram(curve.mean_confidence, curve.accuracy, curve.low, curve.high),
                "How sure it was against how often it was right; on the dashed line it is as sure "
                "as it should be.",
                "A reliability diagram with intervals.",
            )
        return found

    def _answer(self) -> LeadingNumber:
        """The accuracy in one sentence; the worst class, where one is never found."""
        if self.by_class.never_found:
            names = [str(name) for name, _ in self.by_class.never_found]
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            return {"answer": "worst_recall", "sentence": f"Never finds “{names[0]}”{more}."}
        told = MEASURES[0].told(self.accuracy)
        return {"answer": "accuracy", "sentence": f"Right on {told} of the labelled rows."}

    def evidence(self) -> Evidence:
        """The accuracy as evidence."""
        tables = {
            "recall": Table.from_frame(self.frame(), "Recall per class"),
            "decision": self.decided.table(),
            **self.slices.tables(),
        }
        estimates = {
            "accuracy": self.accuracy,
            "error": self.error,
            **{
                name: replace(number, rests_on=self.accuracy.rests_on)
                for name, number in self.by_class.estimates().items()
            },
            **self.decided.estimates,
            **self.slices.estimates(self.accuracy.rests_on),
        }
        how_sure: tuple[Claim, ...] = (Claim(_LABELS_ALONE),)
        if self.calibration is not None:
            estimates |= self.calibration.estimates()
            how_sure = self.calibration.claims()
        worth = ""
        if self.effective_n is not None:
            estimates["effective_n"] = self.effective_n
            worth = f" They are worth {self.effective_n.value:.0f} independent ones."
        if len(self.curated):
            tables["curated"] = Table.from_frame(
                self.curated.drop(columns="method"),
                "Accuracy in what each curated dataset adds, from easy to hard",
            )
            last = self.curated.iloc[-1]
            estimates["accuracy_curated_last"] = Estimate.around(
                last["accuracy"],
                last["low"],
                last["high"],
                confidence=self.accuracy.confidence,
                n=int(last["n"]),
                method=str(last["method"]),
                rests_on=self.accuracy.rests_on,
            )
        found = Evidence(
            question="accuracy",
            headline=f"{self.by_class.lead()}Right on {self.accuracy.percent()} of the labelled "
            f"rows.{worth}",
            claims=(
                *(Claim(note) for note in self.notes),
                Claim(self.by_class.beside()),
                *self.decided.claims,
                *self.slices.claims(),
                *how_sure,
            ),
            estimates=estimates,
            measures=MEASURES,
            assumptions=(self.independence,),
            tables=tables,
            charts=self.charts(),
            **self._answer(),
            limits=("These are the labelled rows; the field may be different (see reliability).",),
            provenance=self.provenance,
        )
        return with_uses(found, self.uses)


def calibrated(context: Context, why: str, *, mended: bool = False) -> Assumption | None:
    """What this part, if it has run, says about the confidences that another one rests on."""
    known = context.results.get("accuracy")
    if not isinstance(known, AccuracyResult) or known.calibration is None:
        return None
    return known.calibration.assumption(why, mended=mended)


def _tenth_below(values: "pd.Series[float]") -> float:
    """Where an axis starts that has room for the lowest of them."""
    return max(0.0, math.floor(10 * float(values.min()) - 1e-9) / 10)


def missing(context: Context) -> str | None:
    """Why accuracy cannot be measured, or None."""
    return None if context.test.y is not None else "the test rows have no labels"


def cost(context: Context, settings: Settings) -> Cost:
    """One query per labelled row, and per labelled row of curation that is not among them."""
    del settings
    n, voted = len(context.test), None if context.votes is None else voted_rows(context)
    more = len(voted[0]) if voted and voted[1] != "test" and voted[0].y is not None else 0
    n_bytes = n * (context.test.X[0].nbytes + 32 * len(context.test.classes))
    return Cost(queries=n + more, labels=n + more, own_seconds=0.5, memory_mb=2e-6 * n_bytes)


def run(context: Context, settings: Settings) -> AccuracyResult:
    """Measure accuracy on the test rows."""
    before = context.model.queries
    probabilities = context.model.predict_proba(context.test.X)
    classes = context.model.classes
    labels = check_class_indices(context.test.labels, classes, n=len(context.test))
    predicted = probabilities.argmax(axis=1)
    correct = predicted == labels
    n, groups, confidence = len(labels), context.test.groups, settings.confidence
    curated, uses = _curated(context, correct, confidence)
    independence = _independence(context.test, context.seed)
    rests_on = (independence.id,)
    worth = None
    if groups is not None:
        counts = GroupCounts.of(correct, groups)
        how = f"jackknife over {len(counts.sizes)} groups"
        worth = Estimate.point(effective_rows(counts), n, how)
    ruled = context.model.model if isinstance(context.model, CodedClassifier) else context.model
    own = ruled.own(probabilities) if isinstance(ruled, Decided) else probabilities
    confusion = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(confusion, (labels, predicted), 1)
    return AccuracyResult(
        accuracy=replace(_share(correct, groups, confidence), rests_on=rests_on),
        error=replace(_share(~correct, groups, confidence), rests_on=rests_on),
        calibration=_calibration(context, own, labels, confidence, rests_on)
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
            [labels == i for i in range(len(classes))],
            groups,
            confidence,
            pd.Index(map(str, classes), name="class"),
            "recall",
        ).drop(columns="method"),
        curve=reliability_curve(own, labels, n_bins=10, groups=groups)
        if context.has_confidences
        else None,
        by_class=recalls.class_recalls(labels, predicted, classes, confidence, groups),
        correct=correct,
        rows=AnsweredRows(
            row_marks(context.test.X, labels),
            np.asarray(context.test.ids),
            labels,
            predicted,
            groups,
            own.max(axis=1) if context.has_confidences else None,
            own.argmax(axis=1) if context.has_confidences else None,
            *row_costs(context.decision, classes, labels, predicted),
        ),
        sure=own[np.arange(n), predicted] if context.has_confidences else None,
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


def outcomes(result: AccuracyResult) -> dict[str, RowOutcomes]:
    """What each row contributed to each number."""
    return result.rows.outcomes(result.classes)


def samples(context: Context, answer: AccuracyResult) -> tuple[Sample, ...]:
    """Wrong answers, the most confident first."""
    wrong = np.flatnonzero(~answer.correct)
    sure = answer.sure
    if sure is not None:
        wrong = wrong[np.argsort(-sure[wrong], kind="stable")]
    gallery = Gallery(context, context.test)
    return tuple(
        gallery.at(
            int(row),
            "wrong" if sure is None else "wrong, and sure" if sure[row] > _SURE else "wrong",
            said=str(answer.classes[answer.rows.predicted[row]]),
            confidence=None if sure is None else float(sure[row]),
        )
        for row in wrong[:MOST]
    )


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
    own: NDArray[np.float64],
    labels: NDArray[np.int64],
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
    index: "pd.Index[Any]",
    name: str,
) -> pd.DataFrame:
    """The share of right answers in each part of the rows."""
    found = [
        _share(correct[rows], None if groups is None else groups[rows], confidence)
        for rows in parts
    ]
    columns = {
        name: [e.value for e in found],
        "low": [e.low for e in found],
        "high": [e.high for e in found],
        "n": [e.n for e in found],
        "method": [e.method for e in found],
    }
    return pd.DataFrame(columns, index=index)


def _independence(data: DataSet, seed: int) -> Assumption:
    """Rows that are alike contradict; that there are none shows nothing about how they came."""
    unknown = " How they were drawn is not in the data."
    if data.groups is None:
        alike = alike_rows(data.view(), data.y, seed)
        what, many, check, ids = "rows", alike.many, str(alike), _ROWS
    else:
        near = near_duplicates(data.view(), seed, data.groups)
        what, many, ids = "groups", near.many, _GROUPS
        check = f"{near.count} of {near.looked_at} rows nearly repeat a row of another group."
    return Assumption(
        f"The labelled {what} are independent draws of what the model meets.",
        "contradicted" if many else "untestable",
        check if many else check + unknown,
        *ids,
    )
