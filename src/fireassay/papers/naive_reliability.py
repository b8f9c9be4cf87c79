"""The reliability paper's own strawman: the mean local unastuteness of the test rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.stats import norm

from fireassay.core.errors import NotEnoughEvidenceError
from fireassay.core.estimate import Estimate
from fireassay.core.seeds import derived_seed
from fireassay.core.validation import check_real
from fireassay.reliability.label_bounds import exact_estimates, exact_row
from fireassay.reliability.ledger import full_ledger, separation_of
from fireassay.reliability.problem import Problem
from fireassay.reliability.rare_events import MonteCarlo, map_boxes
from fireassay.reliability.result import Details, ReliabilityResult, build_result
from fireassay.reliability.splitting import ball_problem

_MOST_QUERIES = 2_000_000


@dataclass(frozen=True)
class LocalUnastuteness(Details):
    """Balls of this radius, with so many draws each, and the standard error over rows."""

    radius: float
    draws: int
    std: float

    how: ClassVar[str] = "mean local unastuteness of the test rows"

    def headline(self, result: ReliabilityResult) -> str:
        """The number, and that it is not a bound."""
        return (
            f"Around the test rows {result.pmi:.3g} of points are misclassified: this smears the "
            f"test error, and is not a bound ({result.counted})."
        )

    def estimates(self, result: ReliabilityResult) -> dict[str, Estimate]:
        """Only the bounds that hold."""
        return exact_estimates(result)


@dataclass(frozen=True)
class Naive:
    """Average the failure probability of a small ball around every test row.

    The number looks like a reliability estimate, but it only smears each test row a little: it
    says no more than the test error. A method for `fireassay.reliability.assess`.

    Args:
        radius: Of the balls (L∞); from r-separation if None.
        samples: Most draws per ball.
    """

    radius: float | None = None
    samples: int = 10_000

    name: ClassVar[str] = "naive"
    summary: ClassVar[str] = "mean local error around the test rows, for comparison; claims nothing"
    uses: ClassVar[tuple[str, ...]] = ()

    def run(self, problem: Problem) -> ReliabilityResult:
        """Sample a ball around every test row."""
        radius = self._radius(problem)
        n = len(problem.y)
        draws = int(np.clip(_MOST_QUERIES // n, 10, self.samples))
        rows = problem.labelled.X.reshape(n, *problem.row_shape)
        margin, low, high = ball_problem(problem.model, rows, radius)
        seed = derived_seed(problem.seed, "naive")
        found = map_boxes(MonteCarlo(draws), margin, low, high, problem.y, seed, problem.workers)
        local = np.exp(found.log_p)
        pmi = float(local.mean())
        std = float(local.std(ddof=1) / np.sqrt(n)) if n > 1 else 1.0
        upper = min(1.0, pmi + float(norm.isf(problem.alpha)) * std)
        why = "none: normal approximation over test rows"
        return build_result(
            problem,
            self.name,
            LocalUnastuteness(radius, draws, std),
            limits=(0.0, pmi, upper),
            comparison=[("mean local unastuteness", pmi, upper, why), exact_row(problem)],
            assumptions=full_ledger(problem),
            notes=(f"Balls of radius {radius:.3g} (L∞), {draws} draws each.",),
            is_bound=False,
        )

    def _radius(self, problem: Problem) -> float:
        if self.radius is not None:
            return check_real(self.radius, "radius", low=0)
        separation = separation_of(problem)
        if separation is None or separation.r <= 0:
            raise NotEnoughEvidenceError(
                "Method 'naive' takes its ball radius from the distance between two classes.",
                got="one class, or equal rows of two classes",
                do="Pass radius=.",
            )
        return separation.r
