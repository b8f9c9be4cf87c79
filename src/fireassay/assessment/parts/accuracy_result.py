"""What accuracy found: the standard numbers, each class, slices, and how true confidences are."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.context import Context
from fireassay.assessment.parts import accuracy_checks, operating_point
from fireassay.assessment.parts import slices as slice_report
from fireassay.assessment.parts.accuracy_checks import CalibrationCheck
from fireassay.assessment.parts.operating_point import OperatingPoint
from fireassay.assessment.parts.part import Kind, RowOutcomes, with_uses
from fireassay.assessment.parts.slices import SliceFindings
from fireassay.assessment.samples.gallery import MOST, Gallery
from fireassay.core import Assumption, Claim, Estimate, Evidence, Measure, Provenance, Sample, Table
from fireassay.core.arrays import BoolArray, Probabilities
from fireassay.core.chart import Chart
from fireassay.core.evidence import CELL_ROWS, LeadingNumber
from fireassay.core.lazy import pd
from fireassay.core.result import Answer
from fireassay.reliability.measures import EFFECTIVE_N, LARGEST_GROUP, RARE
from fireassay.report.advice import GROUPS, LARGEST
from fireassay.statistics.calibration import ReliabilityCurve
from fireassay.statistics.numbers import number_registry as registry
from fireassay.statistics.numbers.confusion_numbers import class_share
from fireassay.statistics.numbers.judged_rows import JudgedRows
from fireassay.statistics.numbers.number_registry import parse_number
from fireassay.statistics.numbers.slice_numbers import asked_number

# Written beside the usual names until version 0.5.
OLD_NAMES = {"sensitivity": "recall", "ppv": "precision"}
MEASURES = (
    *registry.MEASURES,
    *(replace(registry.BY_NAME[new].measure, name=f"{old}[*]") for new, old in OLD_NAMES.items()),
    Measure(
        "accuracy_curated_last",
        "Accuracy on the hardest curated rows",
        "share",
        "high",
        "How often its answer is the label in the last, hardest of the curated datasets.",
    ),
    Measure(
        "false_alarms_per_*",
        "Rate of false alarms per {}",
        "ratio",
        "low",
        "Rows answered with the positive class that are not of it, per unit of exposure.",
    ),
    EFFECTIVE_N,
    LARGEST_GROUP,
    *accuracy_checks.MEASURES,
    *operating_point.MEASURES,
    *slice_report.MEASURES,
)
SENTENCES: Final = {"right": "Right on {} of the labelled rows.", "never": "Never finds “{}”{}."}
MOST_CLASSES = 20
_MOST_COLUMNS = 100  # of a confusion matrix
_FEW_NAMES, _CELLS, _IDS = 3, 12, 8
_NUMBERS_AT_ONCE = 2**17  # in the cache
_LABELS_ALONE = "It answers with labels alone: how true its confidences are cannot be measured."
_OF_A_CLASS = ("sensitivity", "specificity", "ppv", "npv", "f1", "auroc")


@dataclass(frozen=True)
class AnsweredRows:
    """The labelled rows one by one: what tells them apart, their labels and the answers."""

    marks: NDArray[np.int64]
    ids: NDArray[Any]
    labels: NDArray[np.int64]
    predicted: NDArray[np.int64]
    groups: NDArray[Any] | None
    top: NDArray[np.int32]  # the likeliest classes, the first first, and their probabilities
    top_p: NDArray[np.float32]
    cost: NDArray[np.float64] | None = None  # of each answer, if costs were given
    largest_cost: float = 0.0  # that an answer can have


@dataclass(frozen=True)
class AccuracyResult(Answer):
    """The standard numbers of all rows, of classes and of slices, each with its interval."""

    judged: JudgedRows
    numbers: dict[str, Estimate]
    calibration: CalibrationCheck | None
    decided: OperatingPoint
    slices: SliceFindings
    classes: tuple[Any, ...]
    positive: Any | None
    curve: ReliabilityCurve | None
    by_class: accuracy_checks.ClassRecalls
    rows: AnsweredRows
    sure: NDArray[np.float64] | None
    ledger: tuple[Assumption, ...]
    effective_n: Estimate | None
    provenance: Provenance
    curated: pd.DataFrame
    extra: dict[str, Estimate] = field(default_factory=dict)
    uses: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    pictures: bool = True

    @property
    def accuracy(self) -> Estimate:
        """Share of rows whose answer is the truth."""
        return self.numbers["accuracy"]

    @property
    def correct(self) -> BoolArray:
        """Which rows are answered with their label."""
        return np.asarray(self.rows.labels == self.rows.predicted)

    def number(self, text: str) -> tuple[str, Estimate, Measure]:
        """Any standard number by any of its names: its usual name, the estimate, what it is."""
        asked = parse_number(text, self.classes, self.positive)
        known = self.numbers.get(asked.name)
        if known is None:
            found = asked_number(self.judged, asked, self.slices.values)
            known = replace(found, rests_on=self.accuracy.rests_on)
            known = known if self.effective_n is None else _resting(known)
        return asked.name, known, asked.measure

    def frame(self) -> pd.DataFrame:
        """Sensitivity, specificity, PPV, NPV, F1 and AUROC of each class with their intervals."""
        columns: dict[str, list[float]] = {"n": self.judged.margins.own.astype(int).tolist()}
        for name in _OF_A_CLASS:
            single = [self.numbers.get(f"{name}[{c}]") for c in self.classes]
            if len(self.classes) > MOST_CLASSES and name in ("sensitivity", "ppv"):
                single = [class_share(self.judged, name, i) for i in range(len(self.classes))]
            for end, place in (("", "value"), (" low", "low"), (" high", "high")):
                if any(single):
                    columns[name + end] = [math.nan if e is None else getattr(e, place)
                                           for e in single]  # fmt: skip
        return pd.DataFrame(columns, index=pd.Index(map(str, self.classes), name="class"))

    def charts(self) -> dict[str, Chart]:
        """Confusion matrix, classes, ROC, precision and recall, calibration, decision, slices."""
        from fireassay.assessment.parts.accuracy_charts import accuracy_charts

        return accuracy_charts(self) if self.pictures else {}

    def confusion_table(self) -> Table:
        """Truth in rows, answers in columns."""
        names = [str(c) for c in self.classes]
        if len(names) > _MOST_COLUMNS:
            said = [*names, "indeterminate"]
            found = zip(*(part.tolist() for part in self.judged.cells), strict=True)
            cells = tuple((names[i], said[j], n) for i, j, n in found)
            return Table(("truth", "answered", "rows"), cells, "Confusion matrix, filled cells")
        counts = self.judged.confusion
        blank = bool(counts[:, -1].any())
        columns = ("truth", *(f"answered {name}" for name in names))
        rows = [(name, *map(int, line[:-1])) for name, line in zip(names, counts, strict=True)]
        if blank:
            columns = (*columns, "indeterminate")
            rows = [(*row, int(line[-1])) for row, line in zip(rows, counts, strict=True)]
        return Table(columns, tuple(rows), "Confusion matrix: truth in rows, answers in columns")

    def _rows_of_cells(self) -> dict[str, Table]:
        """The first rows of each cell of a small confusion matrix, the surest first."""
        rows, names = self.rows, [*map(str, self.classes), "indeterminate"]
        if len(self.classes) > _CELLS:
            return {}
        order = np.arange(len(rows.ids)) if self.sure is None else np.argsort(-self.sure)
        found = []
        for i, truth in enumerate(self.classes):
            for j, said in enumerate(names):
                at = order[(rows.labels[order] == i) & (rows.predicted[order] % len(names) == j)]
                if len(at):
                    more = f" and {len(at) - _IDS:,} more" if len(at) > _IDS else ""
                    ids = ", ".join(map(str, rows.ids[at[:_IDS]]))
                    found.append((str(truth), said, f"{ids}{more}"))
        return {CELL_ROWS: Table(("truth", "answered", "rows"), tuple(found), "Rows of each cell")}

    def _answer(self) -> LeadingNumber:
        """The accuracy in one sentence; the worst class, where one is never found."""
        if self.by_class.never_found:
            names = [str(name) for name, _ in self.by_class.never_found]
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            return {"answer": "worst_recall", "sentence": SENTENCES["never"].format(names[0], more)}
        told = MEASURES[0].told(self.accuracy)
        return {"answer": "accuracy", "sentence": SENTENCES["right"].format(told)}

    def _unseen_classes(self) -> tuple[str, ...]:
        """Classes that no labelled row has: nothing is known about them."""
        own = self.judged.margins.own
        unseen = [str(c) for c, n in zip(self.classes, own, strict=True) if not n]
        if not unseen:
            return ()
        more = f" and {len(unseen) - _FEW_NAMES} more" if len(unseen) > _FEW_NAMES else ""
        names = ", ".join(f"“{name}”" for name in unseen[:_FEW_NAMES])
        return (f"Nothing about {names}{more}: no labelled row is of such a class.",)

    def _estimates(self) -> dict[str, Estimate]:
        found = {
            **self.numbers,
            **{
                name.replace(usual, old, 1): number
                for usual, old in OLD_NAMES.items()
                for name, number in self.numbers.items()
                if name.startswith(f"{usual}[") and "@" not in name
            },
            **self.by_class.estimates(),
            **self.extra,
        }
        resting = {name: replace(n, rests_on=self.accuracy.rests_on) for name, n in found.items()}
        return resting | self.decided.estimates | self.slices.estimates(self.accuracy.rests_on)

    def evidence(self) -> Evidence:
        """The accuracy as evidence."""
        tables = {
            "confusion": self.confusion_table(),
            "classes": Table.from_frame(
                self.frame().round(4).astype(object), "Each class, with plain 95 % intervals"
                if self.judged.confidence == 0.95 else "Each class, with plain intervals",
            ),
            **self.slices.tables(),
            **self._rows_of_cells(),
        }  # fmt: skip
        estimates = self._estimates()
        how_sure: tuple[Claim, ...] = (Claim(_LABELS_ALONE),)
        if self.calibration is not None:
            estimates |= self.calibration.estimates()
            how_sure = self.calibration.claims()
        worth = ""
        if self.effective_n is not None:
            estimates = {name: _resting(number) for name, number in estimates.items()}
            estimates["effective_n"] = self.effective_n
            if self.judged.groups is not None:
                of_groups = _of_groups(self.judged, self.judged.groups, self.classes)
                tables[GROUPS], estimates[LARGEST] = of_groups
            worth = f" They are worth {self.effective_n.value:.0f} independent ones."
        if len(self.curated):
            tables["curated"] = Table.from_frame(
                self.curated.drop(columns="method"),
                "Accuracy in what each curated dataset adds, from easy to hard",
            )
            last = self.curated.iloc[-1]
            estimates["accuracy_curated_last"] = Estimate.around(
                *last[["accuracy", "low", "high"]],
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
                *self._indeterminate(),
                *self.decided.claims,
                *self.slices.claims(),
                *how_sure,
            ),
            estimates=estimates,
            measures=(*MEASURES, *(self.number(name)[2] for name in self.numbers if "@" in name)),
            assumptions=self.ledger,
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

    def _indeterminate(self) -> tuple[Claim, ...]:
        """What the numbers would be without the rows that have no usable answer."""
        rows = self.judged
        blank = int((rows.answers < 0).sum())
        if not blank or blank == len(rows):
            return ()
        without = registry.number_of(rows.answered(), parse_number("accuracy", self.classes))
        text = (
            f"{blank:,} of {len(rows):,} answers are indeterminate and count as wrong. "
            f"Without them the accuracy is {without.percent()}."
        )
        return (Claim(text),)


def _of_groups(
    judged: JudgedRows, groups: NDArray[np.int64], classes: tuple[Any, ...]
) -> tuple[Table, Estimate]:
    """How many groups have so many errors and rows, in all and of each of a few classes."""
    rows: list[tuple[Any, ...]] = []
    for code in range(-1, len(classes) if len(classes) <= _CELLS else 0):
        own = (judged.truth == code) | (code < 0)
        if not own.any():
            continue
        sizes = np.bincount(groups[own])
        errors = np.bincount(groups[own], weights=(judged.truth != judged.answers)[own])
        seen = np.stack([errors, sizes]).astype(np.int64)[:, sizes > 0]
        pairs, times = np.unique(seen, axis=1, return_counts=True)
        name = "" if code < 0 else str(classes[code])
        rows += [(*map(int, row), name) for row in np.vstack([pairs, times]).T]
    sizes = np.bincount(groups)
    largest = sizes.max() if judged.largest_group is None else judged.largest_group
    heads = ("errors", "rows", "groups", "class")
    table = Table(heads, tuple(rows), "How many groups have so many errors")
    return table, Estimate.count(int(largest), len(judged))


def _resting(number: Estimate) -> Estimate:
    """What leaves groups out in turn supposes that no rare group is far worse."""
    left_out = "groups" in number.method and "groups-any" not in number.method
    return replace(number, rests_on=(*number.rests_on, RARE)) if left_out else number


def outcomes(result: AccuracyResult) -> dict[str, RowOutcomes]:
    """Row by row: right, wrong, sure, dear; for each class whether it was found, or named."""
    rows, right = result.rows, result.correct

    def share(values: NDArray[Any], some: Any = slice(None), kind: Kind = "share") -> RowOutcomes:
        groups = None if rows.groups is None else rows.groups[some]
        return RowOutcomes(kind, rows.marks[some], values[some].astype(np.float64), groups=groups)

    found = {"accuracy": share(right), "error": share(~right), "above_majority": share(right)}
    sizes = np.bincount(rows.labels, minlength=len(result.classes))
    weight = len(right) / (np.count_nonzero(sizes) * sizes[rows.labels])
    found["balanced_accuracy"] = share(right * weight, kind="mean")
    for i, name in enumerate(result.classes):
        own, said = rows.labels == i, rows.predicted == i
        if own.any():
            found[f"sensitivity[{name}]"] = found[f"recall[{name}]"] = share(right, own)
        if said.any():
            named = replace(share(right, kind="ratio"), positive=said)
            found[f"ppv[{name}]"] = found[f"precision[{name}]"] = named
        if (~said & (rows.predicted >= 0)).any():
            other = ~said & (rows.predicted >= 0)
            found[f"npv[{name}]"] = replace(share(~own, kind="ratio"), positive=other)
        if not own.all():
            found[f"specificity[{name}]"] = share(~said & (rows.predicted >= 0), ~own)
        p = result.judged.probabilities
        if p is not None and own.any() and not own.all() and not np.isnan(p).any():
            found[f"auroc[{name}]"] = replace(share(p[:, i], kind="auc"), positive=own)
        for j, other_name in enumerate(result.classes):
            if j != i and own.any():
                found[f"mistake[{name} -> {other_name}]"] = share(rows.predicted == j, own)
    if result.sure is not None:
        sure = share(rows.top_p[:, 0], kind="calibration")
        found["calibration_error"] = replace(sure, positive=rows.top[:, 0] == rows.labels)
    if rows.cost is not None:
        found["expected_cost"] = replace(share(rows.cost, kind="cost"), largest=rows.largest_cost)
    return found


def samples(context: Context, answer: AccuracyResult) -> tuple[Sample, ...]:
    """Wrong answers, the most confident first."""
    wrong = np.flatnonzero(~answer.correct)
    sure = answer.sure
    if sure is not None:
        wrong = wrong[np.argsort(-sure[wrong], kind="stable")]
    gallery = Gallery(context, context.test)
    said = [*map(str, answer.classes), "indeterminate"]
    return tuple(
        gallery.at(
            int(row),
            "wrong, the surest first" if sure is not None else "wrong",
            said=said[answer.rows.predicted[row]],
            confidence=None if sure is None else float(sure[row]),
        )
        for row in wrong[:MOST]
    )


def top_columns(probabilities: Probabilities, count: int) -> NDArray[np.int32]:
    """The columns of the largest probabilities of each row; of equal ones the first comes first."""
    # A few passes over some rows at a time: sorting takes a hundred times as long.
    n, k = probabilities.shape
    found = np.empty((n, min(count, k)), dtype=np.int32)
    step = max(1, _NUMBERS_AT_ONCE // k)
    for start in range(0, n, step):
        left = probabilities[start : start + step].copy()
        rows = np.arange(len(left))
        for place in range(found.shape[1]):
            largest = left.argmax(axis=1)
            found[start : start + step, place] = largest
            left[rows, largest] = -1.0
    return found
