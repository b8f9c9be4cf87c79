"""The labels alone: the exact binomial bound, which needs no operational rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.estimate import Estimate
from fireassay.reliability.grouped import assess_groups
from fireassay.reliability.ledger import full_ledger
from fireassay.reliability.problem import Problem, too_few_labels
from fireassay.reliability.result import LABELS, Details, ReliabilityResult, build_result
from fireassay.statistics.clopper_pearson import clopper_pearson

_NAME = "Clopper-Pearson"
_CLAIM = "holds if labels are independent draws from the profile"


@dataclass(frozen=True)
class ExactBound(Details):
    """The standard error of the error rate.

    Attributes
    ----------
    std
        The root of ``p (1 - p) / n``.

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
            pmi=rate,
            low=low,
            upper=upper,
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
