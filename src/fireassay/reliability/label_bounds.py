"""Error bounds from labels alone: exact for independent rows, and for groups."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fireassay.core.errors import deprecated
from fireassay.core.estimate import Estimate
from fireassay.core.groups import Groups, largest_group
from fireassay.reliability.ledger import full_ledger
from fireassay.reliability.measures import LARGEST, RARE
from fireassay.reliability.problem import Problem, too_few_labels
from fireassay.reliability.result import (
    FROM_THE_FIELD,
    LABELS,
    Details,
    ReliabilityResult,
    build_result,
)
from fireassay.statistics.counts import clopper_pearson
from fireassay.statistics.groups.group_bound import group_lower, group_upper
from fireassay.statistics.groups.group_counts import GroupCounts, effective_rows
from fireassay.statistics.groups.groups_max import groups_max_upper

_GROUPS = (FROM_THE_FIELD, "independent-groups", LARGEST, "labels-right")
_BOUND = "groups-any"


@dataclass(frozen=True)
class GroupedBound(Details):
    """A bound that counts groups, whatever their sizes and rates.

    Attributes:
        groups: How many there are.
        effective_n: How many independent rows would say as much.

    >>> GroupedBound(groups=40, effective_n=120.0).how
    'groups-any'
    """

    groups: int
    effective_n: float

    how: ClassVar[str] = _BOUND

    @property
    def rests_on(self) -> tuple[str, ...]:
        """Groups instead of rows must be independent, and none larger than it is said."""
        return _GROUPS

    def counted(self, result: ReliabilityResult) -> str:
        """Rows, groups, and what they are worth."""
        return (
            f"{super().counted(result)} of {self.groups} groups, "
            f"worth {self.effective_n:.0f} independent ones"
        )

    def estimates(self, result: ReliabilityResult) -> dict[str, Estimate]:
        """The bounds, and beside n what it is worth."""
        n = result.n_labels
        worth = Estimate.point(self.effective_n, n, f"jackknife over {self.groups} groups")
        return {**super().estimates(result), "effective_n": worth}


@dataclass(frozen=True)
class GroupsMaxBound(GroupedBound):
    """A bound that counts groups, if no rare one is far worse than those seen.

    >>> GroupsMaxBound(groups=40, effective_n=120.0).how
    'groups-max'
    """

    how: ClassVar[str] = "groups-max"

    @property
    def rests_on(self) -> tuple[str, ...]:
        """Also on what no data shows: that there is no such group."""
        return (*_GROUPS, RARE)


@dataclass(frozen=True)
class GroupsMax:
    """A shorter bound for rows that belong together, if no rare group is far worse than those seen.

    No limit is kept by it alone, unless somebody accepts the assumption ``rare-groups`` by name.

    >>> from fireassay import as_classifier, reliability
    >>> model = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1])
    >>> X, patient = np.random.default_rng(0).random((400, 1)), np.arange(400) // 4
    >>> found = [
    ...     reliability.assess(model, X, X[:, 0] > 0.5, method=method, groups=patient).pmi_upper
    ...     for method in (GroupsMax(), Exact())
    ... ]
    >>> [round(upper, 3) for upper in found]
    [0.022, 0.036]
    """

    name: ClassVar[str] = "groups-max"
    summary: ClassVar[str] = "of groups, approximate: if no rare group is far worse than those seen"
    uses: ClassVar[tuple[str, ...]] = ("groups",)

    def run(self, problem: Problem) -> ReliabilityResult:
        """Bound the pmi."""
        if problem.groups is None:
            problem = replace(problem, groups=np.arange(len(problem.y)))
        return assess_groups(problem, self.name)


@dataclass(frozen=True)
class GroupsBetting:
    """Counts groups as `Exact` does now; gone in 0.5.

    >>> GroupsBetting(largest_group=4).name
    'groups-betting'
    """

    largest_group: int | None = None

    name: ClassVar[str] = "groups-betting"
    summary: ClassVar[str] = "use exact with Groups(…, largest=)"
    uses: ClassVar[tuple[str, ...]] = ("groups",)

    @deprecated("reliability.Exact with Groups(…, largest=)", gone_in="0.5")
    def run(self, problem: Problem) -> ReliabilityResult:
        """Bound the pmi."""
        rows = np.arange(len(problem.y)) if problem.groups is None else problem.groups
        return assess_groups(replace(problem, groups=Groups(rows, self.largest_group)), self.name)


def assess_groups(problem: Problem, name: str) -> ReliabilityResult:
    """What `Exact` and `Rectified` answer when rows belong together: labels alone, by groups."""
    assert problem.groups is not None
    counts, n, alpha = GroupCounts.of(problem.wrong, problem.groups), len(problem.y), problem.alpha
    rate, largest = counts.share, largest_group(problem.groups)
    many, pair = len(counts.sizes), (counts.hits, counts.sizes, alpha, largest)
    alike = groups_max_upper(counts, alpha)
    if name == GroupsMax.name:
        low, upper = 1 - groups_max_upper(counts.swapped(), alpha), alike
    else:
        low, upper = group_lower(*pair), group_upper(*pair)
    of_rows = float(clopper_pearson(problem.errors, n, problem.confidence, "upper")[1])
    cap = int(counts.sizes.max()) if largest is None else largest
    claim = f"holds if groups are independent draws from the profile, none above {cap:,g} rows"
    notes = too_few_labels(many, problem.confidence)
    if problem.operational is not None:
        notes = ("With groups the bound rests on the labels alone.", *notes)
    return build_result(
        problem,
        name,
        (GroupsMaxBound if name == GroupsMax.name else GroupedBound)(many, effective_rows(counts)),
        limits=(min(low, rate), rate, max(upper, rate)),
        comparison=[
            (_BOUND, rate, group_upper(*pair), claim),
            (GroupsMax.name, rate, alike, "if no rare group is far worse than those seen"),
            ("Clopper-Pearson of rows", rate, of_rows, "only if rows do not belong together"),
        ],
        assumptions=full_ledger(problem),
        notes=notes,
    )


_NAME = "Clopper-Pearson"
_CLAIM = "holds if labels are independent draws from the profile"


@dataclass(frozen=True)
class ExactBound(Details):
    """The standard error of the error rate.

    Attributes:
        std: The root of ``p (1 - p) / n``.

    >>> from fireassay.reliability import assess
    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = (np.arange(100)[:, None] + 0.5) / 100
    >>> round(assess(half, X, X[:, 0] > 0.4, method=Exact()).details.std, 3)  # 10 errors
    0.03
    """

    std: float

    how: ClassVar[str] = _NAME


@dataclass(frozen=True)
class Exact:
    """Clopper-Pearson on the labels alone.

    >>> from fireassay.reliability import assess
    >>> model = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> from fireassay import as_classifier
    >>> found = assess(as_classifier(model, classes=[0, 1]), X, X[:, 0] > 0.5, method=Exact())
    >>> round(found.pmi_upper, 4)
    0.0362
    """

    name: ClassVar[str] = "exact"
    summary: ClassVar[str] = "Clopper-Pearson on the labels alone; holds at any sample size"
    uses: ClassVar[tuple[str, ...]] = ("groups",)

    def run(self, problem: Problem) -> ReliabilityResult:
        """Bound the pmi; with groups, by counting these."""
        if problem.groups is not None:
            return assess_groups(problem, self.name)
        rate, n = problem.errors / len(problem.y), len(problem.y)
        low, upper = exact_limits(problem.errors, n, problem.confidence)
        return build_result(
            problem,
            self.name,
            ExactBound(float(np.sqrt(rate * (1 - rate) / n))),
            limits=(low, rate, upper),
            comparison=[exact_row(problem)],
            assumptions=full_ledger(problem),
            notes=too_few_labels(n, problem.confidence),
        )


def exact_limits(errors: int, n: int, confidence: float) -> tuple[float, float]:
    """Lower and upper limit, each one-sided at this confidence."""
    low = clopper_pearson(errors, n, confidence, "lower")[0]
    return float(low), float(clopper_pearson(errors, n, confidence, "upper")[1])


def exact_row(problem: Problem) -> tuple[str, float, float, str]:
    """Clopper-Pearson on the labels, for comparison."""
    n = len(problem.judged[1])
    upper = exact_limits(problem.errors, n, problem.confidence)[1]
    return (_NAME, problem.errors / n, upper, _CLAIM)


def exact_estimates(result: ReliabilityResult) -> dict[str, Estimate]:
    """The bounds that hold, beside the numbers of a method that claims nothing."""
    n, confidence = result.n_labels, result.confidence
    low, upper = exact_limits(result.n_errors, n, confidence)
    return {
        "pmi_upper": Estimate.bound(upper, confidence, n, _NAME, rests_on=LABELS),
        "pmi_lower": Estimate.bound(low, confidence, n, _NAME, rests_on=LABELS),
    }
