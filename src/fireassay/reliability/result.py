"""What an assessment found: the bound, what stands beside it, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from fireassay.core import Answer, Estimate
from fireassay.core.chart import LIGHT, Chart
from fireassay.core.drawing import axis, curves, rounded
from fireassay.core.evidence import Assumption, Claim, Evidence, LeadingNumber, Provenance, Table
from fireassay.core.lazy import pd
from fireassay.reliability.label_noise import CorrectedBound
from fireassay.reliability.measures import MEASURES, SENTENCES
from fireassay.reliability.problem import Problem
from fireassay.statistics.counts import clopper_pearson
from fireassay.statistics.shares import confusion_rates

FROM_THE_FIELD = "labels-from-the-field"
UNSEEN = "surrogate-unseen-labels"
NO_CELLS = "Not used by this method: it has no grid of cells."
_OF_CELLS = (
    "independent-cells",
    "r-separated",
    "one-label-per-cell",
    "vote-is-right",
    "uniform-in-cells",
)
LABELS = (FROM_THE_FIELD, "independent-rows", "labels-right")


class Details:
    """What a method found beside the bound; a frozen dataclass of its own numbers.

    A method overrides what it says differently: by default ``pmi_upper`` is a bound that holds.

    Attributes:
        how: The method in a few words, as estimates give it.

    >>> @dataclass(frozen=True)
    ... class Counted(Details):
    ...     errors: int
    ...     how: ClassVar[str] = "counting"
    >>> Counted(3).rests_on
    ('labels-from-the-field', 'independent-rows', 'labels-right')
    """

    how: ClassVar[str]

    @property
    def rests_on(self) -> tuple[str, ...]:
        """Ids of the assumptions without which the bound says nothing."""
        return LABELS

    def headline(self, result: ReliabilityResult) -> str:
        """The answer in one line."""
        bound = Estimate.bound(result.pmi_upper, result.confidence, result.n_labels, self.how)
        told = next(m for m in MEASURES if m.name == "pmi_upper").told(bound)
        text = (
            f"most {told} of inputs are misclassified "
            f"({100 * result.confidence:g} % confidence, {result.counted})."
        )
        if FROM_THE_FIELD in self.rests_on and result.labels_from_elsewhere:
            return f"Not valid, the labels are not drawn from the profile: at {text}"
        return f"At {text}"

    def counted(self, result: ReliabilityResult) -> str:
        """Errors and labels, in words."""
        return f"{result.n_errors} errors in {result.n_labels} labels"

    def claims(self, result: ReliabilityResult) -> tuple[Claim, ...]:  # noqa: ARG002
        """What else a reader may take away."""
        return ()

    def estimates(self, result: ReliabilityResult) -> dict[str, Estimate]:
        """Two one-sided bounds, and the interval between them with the confidence it has."""
        given, rests_on = (result.confidence, result.n_labels, self.how), self.rests_on
        return {
            "pmi_upper": Estimate.bound(result.pmi_upper, *given, rests_on=rests_on),
            "pmi_lower": Estimate.bound(result.pmi_lower, *given, rests_on=rests_on),
            "pmi": between(result, self.how, rests_on),
        }

    def tables(self) -> dict[str, Table]:
        """Tables for the report."""
        return {}

    def charts(self, result: ReliabilityResult) -> dict[str, Chart]:  # noqa: ARG002
        """Charts of the method."""
        return {}


@dataclass(frozen=True)
class ReliabilityResult(Answer):
    """The probability of a misclassification per input, and how sure one can be.

    Attributes:
        method: Name of the method.
        pmi, pmi_lower, pmi_upper: Estimate and one-sided limits, each at ``confidence``.
            ``pmi_upper`` is the headline.
        is_bound: Whether ``pmi_upper`` is claimed to hold (`Ram`: no).
        details: What the method found besides, e.g. the cells of `Ram`.
        assumptions: The ledger: each assumption supported, contradicted or untestable.
        comparison: Other bounds on the same data, side by side.
        confusions: The pmi of each kind of mistake.
        confidence: One-sided, of each limit.
        n_labels, n_errors, n_operational: Labelled rows, wrong ones among them, and operational
            rows.
        notes, provenance: What to know about this run, and where its numbers come from.
        corrected: The limits that wrong labels leave, if rows were labelled twice.
    """

    method: str
    pmi: float
    pmi_lower: float
    pmi_upper: float
    is_bound: bool
    confidence: float
    n_labels: int
    n_errors: int
    n_operational: int
    details: Details
    assumptions: tuple[Assumption, ...]
    comparison: pd.DataFrame
    confusions: pd.DataFrame
    notes: tuple[str, ...]
    provenance: Provenance
    corrected: CorrectedBound | None = None

    @property
    def contradicted(self) -> tuple[Assumption, ...]:
        """Assumptions that the data speaks against."""
        return tuple(a for a in self.assumptions if a.status == "contradicted")

    @property
    def labels_from_elsewhere(self) -> bool:
        """Whether the data says that the labels are not drawn from the profile."""
        return any(a.id == FROM_THE_FIELD for a in self.contradicted)

    @property
    def counted(self) -> str:
        """Errors and labels, in words."""
        return self.details.counted(self)

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return self.details.headline(self)

    def frame(self) -> pd.DataFrame:
        """All bounds on the same data, side by side."""
        return self.comparison

    def charts(self) -> dict[str, Chart]:
        """Bound against labels, and the method's own."""
        return {"labels": _bound_against_labels(self), **self.details.charts(self)}

    def evidence(self) -> Evidence:
        """The answer in the form the report understands."""
        tables = {"bounds": Table.from_frame(self.comparison, "Bounds side by side", index=False)}
        worst = self.confusions[self.confusions["count"] > 0].head(20)
        if len(worst):
            tables["confusions"] = Table.from_frame(worst, "Kinds of mistakes", index=False)
        claims = [Claim(self.headline), *self.details.claims(self)]
        if self.labels_from_elsewhere:
            text = "The labels are drawn from the operational profile."
            claims.append(Claim(text, holds=False))
        estimates, found = self.details.estimates(self), self.corrected
        corrected = {} if found is None else found.estimates(self.details.rests_on)
        return Evidence(
            question="reliability",
            headline=self.headline,
            claims=tuple(claims),
            estimates={**estimates, **corrected},
            assumptions=used(self.assumptions, self.details.rests_on),
            tables={**tables, **self.details.tables()},
            charts=self.charts(),
            measures=MEASURES,
            limits=self.notes,
            provenance=self.provenance,
            **_answer(estimates),
        )


def used(assumptions: tuple[Assumption, ...], rests_on: tuple[str, ...]) -> tuple[Assumption, ...]:
    """The ledger without what only a grid of cells needs, where there is none."""
    if not any(assumption.check == NO_CELLS for assumption in assumptions):
        return assumptions
    return tuple(a for a in assumptions if a.id not in _OF_CELLS or a.id in rests_on)


def with_noise(result: ReliabilityResult, found: CorrectedBound) -> ReliabilityResult:
    """The result with the corrected limits beside its own, and what the labels were found to be."""
    noise, ledger = found.noise, []
    for assumption in result.assumptions:
        if assumption.id == "labels-right":
            status = "contradicted" if noise.differ else assumption.status
            assumption = replace(assumption, status=status, check=noise.told)
        ledger.append(assumption)
    row = ("corrected for wrong labels", found.value, found.upper, found.how)
    rows = pd.DataFrame([row], columns=result.comparison.columns)
    table = pd.concat([result.comparison, rows], ignore_index=True)
    return replace(
        result, corrected=found, comparison=table, assumptions=(*ledger, *noise.assumptions())
    )


def _answer(estimates: Mapping[str, Estimate]) -> LeadingNumber:
    """The bound in one sentence; without one, the estimate, which says so."""
    for name in ("pmi_upper", "pmi"):
        if name in estimates:
            measure = next(m for m in MEASURES if m.name == name)
            return {
                "answer": name,
                "sentence": SENTENCES[name].format(measure.told(estimates[name])),
            }
    return {}


def build_result(
    problem: Problem,
    method: str,
    details: Details,
    *,
    limits: tuple[float, float, float],
    comparison: list[tuple[str, float, float, str]],
    assumptions: tuple[Assumption, ...],
    notes: tuple[str, ...],
    is_bound: bool = True,
) -> ReliabilityResult:
    """A result: ``limits`` are lower, pmi, upper; ``comparison`` method, pmi, bound, claim."""
    (low, pmi, upper), (inputs, y) = limits, problem.judged
    table = pd.DataFrame(comparison, columns=["method", "pmi", "pmi_upper", "claim"])
    return ReliabilityResult(
        method=method,
        pmi=pmi,
        pmi_lower=low,
        pmi_upper=upper,
        is_bound=is_bound,
        confidence=problem.confidence,
        n_labels=len(y),
        n_errors=problem.errors,
        n_operational=problem.n_operational,
        details=details,
        assumptions=assumptions,
        comparison=table.astype({"pmi": float, "pmi_upper": float}),
        confusions=confusion_rates(
            y, inputs.predicted, problem.classes, problem.confidence, problem.groups
        ),
        notes=notes,
        provenance=problem.provenance(),
    )


def between(result: ReliabilityResult, how: str, rests_on: tuple[str, ...] = ()) -> Estimate:
    """The estimate between two one-sided limits: both hold together with twice the error."""
    both = 2 * result.confidence - 1
    if both <= 0:
        return Estimate.point(result.pmi, result.n_labels, how, rests_on=rests_on)
    return Estimate.around(
        result.pmi,
        result.pmi_lower,
        result.pmi_upper,
        confidence=both,
        n=result.n_labels,
        method=how,
        rests_on=rests_on,
    )


def _bound_against_labels(result: ReliabilityResult) -> Chart:
    """What more labels would buy at the error rate seen, and where this assessment stands."""
    first = max(10, result.n_labels // 10)
    n = np.unique(np.geomspace(first, max(100, 20 * result.n_labels), 80).astype(int))
    rate = result.n_errors / result.n_labels
    _, upper = clopper_pearson(rate * n, n, result.confidence, "upper")
    kind = "" if result.is_bound else ", which is not a bound"
    ticks = [m * 10**k for k in range(1, 9) for m in (1, 3) if n[0] <= m * 10**k <= n[-1]]
    up = {"axis": axis("wrong in the field, at most", "share"), "scale": {"zero": True}}
    spec = curves(
        {"with more labels": (n, upper)},
        {"axis": axis("labels", values=ticks), "scale": {"type": "log", "nice": False}},
        up,
        levels=[(rate, "error rate seen")],
        height=230,
    )
    here = {"labels": result.n_labels, "upper": rounded(result.pmi_upper), "name": "this result"}
    at: dict[str, Any] = {
        "x": {"field": "labels", "type": "quantitative"},
        "y": {"field": "upper", "type": "quantitative"},
        "color": {"value": LIGHT["two"]},
    }
    square = {"type": "point", "size": 110, "shape": "square"}
    words = {"type": "text", "align": "left", "dx": 10, "dy": -8}
    spec["layer"] += [
        {"data": {"values": [here]}, "mark": mark, "encoding": {**at, **text}}
        for mark, text in ((square, {}), (words, {"text": {"field": "name"}}))
    ]
    spec["usermeta"] = {"limits": {"pmi_upper": "y"}}
    return Chart(
        spec,
        "What more labels would buy if it stays wrong as often as now; the square is this result"
        f"{kind}.",
        "A line that falls with the number of labels, and one marked point.",
    )
