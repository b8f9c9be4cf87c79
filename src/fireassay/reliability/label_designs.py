"""How to spend a labelling budget: choose rows by risk, and still get an honest bound."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core import DataError, generator
from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.registry import Registry
from fireassay.core.validation import check_integer, check_real
from fireassay.statistics.bounds_from_draws import RectifiedValues, betting_upper
from fireassay.statistics.counts import clopper_pearson

_POOL_SHARE = 0.9


@dataclass(frozen=True)
class DesignEstimate:
    """What labels say: bounds for the pool that was chosen from, and for its profile."""

    pmi: float
    std: float
    pool_upper: float
    pmi_upper: float
    n_labels: int


@dataclass(frozen=True)
class Design(ABC):
    """Rows of a pool to be labelled, and how to count them.

    Attributes:
        rows: Row numbers in the pool, in the order of drawing (a row can come more than once in an
            importance design: its label is bought once and counted each time).
        weights: Horvitz-Thompson weight of each draw.
        pool_size: Rows of the pool.
    """

    rows: IntArray
    weights: FloatArray
    pool_size: int

    def estimate(self, wrong: ArrayLike, confidence: float = 0.975) -> DesignEstimate:
        """Error rate and one-sided bounds: ``wrong[i]`` says whether draw i is an error.

        >>> design = importance_design([0.01] * 500 + [0.5] * 500, budget=200)
        >>> found = design.estimate(design.rows == 0)
        >>> found.pmi < found.pool_upper < found.pmi_upper  # of the draws, the pool, the field
        True
        """
        alpha = 1 - check_real(confidence, "confidence", low=0, high=1)
        values = np.asarray(wrong, dtype=np.float64)
        if values.shape != self.rows.shape or not np.isin(values, (0, 1)).all():
            raise DataError(
                f"wrong must be 0 or 1 for each of the {len(self.rows)} draws.",
                got=f"shape {values.shape}",
            )
        rate, std, upper = self.pool_bound(values, _POOL_SHARE * alpha)
        # The pool is itself a sample: at most so many of its rows are errors, out of pool_size.
        most = min(self.pool_size, int(np.floor(upper * self.pool_size)))
        wide = clopper_pearson(most, self.pool_size, 1 - (1 - _POOL_SHARE) * alpha, "upper")[1]
        return DesignEstimate(rate, std, upper, float(wide), len(self.rows))

    @abstractmethod
    def pool_bound(self, wrong: FloatArray, alpha: float) -> tuple[float, float, float]:
        """Error rate of the pool, its standard error and its upper bound at error alpha."""


@dataclass(frozen=True)
class ImportanceDesign(Design):
    """Draws with replacement; ``weight_bound`` is the largest weight any row could have had."""

    weight_bound: float

    def pool_bound(self, wrong: FloatArray, alpha: float) -> tuple[float, float, float]:
        """Betting on the weighted errors."""
        values = self.weights * wrong
        n = len(values)
        expected = 0.25 * float(self.weights.mean())
        game = RectifiedValues(values, np.full(n, self.weight_bound), expected)
        std = float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else 1.0
        return float(values.mean()), std, betting_upper(game, alpha)


def importance_design(
    risk: ArrayLike, budget: int, *, floor: float = 0.6, seed: int = 0
) -> ImportanceDesign:
    """Draw rows with probability growing with the square root of their guessed risk.

    Args:
        risk: Guessed probability of an error for each row of the pool (see the surrogates); a bad
            guess costs width, not validity.
        budget: Number of draws, with replacement.
        floor: Share of draws made uniformly: it limits every weight to ``1 / floor``.
        seed: Of the draws.

    >>> design = importance_design([0.01] * 99 + [0.81], budget=2000)
    >>> wrong = design.rows == 99  # in the pool one row of 100; drawn about 79 times
    >>> bool(wrong.sum() > 60), round(design.estimate(wrong).pmi, 2)
    (True, 0.01)
    """
    values = np.asarray(risk, dtype=np.float64)
    if values.ndim != 1 or len(values) < 1 or not np.isfinite(values).all():
        raise DataError(
            "risk must be one finite number per row of the pool.", got=f"{values.shape}"
        )
    check_integer(budget, "budget", low=1)
    check_real(floor, "floor", low=0, high=1, inclusive="high")
    root = np.sqrt(np.clip(values, 0, 1))
    n = len(values)
    shape = root / root.sum() if root.sum() > 0 else np.full(n, 1 / n)
    chance = (1 - floor) * shape + floor / n
    rows = generator(seed, "importance-design").choice(n, size=budget, p=chance / chance.sum())
    weights = 1 / (n * chance[rows])
    return ImportanceDesign(rows.astype(np.int64), weights, n, float(1 / (n * chance.min())))


@dataclass(frozen=True)
class LabelDesign:
    """A way to choose rows: ``draw(risk, budget, seed=0)`` gives a `Design`.

    Attributes:
        name, summary: How people choose it, and what it does.
        draw: E.g. `importance_design`.

    >>> len(DESIGNS["importance"].draw([0.1, 0.2, 0.3, 0.4, 0.5], 4).rows)
    4
    """

    name: str
    summary: str
    draw: Callable[..., Design]


DESIGNS = Registry(
    "label design",
    (
        LabelDesign(
            "importance",
            "rows at random, risky ones more often (Horvitz-Thompson weights)",
            importance_design,
        ),
    ),
)
