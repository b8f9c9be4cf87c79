"""The decision in numbers: each kind of mistake, and what mistakes cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.classifiers import Classifier, Decided
from fireassay.core import Claim, Estimate, Measure, ParameterError
from fireassay.core.arrays import FloatArray, IntArray, Probabilities
from fireassay.data.splits import random_half
from fireassay.statistics import cheapest_threshold, mean_cost
from fireassay.statistics.numbers.confusion_numbers import accuracy as class_accuracy
from fireassay.statistics.numbers.judged_rows import JudgedRows

ARROW, ANY = "->", "*"


@dataclass(frozen=True)
class Decision:
    """A cost for each kind of mistake, the operating rule, and what is known of the classes."""

    costs: Mapping[str, float] = field(default_factory=dict)
    threshold: Mapping[str, float] = field(default_factory=dict)
    positive: str | None = None  # the class that short names of numbers are about
    prevalence: Mapping[str, float] = field(default_factory=dict)  # of classes elsewhere
    ordered: tuple[str, ...] = ()  # all classes, in an order that means something

    @classmethod
    def of(
        cls,
        costs: Mapping[str, float] | None = None,
        threshold: str | Mapping[Any, float] | None = None,
        positive: Any | None = None,
        prevalence: Mapping[Any, float] | None = None,
        ordered: Sequence[Any] = (),
    ) -> Decision:
        """From what a user gave: ``"argmax"`` and None are the most probable class."""
        if isinstance(threshold, str) and threshold != "argmax":
            raise ParameterError(
                "The threshold is 'argmax', or a probability by class.",
                got=repr(threshold),
                do='Try threshold={"sepsis": 0.2}.',
            )
        by_class = {} if threshold is None or isinstance(threshold, str) else dict(threshold)
        decision = cls(
            {str(name): float(cost) for name, cost in (costs or {}).items()},
            {str(name): float(least) for name, least in by_class.items()},
            None if positive is None else str(positive),
            {str(name): float(share) for name, share in (prevalence or {}).items()},
            tuple(str(name) for name in ordered),
        )
        for name, cost in decision.costs.items():
            _pair(name)
            if not 0.0 <= cost < float("inf"):
                raise ParameterError(f"The cost of '{name}' must be at least 0.", got=f"{cost:g}")
        return decision

    def applied(self, model: Classifier) -> Classifier:
        """The classifier whose answer is the decision; the model itself without a threshold."""
        return Decided(model, self.threshold) if self.threshold else model

    def matrix(self, classes: Sequence[Any]) -> FloatArray:
        """What each answer (column) costs for each truth (row)."""
        names = [str(name) for name in classes]
        found = np.full((len(names), len(names)), np.nan)
        # Names with more stars first, so that exact ones come last and stay.
        for name in sorted(self.costs, key=lambda key: -_pair(key).count(ANY)):
            truth, answer = _pair(name)
            for side in (truth, answer):
                if side not in (*names, ANY):
                    raise ParameterError(
                        f"The cost of '{name}' must name classes of the model: "
                        f"{', '.join(names[:12])}.",
                        got=repr(side),
                    )
            rows = slice(None) if truth == ANY else names.index(truth)
            columns = slice(None) if answer == ANY else names.index(answer)
            found[rows, columns] = self.costs[name]
        np.fill_diagonal(found, 0.0)
        if np.isnan(found).any():
            i, j = np.argwhere(np.isnan(found))[0]
            raise ParameterError(
                "Every kind of mistake needs a cost.",
                got=f"none for '{names[i]} -> {names[j]}'",
                do='Add it, or one for all that are not named: "* -> *" = 1.',
            )
        return found


def _pair(name: str) -> tuple[str, str]:
    truth, arrow, answer = name.partition(ARROW)
    if not arrow or not truth.strip() or not answer.strip():
        raise ParameterError(
            "A cost is named by what is true and what is answered.",
            got=repr(name),
            do='Try "sepsis -> no sepsis" = 50.',
        )
    return truth.strip(), answer.strip()


MEASURES = (
    Measure(
        "mistake[*]",
        "Rate of the mistake {}",
        "share",
        "low",
        "How many rows of the first class are answered as the second.",
    ),
    Measure(
        "expected_cost",
        "Cost per decision",
        "ratio",
        "low",
        "Mean cost of a decision, in the units of the costs that were given.",
    ),
    Measure(
        "best_threshold",
        "Cheapest threshold",
        "share",
        "neither",
        "From which probability on the costly class should be answered, chosen on half the rows.",
    ),
    Measure(
        "cost_at_best_threshold",
        "Cost per decision at the cheapest threshold",
        "ratio",
        "low",
        "Mean cost with the cheapest threshold, on rows that did not choose it.",
    ),
    Measure(
        "saved_by_best_threshold",
        "Saving per decision at the cheapest threshold",
        "ratio",
        "neither",
        "How much less a decision costs than with the present rule, on the same rows.",
    ),
)
_FEWEST_ROWS = 100


@dataclass(frozen=True)
class OperatingPoint:
    """Mistakes, costs and sentences about the decision."""

    estimates: dict[str, Estimate]
    claims: tuple[Claim, ...]


def operating_point(
    rows: JudgedRows,
    own: Probabilities,
    classes: Sequence[Any],
    decision: Decision,
    *,
    groups: NDArray[Any] | None = None,
    seed: int = 0,
    rests_on: tuple[str, ...] = (),
) -> OperatingPoint:
    """Measure a decision on labelled rows; ``own`` are the model's own probabilities."""
    names = [str(name) for name in classes]
    estimates = {
        f"mistake[{names[i]} -> {names[j]}]": replace(_mistake(rows, i, j), rests_on=rests_on)
        for i, j in _named(decision, names)
        if rows.margins.own[i]
    }
    claims: tuple[Claim, ...] = ()
    if decision.costs:
        cost = decision.matrix(names)
        costs, claims = _costs(rows, own, names, cost, groups, seed, rests_on)
        estimates |= costs
    if decision.threshold:
        rule = ", ".join(f"{name} from {100 * t:g} % on" for name, t in decision.threshold.items())
        claims = (Claim(f"The decision that is judged answers {rule}, not the likeliest."), *claims)
    return OperatingPoint(estimates, claims)


def _mistake(rows: JudgedRows, i: int, j: int) -> Estimate:
    """How many rows of one class are answered as another."""
    kept = rows.keeping(rows.truth == i)
    said = kept.answers == j
    turned = replace(kept, truth=np.where(said, j, i), answers=np.full(len(said), j))
    return class_accuracy(turned)


def _costs(
    rows: JudgedRows,
    own: Probabilities,
    names: list[str],
    cost: FloatArray,
    groups: NDArray[Any] | None,
    seed: int,
    rests_on: tuple[str, ...],
) -> tuple[dict[str, Estimate], tuple[Claim, ...]]:
    """What the present rule costs, and the cheapest threshold on rows that did not choose it."""
    highest, labels = float(cost.max()) or 1.0, rows.truth

    def mean(values: FloatArray, some: Any, low: float = 0.0) -> Estimate:
        return mean_cost(
            values[some],
            (low, highest),
            rows.confidence,
            groups=None if groups is None else groups[some],
            seed=seed,
            rests_on=rests_on,
        )

    now = paid(cost, labels, rows.answers)
    found = {"expected_cost": mean(now, slice(None))}
    first = random_half(len(labels), groups, seed, "cheapest threshold")
    if len(labels) < _FEWEST_ROWS or not first.any() or np.isnan(own).any():
        return found, ()
    costly = int(cost.max(axis=1).argmax())
    stated = own[:, costly].astype(np.float64)
    others = own.copy()
    others[:, costly] = -1.0
    above, below = cost[labels, costly], cost[labels, others.argmax(axis=1)]
    least = cheapest_threshold(stated[first], above[first], below[first])
    then = np.where(stated >= least, above, below)
    n = int(first.sum())
    found["best_threshold"] = Estimate.point(least, n, f"cheapest on {n:,} rows")
    found["cost_at_best_threshold"] = mean(then, ~first)
    found["saved_by_best_threshold"] = saved = mean(now - then, ~first, -highest)
    text = (
        f"Answering '{names[costly]}' from {100 * least:.3g} % on would cost "
        f"{found['cost_at_best_threshold'].value:.3g} per row instead of "
        f"{now[~first].mean():.3g} (saves {saved.value:.3g} [{saved.low:.3g}, {saved.high:.3g}]; "
        f"chosen on {n:,} rows, measured on the other {saved.n:,})."
    )
    return found, (Claim(text, bool(saved.low > 0) if saved.low > 0 or saved.high < 0 else None),)


def paid(cost: FloatArray, labels: IntArray, predicted: IntArray) -> FloatArray:
    """What each answer costs; an indeterminate one as much as the dearest for its truth."""
    return np.where(predicted < 0, cost[labels].max(axis=1), cost[labels, predicted])


def mentioned(decision: Decision, name: str) -> bool:
    """Whether a decision names a class."""
    sides = {side.strip() for key in decision.costs for side in key.split("->")}
    return name in (*sides, *decision.threshold, *decision.prevalence, decision.positive)


def _named(decision: Decision, names: list[str]) -> list[tuple[int, int]]:
    """Kinds of mistakes that have a cost of their own; all of them where there are few classes."""
    k = len(names)
    if k <= 3:
        return [(i, j) for i in range(k) for j in range(k) if i != j]
    pairs = [{side.strip() for side in key.split("->")} for key in decision.costs]
    chosen = {i for i, name in enumerate(names) if any(name in pair for pair in pairs)}
    return [
        (i, j)
        for i in sorted(chosen)
        for j in sorted(chosen)
        if i != j and {names[i], names[j]} in pairs
    ]
