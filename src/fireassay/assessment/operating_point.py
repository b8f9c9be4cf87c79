"""The decision in numbers: recall and precision per class, each mistake, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.decision import Decision
from fireassay.assessment.halves import random_half
from fireassay.core import Claim, Estimate, Measure, Table
from fireassay.core.arrays import FloatArray, IntArray, Probabilities
from fireassay.core.lazy_modules import pd
from fireassay.statistics import cheapest_threshold, mean_cost, simultaneous_shares
from fireassay.statistics.share import exact_shares

MEASURES = (
    Measure(
        "recall[*]",
        "Found: {}",
        "share",
        "high",
        "How many rows of this class are answered as this class (sensitivity).",
    ),
    Measure(
        "specificity[*]",
        "Left alone: not {}",
        "share",
        "high",
        "How many rows of other classes are not answered as this class.",
    ),
    Measure(
        "precision[*]",
        "Right when it says {}",
        "share",
        "high",
        "How many of the answers with this class are right.",
    ),
    Measure(
        "mistake[*]",
        "Mistaken: {}",
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
        "Saved per decision by the cheapest threshold",
        "ratio",
        "neither",
        "How much less a decision costs than with the present rule, on the same rows.",
    ),
)
# Of more classes than this only those that the decision names have numbers of their own.
_MOST_CLASSES = 20
_FEWEST_ROWS = 100


@dataclass(frozen=True)
class OperatingPoint:
    """Numbers, table and sentences about the decision."""

    estimates: dict[str, Estimate]
    frame: pd.DataFrame
    claims: tuple[Claim, ...]

    def table(self) -> Table:
        """Recall, specificity and precision of every class."""
        return Table.from_frame(
            self.frame, "Each class: found, left alone, right when said; intervals hold together"
        )


def operating_point(
    own: Probabilities,
    predicted: IntArray,
    labels: IntArray,
    classes: Sequence[Any],
    decision: Decision,
    *,
    confidence: float,
    groups: NDArray[Any] | None,
    seed: int,
    rests_on: tuple[str, ...],
) -> OperatingPoint:
    """Measure a decision on labelled rows; ``own`` are the model's own probabilities."""
    names = [str(name) for name in classes]
    k = len(names)
    kinds = _named(decision, names)
    if groups is None:
        of_classes = _of_counts(predicted, labels, k, kinds, confidence, rests_on)
    else:
        of_classes = _of_rows(predicted, labels, k, kinds, confidence, groups, rests_on)
    mistakes = of_classes.pop("mistake")
    estimates = {
        f"{measure}[{name}]": found
        for measure, column in of_classes.items()
        for name, found in zip(names, column, strict=True)
        if found.n and (k <= _MOST_CLASSES or _mentioned(decision, name))
    }
    for (i, j), found in zip(kinds, mistakes, strict=True):
        if found.n:
            estimates[f"mistake[{names[i]} -> {names[j]}]"] = found
    claims: tuple[Claim, ...] = ()
    if decision.costs:
        cost = decision.matrix(names)
        costs, claims = _costs(
            own, predicted, labels, names, cost, confidence, groups, seed, rests_on
        )
        estimates |= costs
    if decision.threshold:
        rule = ", ".join(f"{name} from {100 * t:g} % on" for name, t in decision.threshold.items())
        claims = (Claim(f"The decision that is judged answers {rule}, not the likeliest."), *claims)
    frame = pd.DataFrame(
        {
            f"{measure}{end}": [getattr(e, attribute) for e in column]
            for measure, column in of_classes.items()
            for end, attribute in (("", "value"), (" low", "low"), (" high", "high"))
        },
        index=pd.Index(names, name="class"),
    )
    return OperatingPoint(estimates, frame, claims)


def _of_counts(
    predicted: IntArray,
    labels: IntArray,
    k: int,
    kinds: Sequence[tuple[int, int]],
    confidence: float,
    rests_on: tuple[str, ...],
) -> dict[str, list[Estimate]]:
    """Recall, specificity, precision of each class and each kind of mistake, from their counts."""
    counts = np.bincount(labels * k + predicted, minlength=k * k).reshape(k, k)
    own, said, right = counts.sum(axis=1), counts.sum(axis=0), counts.diagonal()
    n = len(labels)
    pairs = {
        "recall": (right, own),
        "specificity": (n - own - said + right, n - own),
        "precision": (right, said),
        "mistake": ([counts[i, j] for i, j in kinds], [own[i] for i, _ in kinds]),
    }
    return {
        measure: exact_shares(*pair, confidence, simultaneous=True, rests_on=rests_on)
        for measure, pair in pairs.items()
    }


def _of_rows(
    predicted: IntArray,
    labels: IntArray,
    k: int,
    kinds: Sequence[tuple[int, int]],
    confidence: float,
    groups: NDArray[Any],
    rests_on: tuple[str, ...],
) -> dict[str, list[Estimate]]:
    """The same where rows of one group belong together: each row counts with its group."""
    truth, said = (np.eye(k, dtype=bool)[values] for values in (labels, predicted))
    right = predicted == labels
    sets = {
        "recall": (right, truth),
        "specificity": (~said, ~truth),
        "precision": (right, said),
        "mistake": (said[:, [j for _, j in kinds]], truth[:, [i for i, _ in kinds]]),
    }
    return {
        measure: simultaneous_shares(*pair, confidence, groups=groups, rests_on=rests_on)
        for measure, pair in sets.items()
    }


def _costs(
    own: Probabilities,
    predicted: IntArray,
    labels: IntArray,
    names: list[str],
    cost: FloatArray,
    confidence: float,
    groups: NDArray[Any] | None,
    seed: int,
    rests_on: tuple[str, ...],
) -> tuple[dict[str, Estimate], tuple[Claim, ...]]:
    """What the present rule costs, and the cheapest threshold on rows that did not choose it."""
    highest = float(cost.max()) or 1.0

    def mean(values: FloatArray, rows: Any, low: float = 0.0) -> Estimate:
        return mean_cost(
            values[rows],
            (low, highest),
            confidence,
            groups=None if groups is None else groups[rows],
            seed=seed,
            rests_on=rests_on,
        )

    now = cost[labels, predicted]
    found = {"expected_cost": mean(now, slice(None))}
    first = random_half(len(labels), groups, seed, "cheapest threshold")
    if len(labels) < _FEWEST_ROWS or not first.any():
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


def _mentioned(decision: Decision, name: str) -> bool:
    sides = {side.strip() for key in decision.costs for side in key.split("->")}
    return name in sides or name in decision.threshold


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
