"""The number of successes in independent trials with unequal probabilities."""

import math

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.errors import DataError
from fireassay.core.validation import check_real
from fireassay.statistics.samples import FloatVector, check_sample


def poisson_binomial_tail(probabilities: ArrayLike, at_least: float) -> float:
    """P(S >= at_least) for a sum S of independent Bernoulli variables, exact to rounding.

    Parameters
    ----------
    probabilities
        Success probability of each trial, in [0, 1]; none at all means S = 0.
    at_least
        Threshold; a fraction is rounded up.

    Returns
    -------
    float
        In [0, 1].

    Notes
    -----
    The distribution is built by direct convolution. All terms are positive, so that even a tail
    of 1e-200 has full relative accuracy, which a Fourier transform does not give.

    >>> round(poisson_binomial_tail([0.5, 0.5, 0.5], 2), 12)
    0.5
    """
    chances = check_sample(probabilities, "probabilities", min_rows=0)
    threshold = math.ceil(check_real(at_least, "at_least"))
    if (chances < 0).any() or (chances > 1).any():
        bad = chances[(chances < 0) | (chances > 1)][0]
        raise DataError("probabilities must be in [0, 1].", got=f"{bad}")
    if threshold <= 0:
        return 1.0
    if threshold > len(chances):
        return 0.0
    tail = np.sort(_distribution(chances)[threshold:])
    return min(1.0, float(math.fsum(tail)))


def _distribution(chances: FloatVector) -> FloatVector:
    """Probabilities of 0, 1, …, n successes, halves combined by convolution."""
    if len(chances) <= 32:
        mass = np.ones(1)
        for chance in chances:
            grown = np.zeros(len(mass) + 1)
            grown[:-1] = mass * (1.0 - chance)
            grown[1:] += mass * chance
            mass = grown
        return mass
    middle = len(chances) // 2
    return np.convolve(_distribution(chances[:middle]), _distribution(chances[middle:]))
