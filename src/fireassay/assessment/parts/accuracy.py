"""Accuracy on the labelled rows: overall, per class, and how honest the confidences are."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from fireassay.assessment.context import Context, Cost
from fireassay.assessment.curated_rows import curated_rows, voted_rows
from fireassay.assessment.uses import with_uses
from fireassay.core import (
    Assumption,
    Claim,
    Estimate,
    Evidence,
    Measure,
    Provenance,
    Table,
)
from fireassay.core.pictures import picture
from fireassay.core.result import Answer
from fireassay.core.validation import check_class_indices
from fireassay.statistics import (
    clopper_pearson,
    expected_calibration_error,
    reliability_curve,
    share,
)
from fireassay.statistics.calibration import ReliabilityCurve

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        "calibration_error",
        "Confidence off by",
        "share",
        "low",
        "Mean gap between how sure it is and how often it is right.",
    ),
    Measure(
        "accuracy_curated_last",
        "Right on the hardest curated rows",
        "share",
        "high",
        "How often its answer is the label in the last, hardest of the curated datasets.",
    ),
)
_INDEPENDENT = ("independent-rows",)
# A row that happens to repeat another says little; one in a hundred is a way of drawing.
_FEW_REPEATS = 0.01


class Settings(BaseModel):
    """``[accuracy]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    confidence: float = Field(default=0.95, gt=0, lt=1, description="Confidence of the intervals.")


@dataclass(frozen=True)
class AccuracyResult(Answer):
    """Accuracy, its complement, per-class recall and calibration, each with an interval."""

    accuracy: Estimate
    error: Estimate
    calibration_error: Estimate
    classes: tuple[Any, ...]
    confusion: NDArray[np.int64]
    curve: ReliabilityCurve
    correct: NDArray[np.bool_]
    duplicates: int
    provenance: Provenance
    curated: pd.DataFrame
    uses: tuple[str, ...] = ()

    def frame(self) -> pd.DataFrame:
        """Recall of each class with its exact interval."""
        totals = self.confusion.sum(axis=1)
        hits = np.diag(self.confusion)
        low, high = clopper_pearson(hits, totals, self.accuracy.confidence)
        with np.errstate(invalid="ignore"):
            recall = hits / totals
        columns = {"recall": recall, "low": low, "high": high, "n": totals}
        return pd.DataFrame(columns, index=pd.Index(map(str, self.classes), name="class"))

    def figures(self) -> "dict[str, Figure]":
        """The reliability diagram: confidence against accuracy."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(5, 4), layout="constrained")
        axes = figure.subplots()
        curve = self.curve
        axes.plot([0, 1], [0, 1], color="0.6", linestyle="--", label="honest confidence")
        errors = [curve.accuracy - curve.low, curve.high - curve.accuracy]
        axes.errorbar(curve.mean_confidence, curve.accuracy, yerr=errors, fmt="o", capsize=3)
        axes.set(xlabel="confidence", ylabel="accuracy", xlim=(0, 1.02), ylim=(0, 1.02))
        axes.legend()
        return {"reliability diagram": figure}

    def evidence(self) -> Evidence:
        """The accuracy as evidence."""
        repeats = self.duplicates > _FEW_REPEATS * self.accuracy.n
        independent = Assumption(
            "The labelled rows are independent draws of what the model meets.",
            "contradicted" if repeats else "untestable",
            f"{self.duplicates} of {self.accuracy.n} rows repeat another row."
            if self.duplicates
            else "No row repeats another; how the rows were drawn is not in the data.",
            *_INDEPENDENT,
        )
        diagram = self.figures()["reliability diagram"]
        tables = {"recall": Table.from_frame(self.frame(), "Recall per class")}
        estimates = {
            "accuracy": self.accuracy,
            "error": self.error,
            "calibration_error": self.calibration_error,
        }
        if len(self.curated):
            tables["curated"] = Table.from_frame(
                self.curated, "Accuracy in what each curated dataset adds, from safe to adversarial"
            )
            last = self.curated.iloc[-1]
            estimates["accuracy_curated_last"] = Estimate.around(
                last["accuracy"],
                last["low"],
                last["high"],
                confidence=self.accuracy.confidence,
                n=int(last["n"]),
                method="Clopper-Pearson",
                rests_on=_INDEPENDENT,
            )
        found = Evidence(
            question="accuracy",
            headline=f"Right on {self.accuracy.percent()} of the labelled rows.",
            claims=(Claim(f"Its confidence is off by {self.calibration_error.percent()}."),),
            estimates=estimates,
            measures=MEASURES,
            assumptions=(independent,),
            tables=tables,
            figures={
                "reliability diagram": picture(
                    diagram,
                    "Confidence of the model against how often it was right; on the dashed line "
                    "it is as sure as it should be.",
                    "Reliability diagram with intervals.",
                )
            },
            limits=("These are the labelled rows; the field may be different (see reliability).",),
            provenance=self.provenance,
        )
        return with_uses(found, self.uses)


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
    n, hits = len(labels), int(correct.sum())
    curated, uses = _curated(context, correct, settings.confidence)
    confusion = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(confusion, (labels, predicted), 1)
    return AccuracyResult(
        accuracy=share(hits, n, settings.confidence, rests_on=_INDEPENDENT),
        error=share(n - hits, n, settings.confidence, rests_on=_INDEPENDENT),
        calibration_error=replace(
            expected_calibration_error(
                probabilities, labels, confidence=settings.confidence, seed=context.seed
            ),
            rests_on=_INDEPENDENT,
        ),
        classes=tuple(classes),
        confusion=confusion,
        curve=reliability_curve(probabilities, labels, n_bins=10),
        correct=correct,
        duplicates=n - len(np.unique(context.test.X.reshape(n, -1), axis=0)),
        provenance=Provenance(
            seed=context.seed,
            model_sha256=context.model.sha256,
            data_sha256=context.test.sha256,
            queries=context.model.queries - before,
            labels=n,
        ),
        curated=curated,
        uses=uses,
    )


def _curated(
    context: Context, correct: NDArray[np.bool_], confidence: float
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Accuracy in what each dataset of curation adds, where the voted rows have labels."""
    found = curated_rows(context)
    if found is None or found.data.y is None:
        return pd.DataFrame(), ()
    if found.source != "test":
        y = check_class_indices(found.data.y, context.model.classes)
        correct = context.model.predict_proba(found.data.X).argmax(axis=1) == y
    n = np.array([len(ring) for ring in found.rings])
    hits = np.array([int(correct[ring].sum()) for ring in found.rings])
    low, high = clopper_pearson(hits, n, confidence)
    columns = {"accuracy": hits / n, "low": low, "high": high, "n": n}
    index = pd.RangeIndex(1, len(n) + 1, name="dataset")
    return pd.DataFrame(columns, index=index), (found.in_words,)
