"""Conservative Bayesian inference: the worst posterior that a partly stated prior allows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from fireassay.core import Assumption, Chart, Estimate, NotEnoughEvidenceError
from fireassay.core.drawing import axis, curves
from fireassay.core.lazy import pd
from fireassay.core.validation import check_integer, check_real
from fireassay.reliability.label_bounds import exact_estimates, exact_limits, exact_row
from fireassay.reliability.ledger import full_ledger
from fireassay.reliability.problem import Problem, too_few_labels
from fireassay.reliability.result import LABELS, Details, ReliabilityResult, build_result


@dataclass(frozen=True)
class ConservativePrior:
    """What is believed before testing: ``P(pmi <= epsilon) = theta`` and ``pmi >= floor``.

    Nothing else is assumed; among all priors with these properties the least favourable counts.
    With at least one failure a floor above zero is needed, and has to be argued for.

    Args:
        epsilon, theta: The pmi is at most ``epsilon`` with probability ``theta``, both in (0, 1).
        floor: The smallest pmi there can be, in [0, epsilon].

    >>> weak, strong = ConservativePrior(theta=0.5), ConservativePrior(theta=0.9)
    >>> conservative_upper(0, 500, strong, 0.95) < conservative_upper(0, 500, weak, 0.95)
    True
    """

    epsilon: float = 1e-3
    theta: float = 0.5
    floor: float = 0.0

    def __post_init__(self) -> None:
        check_real(self.epsilon, "epsilon", low=0, high=1)
        check_real(self.theta, "theta", low=0, high=1)
        check_real(self.floor, "floor", low=0, high=self.epsilon, inclusive="both")


@dataclass(frozen=True)
class ConservativeBound(Details):
    """The prior, and how much of the answer it decides.

    Attributes:
        std: Standard error of the error rate.
        sensitivity: The bound against the assumed floor and theta.

    >>> from fireassay.reliability import assess
    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = np.linspace(0.01, 0.99, 98)[:, None]
    >>> bound = assess(half, X, X[:, 0] > 0.5, method=ConservativeBayes()).details
    >>> bound.prior, sorted(bound.sensitivity)
    (ConservativePrior(epsilon=0.001, theta=0.5, floor=0.0), ['floor', 'pmi_upper', 'theta'])
    """

    prior: ConservativePrior
    std: float
    sensitivity: pd.DataFrame

    how: ClassVar[str] = "conservative Bayesian inference"

    @property
    def rests_on(self) -> tuple[str, ...]:
        """On the labels, and on the prior."""
        return ("prior-belief", *LABELS)

    def headline(self, result: ReliabilityResult) -> str:
        """The bound, or that there is none."""
        if result.pmi_upper < 1:
            return super().headline(result)
        return f"No claim below 100 % without a justified floor ({result.counted})."

    def estimates(self, result: ReliabilityResult) -> dict[str, Estimate]:
        """The bound from the prior; the lower one needs none."""
        return {**super().estimates(result), "pmi_lower": exact_estimates(result)["pmi_lower"]}

    def charts(self, result: ReliabilityResult) -> dict[str, Chart]:  # noqa: ARG002
        """The bound against the assumed floor, one line per theta."""
        lines = {
            f"P(pmi ≤ ε) = {theta:g}": (rows["floor"], rows["pmi_upper"])
            for theta, rows in self.sensitivity[self.sensitivity["floor"] > 0].groupby("theta")
        }
        spec = curves(
            lines,
            {"axis": axis("assumed smallest pmi (floor)"), "scale": {"type": "log"}},
            {"axis": axis("wrong in the field, at most", "share")},
            points=True,
            height=220,
        )
        caption = "What the prior decides: the bound against the assumed floor."
        return {"sensitivity": Chart(spec, caption, "A line for each strength of the belief.")}


@dataclass(frozen=True)
class ConservativeBayes:
    """The worst posterior that a partly stated prior allows.

    Args:
        prior: What is believed before testing.

    >>> from fireassay.reliability import assess
    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = np.linspace(0.01, 0.99, 99)[:, None]
    >>> found = assess(half, X, X[:, 0] > 0.49, method=ConservativeBayes())  # one error
    >>> found.pmi_upper  # an error, and no floor: nothing can be claimed
    1.0
    """

    prior: ConservativePrior = field(default_factory=ConservativePrior)

    name: ClassVar[str] = "conservative-bayes"
    summary: ClassVar[str] = "the worst posterior of a partly stated prior; holds given that prior"
    uses: ClassVar[tuple[str, ...]] = ()

    def run(self, problem: Problem) -> ReliabilityResult:
        """Bound the pmi."""
        prior, confidence = self.prior, problem.confidence
        n, errors = len(problem.y), problem.errors
        rate = errors / n
        believed = f"P(pmi ≤ {prior.epsilon:g}) = {prior.theta:g}"
        notes = [
            f"Prior: {believed}, pmi ≥ {prior.floor:g}.",
            "The prior has to be argued for; see the sensitivity table.",
            *too_few_labels(n, confidence),
        ]
        try:
            upper = conservative_upper(errors, n, prior, confidence)
        except NotEnoughEvidenceError as refusal:
            upper = 1.0
            notes.insert(0, str(refusal))
        belief = Assumption(
            f"Before testing, {believed} and pmi ≥ {prior.floor:g}.",
            "untestable",
            "A prior belief; the data cannot confirm it.",
            "prior-belief",
        )
        std = float(np.sqrt(rate * (1 - rate) / n))
        own = ("conservative Bayes", rate, upper, "holds given the prior")
        return build_result(
            problem,
            self.name,
            ConservativeBound(prior, std, sensitivity(errors, n, prior, confidence)),
            limits=(exact_limits(errors, n, confidence)[0], rate, max(upper, rate)),
            comparison=[own, exact_row(problem)],
            assumptions=(belief, *full_ledger(problem)),
            notes=tuple(notes),
        )


def posterior_confidence(p: float, failures: int, n: int, prior: ConservativePrior) -> float:
    """A lower limit on the posterior probability that the pmi is at most p; 0 below epsilon."""
    # theta L(x1) / (theta L(x1) + (1 - theta) L(x2)) with L(x) = x^k (1-x)^(n-k): x1 is the one of
    # floor and epsilon with the smaller likelihood, x2 = max(p, k/n).
    if p < prior.epsilon:
        return 0.0
    if p >= 1:
        return 1.0
    inside = min(_log_likelihood(x, failures, n) for x in (prior.floor, prior.epsilon))
    if inside == -math.inf:
        return 0.0
    outside = _log_likelihood(max(p, failures / n if n else 0.0), failures, n)
    odds = math.log(prior.theta) + inside - math.log1p(-prior.theta) - outside
    return float(1 / (1 + math.exp(-odds))) if odds > -700 else 0.0


def conservative_upper(
    failures: int, n: int, prior: ConservativePrior, confidence: float = 0.975
) -> float:
    """The smallest p with this conservative posterior confidence in pmi <= p.

    Args:
        failures, n: Wrong answers among so many.
        prior: What is believed before testing.
        confidence: In (0, 1).

    Raises:
        NotEnoughEvidenceError: With failures and a prior without a floor: then no p below one can
            be claimed.

    >>> prior = ConservativePrior(epsilon=1e-4, theta=0.9)
    >>> round(conservative_upper(0, 3000, prior, 0.95), 5)
    0.00035
    """
    check_integer(failures, "failures", low=0, high=n)
    check_real(confidence, "confidence", low=0, high=1)
    if failures and prior.floor == 0:
        raise NotEnoughEvidenceError(
            "After failures, a conservative Bayesian claim needs a justified floor above zero.",
            got=f"{failures} failures in {n} and floor=0, which supports no claim below 1",
            do="Argue for a smallest possible pmi: prior=ConservativePrior(..., floor=...).",
        )
    if posterior_confidence(prior.epsilon, failures, n, prior) >= confidence:
        return prior.epsilon
    low, high = max(prior.epsilon, failures / n if n else 0.0), 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if posterior_confidence(middle, failures, n, prior) >= confidence:
            high = middle
        else:
            low = middle
    return high


def sensitivity(
    failures: int, n: int, prior: ConservativePrior, confidence: float = 0.975
) -> pd.DataFrame:
    """The bound against the assumed floor and against theta: how much the prior decides."""
    rows = []
    for floor in prior.epsilon * np.logspace(-4, 0, 9):
        for theta in (0.1, 0.5, 0.9, 0.99):
            assumed = ConservativePrior(prior.epsilon, theta, float(floor))
            rows.append((float(floor), theta, conservative_upper(failures, n, assumed, confidence)))
    return pd.DataFrame(rows, columns=["floor", "theta", "pmi_upper"])


def _log_likelihood(x: float, failures: int, n: int) -> float:
    total = 0.0
    if failures:
        total += failures * math.log(x) if x > 0 else -math.inf
    if n - failures:
        total += (n - failures) * math.log1p(-x) if x < 1 else -math.inf
    return total
