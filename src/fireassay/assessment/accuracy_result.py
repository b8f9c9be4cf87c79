"""What accuracy found: overall, per class, and how honest the confidences are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment import calibration_check, operating_point, slice_report
from fireassay.assessment import class_recalls as recalls
from fireassay.assessment.calibration_check import CalibrationCheck
from fireassay.assessment.operating_point import OperatingPoint
from fireassay.assessment.slice_report import SliceFindings
from fireassay.assessment.uses import with_uses
from fireassay.core import Assumption, Claim, Estimate, Evidence, Measure, Provenance, Table
from fireassay.core.chart import Chart
from fireassay.core.drawing import IntervalRow, diagram, intervals
from fireassay.core.evidence import LeadingNumber
from fireassay.core.lazy_modules import pd
from fireassay.core.percent import percent
from fireassay.core.result import Answer
from fireassay.reliability.measures import EFFECTIVE_N
from fireassay.statistics.calibration import ReliabilityCurve

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
_FEW_NAMES = 3
_LABELS_ALONE = "It answers with labels alone: how true its confidences are cannot be measured."


@dataclass(frozen=True)
class AnsweredRows:
    """The labelled rows one by one: what tells them apart, their labels and the answers.

    ``top`` are the classes that come first by their probabilities, which are ``top_p``. ``cost`` is
    what each answer costs, if costs were given, and ``largest_cost`` the most that one can cost.
    """

    marks: NDArray[np.int64]
    ids: NDArray[Any]
    labels: NDArray[np.int64]
    predicted: NDArray[np.int64]
    groups: NDArray[Any] | None
    top: NDArray[np.int32]
    top_p: NDArray[np.float32]
    cost: NDArray[np.float64] | None = None
    largest_cost: float = 0.0


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
                text=f"{percent(row['recall'])} of {int(row['n']):,}",
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
            ).shown_first()
        return found

    def _answer(self) -> LeadingNumber:
        """The accuracy in one sentence; the worst class, where one is never found."""
        if self.by_class.never_found:
            names = [str(name) for name, _ in self.by_class.never_found]
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            return {"answer": "worst_recall", "sentence": f"Never finds “{names[0]}”{more}."}
        told = MEASURES[0].told(self.accuracy)
        return {"answer": "accuracy", "sentence": f"Right on {told} of the labelled rows."}

    def _unseen_classes(self) -> tuple[str, ...]:
        """Classes that no labelled row has: nothing is known about them."""
        unseen = [
            str(c) for c, n in zip(self.classes, self.confusion.sum(axis=1), strict=True) if not n
        ]
        if not unseen:
            return ()
        more = f" and {len(unseen) - _FEW_NAMES} more" if len(unseen) > _FEW_NAMES else ""
        names = ", ".join(f"“{name}”" for name in unseen[:_FEW_NAMES])
        return (f"Nothing about {names}{more}: no labelled row is of such a class.",)

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
            limits=(
                "These are the labelled rows; the field may be different (see reliability).",
                *self._unseen_classes(),
            ),
            provenance=self.provenance,
        )
        return with_uses(found, self.uses)


def _tenth_below(values: pd.Series[float]) -> float:
    """Where an axis starts that has room for the lowest of them."""
    return max(0.0, math.floor(10 * float(values.min()) - 1e-9) / 10)
