"""Conservative Bayesian inference: the worst posterior that a partly stated prior allows."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fireassay.core.errors import NotEnoughEvidenceError, ParameterError
from fireassay.core.validation import check_integer, check_real


@dataclass(frozen=True)
class ConservativePrior:
    """What is believed before testing: ``P(pmi <= epsilon) = theta`` and ``pmi >= floor``.

    Nothing else is assumed; among all priors with these properties the least favourable counts.
    With at least one failure a floor above zero is needed, and has to be argued for.
    """

    epsilon: float = 1e-3
    theta: float = 0.5
    floor: float = 0.0

    def __post_init__(self) -> None:
        check_real(self.epsilon, "epsilon", low=0, high=1)
        check_real(self.theta, "theta", low=0, high=1)
        check_real(self.floor, "floor", low=0, high=self.epsilon, inclusive="both")


def posterior_confidence(p: float, failures: int, n: int, prior: ConservativePrior) -> float:
    """A lower limit on the posterior probability that the pmi is at most p.

    Notes
    -----
    ``theta L(x1) / (theta L(x1) + (1 - theta) L(x2))`` with L(x) = x^k (1-x)^(n-k), x1 the one of
    floor and epsilon with the smaller likelihood, x2 = max(p, k/n). Zero below epsilon.
    """
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


def conservative_upper(failures: int, n: int, prior: ConservativePrior, alpha: float) -> float:
    """The smallest p with conservative posterior confidence ``1 - alpha`` in pmi <= p.

    Raises
    ------
    NotEnoughEvidenceError
        With failures and a prior without a floor: then no p below one can be claimed.

    >>> prior = ConservativePrior(epsilon=1e-4, theta=0.9)
    >>> round(conservative_upper(0, 3000, prior, 0.05), 5)
    0.00035
    """
    check_integer(failures, "failures", low=0, high=n)
    check_real(alpha, "alpha", low=0, high=1)
    if failures and prior.floor == 0:
        raise NotEnoughEvidenceError(
            "After failures, a conservative Bayesian claim needs a justified floor above zero.",
            got=f"{failures} failures in {n} and floor=0, which supports no claim below 1",
            do="Argue for a smallest possible pmi: prior=ConservativePrior(..., floor=...).",
        )
    if posterior_confidence(prior.epsilon, failures, n, prior) >= 1 - alpha:
        return prior.epsilon
    low, high = max(prior.epsilon, failures / n if n else 0.0), 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if posterior_confidence(middle, failures, n, prior) >= 1 - alpha:
            high = middle
        else:
            low = middle
    return high


def sensitivity(
    failures: int, n: int, prior: ConservativePrior, alpha: float, floors: int = 9
) -> pd.DataFrame:
    """The bound against the assumed floor and against theta: how much the prior decides."""
    if prior.epsilon <= 0:
        raise ParameterError("The prior's epsilon must be positive.", got=repr(prior.epsilon))
    rows = []
    for floor in prior.epsilon * np.logspace(-4, 0, floors):
        for theta in (0.1, 0.5, 0.9, 0.99):
            assumed = ConservativePrior(prior.epsilon, theta, float(floor))
            rows.append((float(floor), theta, conservative_upper(failures, n, assumed, alpha)))
    return pd.DataFrame(rows, columns=["floor", "theta", "pmi_upper"])


def _log_likelihood(x: float, failures: int, n: int) -> float:
    total = 0.0
    if failures:
        total += failures * math.log(x) if x > 0 else -math.inf
    if n - failures:
        total += (n - failures) * math.log1p(-x) if x < 1 else -math.inf
    return total
