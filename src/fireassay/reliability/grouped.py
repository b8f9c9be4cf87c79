"""Labels that belong together: bounds that count patients, devices or documents, not rows."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fireassay.core.estimate import Estimate
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer
from fireassay.reliability.ledger import SIZES, full_ledger, unrelated_sizes
from fireassay.reliability.problem import Problem, too_few_labels
from fireassay.reliability.result import FROM_THE_FIELD, Details, ReliabilityResult, build_result
from fireassay.statistics.clopper_pearson import clopper_pearson
from fireassay.statistics.grouped_share import (
    GroupCounts,
    effective_rows,
    groups_betting_upper,
    upper_share,
)

_GROUPS = (FROM_THE_FIELD, "independent-groups", "labels-right")


@dataclass(frozen=True)
class GroupedBound(Details):
    """A bound that counts groups, approximate where sizes say nothing about rates.

    Attributes
    ----------
    groups
        How many there are.
    effective_n
        How many independent rows would say as much.

    >>> GroupedBound(groups=40, effective_n=120.0).how
    'groups-max, approximate'
    """

    groups: int
    effective_n: float

    how: ClassVar[str] = "groups-max, approximate"

    @property
    def rests_on(self) -> tuple[str, ...]:
        """Groups instead of rows must be independent, and their sizes unrelated to their rates."""
        return (*_GROUPS, SIZES)

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
class ProvenGroupedBound(GroupedBound):
    """A bound that counts groups and holds whatever their sizes have to do with their rates.

    >>> ProvenGroupedBound(groups=40, effective_n=120.0).how
    'groups-betting'
    """

    how: ClassVar[str] = "groups-betting"

    @property
    def rests_on(self) -> tuple[str, ...]:
        """Groups must be independent."""
        return _GROUPS


@dataclass(frozen=True)
class GroupsBetting:
    """A bound for rows that belong together, proven for any size and any dependence.

    Wider than what the other methods give with ``groups``, which is approximate.

    Parameters
    ----------
    largest_group
        The most rows a group can have, declared before the data is seen. Not given: the largest
        group seen is taken for it, and the result says so. Without groups every row stands for
        itself.

    >>> from fireassay import as_classifier, reliability
    >>> model = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1])
    >>> X = np.random.default_rng(0).random((400, 1))
    >>> method = GroupsBetting(largest_group=4)
    >>> patient = np.arange(400) // 4
    >>> found = reliability.assess(model, X, X[:, 0] > 0.5, method=method, groups=patient)
    >>> round(found.pmi_upper, 3)
    0.038
    """

    largest_group: int | None = None

    name: ClassVar[str] = "groups-betting"
    summary: ClassVar[str] = "bets group by group; holds for groups of any size and dependence"
    uses: ClassVar[tuple[str, ...]] = ("groups",)

    def run(self, problem: Problem) -> ReliabilityResult:
        """Bound the pmi."""
        if problem.groups is None:
            problem = replace(problem, groups=np.arange(len(problem.y)))
        declared, seen = self.largest_group, int(_counts(problem).sizes.max())
        largest = seen if declared is None else declared
        check_integer(largest, "largest_group", low=1)
        claim, notes = _largest_seen(seen) if declared is None else ("", ())
        limits = _betting(problem, largest)
        claim = f"holds if groups are independent draws from the profile{claim}"
        return _result(problem, self.name, ProvenGroupedBound, limits, claim, notes)


def assess_groups(problem: Problem, name: str) -> ReliabilityResult:
    """What `Exact` and `Rectified` answer when rows belong together: labels alone, by groups.

    Where sizes are related to rates, the approximate bound misses too often and the betting bound
    is taken, with the largest group seen as the largest possible one. The test that decides it has
    little power with a few dozen groups, so that the whole stays approximate (docs/intervals.md).
    """
    counts = _counts(problem)
    limits = (
        1 - upper_share(counts.swapped(), problem.alpha),
        upper_share(counts, problem.alpha),
    )
    claim = "approximate, if groups are independent draws from the profile"
    if unrelated_sizes(counts).status != "contradicted":
        return _result(problem, name, GroupedBound, limits, claim)
    largest = int(counts.sizes.max())
    low, upper = _betting(problem, largest)
    more, notes = _largest_seen(largest)
    why = "A group's size is related to its error rate: groups-betting is used."
    wider = min(low, limits[0]), max(upper, limits[1])
    return _result(problem, name, ProvenGroupedBound, wider, claim + more, (why, *notes))


def _largest_seen(rows: int) -> tuple[str, tuple[str, ...]]:
    """What a claim rests on where the largest possible group was not declared, and what to do."""
    if rows == 1:
        return "", ()
    note = (
        f"The largest group seen, {rows:,} rows, is taken as the largest possible one. Declare it "
        "beforehand with GroupsBetting(largest_group=…)."
    )
    return f", and none has more than {rows:,} rows", (note,)


def _counts(problem: Problem) -> GroupCounts:
    assert problem.groups is not None
    return GroupCounts.of(problem.wrong, problem.groups)


def _betting(problem: Problem, largest: int) -> tuple[float, float]:
    """Lower and upper limit; the order of the groups is drawn, so that it knows no errors."""
    assert problem.groups is not None
    _, member = np.unique(problem.groups, return_inverse=True)
    drawn = generator(problem.seed, "order of groups").permutation(int(member.max()) + 1)
    rows = np.argsort(drawn[member.ravel()], kind="stable")
    wrong, together = problem.wrong[rows], member.ravel()[rows]
    confidence = problem.confidence
    upper = groups_betting_upper(wrong, together, confidence, largest)
    return 1 - groups_betting_upper(1 - wrong, together, confidence, largest), upper


def _result(
    problem: Problem,
    name: str,
    kind: type[GroupedBound],
    limits: tuple[float, float],
    claim: str,
    notes: tuple[str, ...] = (),
) -> ReliabilityResult:
    counts = _counts(problem)
    rate, n = counts.share, len(problem.y)
    low, upper = min(limits[0], rate), max(limits[1], rate)
    of_rows = float(clopper_pearson(problem.errors, n, problem.confidence, "upper")[1])
    if problem.operational is not None:
        notes = (*notes, "With groups the bound rests on the labels alone.")
    return build_result(
        problem,
        name,
        kind(len(counts.sizes), effective_rows(counts)),
        pmi=rate,
        low=low,
        upper=upper,
        comparison=[
            (kind.how, rate, upper, claim),
            ("Clopper-Pearson of rows", rate, of_rows, "only if rows do not belong together"),
        ],
        assumptions=full_ledger(problem),
        notes=(*notes, *too_few_labels(len(counts.sizes), problem.confidence)),
    )
