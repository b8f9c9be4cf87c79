"""The share of samples that never falls: a mixture of those and a Weibull law for the others."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import AnyArray
from fireassay.core.estimate import Estimate
from fireassay.core.lazy_modules import optimize, special, stats
from fireassay.survival.times import Times, check_events

FEWEST_FAILURES = 10
_LEAST = 1e-12


@dataclass(frozen=True)
class CureModel:
    """A fitted mixture: S(t) = π + (1 − π) exp(−(t/b)^a).

    Attributes
    ----------
    never_falls
        π with its profile-likelihood interval; a point where rows belong together.
    mean_time
        Mean time to failure of the samples that do fall.
    """

    never_falls: Estimate
    mean_time: float


def fit_cure_model(times: Times, confidence: float = 0.95, *, grouped: bool = False) -> CureModel:
    """Fit the mixture by maximum likelihood.

    What π says rests on the law of the others: samples that fall long after the last time watched
    look like samples that never do, so that π is at most the share still standing and may be 0.

    Raises
    ------
    NotEnoughEvidenceError
        For fewer than ten failures.
    """
    check_events(times, at_least=FEWEST_FAILURES, purpose="A model of the share that never falls")
    exact = times.exact & times.failed
    between = times.failed & ~exact
    standing = times.lower[~times.failed]

    def loss(parameters: AnyArray, share: float) -> float:
        log_scale, log_shape = parameters
        shape = math.exp(min(log_shape, 20.0))

        def log_survival(at: AnyArray) -> AnyArray:
            with np.errstate(divide="ignore", over="ignore"):
                return np.asarray(-np.exp(np.minimum(shape * (np.log(at) - log_scale), 700.0)))

        fallen = np.exp(log_survival(times.lower[between])) - np.exp(
            log_survival(times.upper[between])
        )
        at = times.upper[exact]
        density = log_survival(at) + log_shape - log_scale + (shape - 1) * (np.log(at) - log_scale)
        alive = share + (1.0 - share) * np.exp(log_survival(standing))
        failures = int(times.failed.sum())
        return -float(
            np.log(np.maximum(fallen, _LEAST)).sum()
            + density.sum()
            + failures * math.log(max(1.0 - share, _LEAST))
            + np.log(np.maximum(alive, _LEAST)).sum()
        )

    start = np.array([math.log(float(np.median(times.upper[times.failed]))), 0.0])

    def fitted(share: float) -> optimize.OptimizeResult:
        return optimize.minimize(loss, start, args=(share,), method="Nelder-Mead")

    most = float((~times.failed).mean())
    share = 0.0
    if most > 0:
        best = optimize.minimize_scalar(
            lambda at: float(fitted(at).fun), bounds=(0.0, min(most, 1 - 1e-9)), method="bounded",
            options={"xatol": 1e-4},
        )  # fmt: skip
        share = float(best.x) if best.fun < fitted(0.0).fun else 0.0
    log_scale, log_shape = fitted(share).x
    mean = math.exp(log_scale) * float(special.gamma(1.0 + math.exp(-log_shape)))
    method = "Weibull law with a share that never falls"
    if grouped:
        return CureModel(Estimate.point(share, len(times), method), mean)
    ends = _profile_ends(lambda at: float(fitted(at).fun), share, confidence)
    estimate = Estimate.around(
        share, *ends, confidence=confidence, n=len(times), method=f"{method}, profile likelihood"
    )
    return CureModel(estimate, mean)


def _profile_ends(
    loss: Callable[[float], float], share: float, confidence: float
) -> tuple[float, float]:
    allowed = loss(share) + float(stats.chi2.ppf(confidence, 1)) / 2.0

    def beyond(at: float) -> float:
        return loss(at) - allowed

    low = 0.0
    if share > 0 and beyond(0.0) > 0:
        low = float(optimize.brentq(beyond, 0.0, share, xtol=1e-4))
    return low, float(optimize.brentq(beyond, share, 1.0 - 1e-9, xtol=1e-4))
