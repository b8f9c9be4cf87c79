"""Upper bounds on a mean from labels and a surrogate, valid at any sample size.

Each label gives one rectified value: its error, minus the surrogate's risk at that input, plus
the surrogate's mean over a fresh block of operational inputs. Whatever the surrogate, its
expectation is the probability of a misclassification; a good surrogate makes it vary little.
"""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.core.lazy_modules import stats
from fireassay.statistics.crossing import crossing

_LARGEST_STAKE = 0.8


@dataclass(frozen=True)
class RectifiedValues:
    """One value per label, in the order of the game.

    ``ceilings`` are the largest values that were possible at each step, known before it.
    ``expected_variance`` is a guess made without labels; a bad guess costs width, not validity.
    """

    values: FloatArray
    ceilings: FloatArray
    expected_variance: float = 0.25


def betting_upper(game: RectifiedValues, alpha: float) -> float:
    """Upper bound on the common mean of a sequence of values, by betting against larger means.

    A gambler who doubts the mean m wins ``1 + stake · (m - value)`` in each round. If m were the
    mean, the capital would reach ``1 / alpha`` with probability at most alpha (Ville), so all
    means at which it does are rejected (Waudby-Smith and Ramdas 2024).
    """
    stakes = _stakes(game, alpha)
    # Every round's win grows with m, and so does the best capital.
    return crossing(partial(_best_capital, game.values, stakes), math.log(1 / alpha))


@dataclass(frozen=True)
class Moments:
    """Count, mean and variance of numbers that are no longer there."""

    n: int = 0
    mean: float = 0.0
    variance: float = 0.0

    @classmethod
    def of(cls, values: FloatArray) -> "Moments":
        """Moments of an array."""
        return cls(len(values), float(values.mean()), float(values.var())) if len(values) else cls()

    def with_(self, other: "Moments") -> "Moments":
        """Moments of both together."""
        n = self.n + other.n
        if not n:
            return self
        share = other.n / n
        mean = self.mean + share * (other.mean - self.mean)
        between = share * (1 - share) * (other.mean - self.mean) ** 2
        inside = (1 - share) * self.variance + share * other.variance
        return Moments(n, mean, inside + between)


def ppi_interval(
    wrong: FloatArray, risk: FloatArray, risk_operational: FloatArray | Moments, alpha: float
) -> tuple[float, float, float]:
    """Prediction-powered estimate, its standard error and its normal upper bound.

    The surrogate is scaled by the factor that minimises the variance, so that a useless one does
    no harm. The bound is asymptotic: with few errors it covers less often than it says.
    """
    field = (
        risk_operational
        if isinstance(risk_operational, Moments)
        else Moments.of(np.asarray(risk_operational, dtype=np.float64))
    )
    n, N = len(wrong), field.n
    spread = Moments.of(risk).with_(field).variance
    factor = 0.0
    if spread > 0 and n > 1:
        covariance = float(np.cov(wrong, risk)[0, 1])
        factor = covariance / (spread * (1 + n / N))
    rest = wrong - factor * risk
    estimate = float(rest.mean() + factor * field.mean)
    error = math.sqrt(rest.var() / max(1, n - 1) + factor**2 * field.variance / N)
    return estimate, error, estimate + float(stats.norm.isf(alpha)) * error


def _stakes(game: RectifiedValues, alpha: float) -> FloatArray:
    """Tuned to the sample size, each from earlier values alone."""
    n = len(game.values)
    time = np.arange(1, n + 1)
    weight = 4.0
    mean = np.cumsum(game.values) / time
    spread = np.cumsum((game.values - mean) ** 2)
    variance = (weight * game.expected_variance + spread) / (time + weight)
    earlier = np.concatenate([[game.expected_variance], variance[:-1]])
    wanted = np.sqrt(2 * math.log(1 / alpha) / (n * np.maximum(earlier, 1e-12)))
    stakes: FloatArray = np.minimum(wanted, _LARGEST_STAKE / game.ceilings)
    return stakes


def _best_capital(values: FloatArray, stakes: FloatArray, mean: float) -> float:
    return float(np.cumsum(np.log1p(stakes * (mean - values))).max())
