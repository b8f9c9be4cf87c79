"""The mean time to failure of a fitted family, up to a horizon or without one."""

import math

import numpy as np

from fireassay.core.arrays import AnyArray
from fireassay.survival.error_distributions import ErrorDistribution

# Below this standardised log time nothing has failed, to rounding.
_LOWEST = -37.0
_PANELS = 48
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)


def mean_time(law: ErrorDistribution, location: AnyArray, scale: float, horizon: float) -> AnyArray:
    """∫₀ʰ S(t) dt for rows with log-time location η and a common scale.

    With z the standardised log time the integral is exp(η) ∫ σ exp(σz) S₀(z) dz, taken by
    Gauss-Legendre panels; without a horizon by the family's closed form.
    """
    unique, inverse = np.unique(location, return_inverse=True)
    if math.isinf(horizon):
        means = np.exp(unique) * law.mean_exponential(scale)
    else:
        means = np.array([_restricted(law, eta, scale, horizon) for eta in unique])
    return np.asarray(means[inverse.ravel()])


def _restricted(law: ErrorDistribution, eta: float, scale: float, horizon: float) -> float:
    end = (math.log(horizon) - eta) / scale
    if end <= _LOWEST:
        return horizon
    # Where the survival law has died out, a longer horizon adds nothing that counts.
    edges = np.linspace(_LOWEST, end, _PANELS + 1)
    half = 0.5 * (edges[1] - edges[0])
    z = (0.5 * (edges[:-1] + edges[1:])[:, None] + half * _NODES[None, :]).ravel()
    weights = np.tile(_WEIGHTS * half, _PANELS)
    logs = eta + scale * z + law.log_survival(z) + math.log(scale)
    before = math.exp(min(eta + scale * _LOWEST, 700.0))
    return before + float(weights @ np.exp(np.minimum(logs, 700.0)))
