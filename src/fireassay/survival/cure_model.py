"""The share of samples that never falls: a mixture of those and a Weibull law for the others."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import AnyArray
from fireassay.core.estimate import Estimate
from fireassay.core.lazy_modules import optimize, special, stats
from fireassay.survival.cure_likelihood import CureLikelihood
from fireassay.survival.times import Times, check_events

FEWEST_FAILURES = 10
_LARGEST_SHARE = 1.0 - 1e-9


@dataclass(frozen=True)
class CureModel:
    """A fitted mixture: S(t) = π + (1 − π) exp(−(t/b)^a).

    Attributes
    ----------
    never_falls
        π with its profile-likelihood interval; where rows belong together the profile is flattened
        by what the groups' spread is larger than the rows'.
    mean_time
        Mean time to failure of the samples that do fall.
    """

    never_falls: Estimate
    mean_time: float


def fit_cure_model(
    times: Times, confidence: float = 0.95, *, groups: AnyArray | None = None
) -> CureModel:
    """Fit the mixture by maximum likelihood.

    What π says rests on the law of the others: samples that fall long after the last time watched
    look like samples that never do, so that π is at most the share still standing and may be 0.

    Parameters
    ----------
    times
        Times to failure, at least ten of them observed.
    confidence
        In (0, 1).
    groups
        For each row the number of the model, patient or device it belongs to.

    Raises
    ------
    NotEnoughEvidenceError
        For fewer than ten failures.

    Notes
    -----
    With groups the profile likelihood is scaled (Chandler and Bate 2007) by the variance that rows
    would give π over the one that groups give it (a jackknife over groups in one Newton step), at
    most 1, and cut at Student's t with as many degrees of freedom as groups less one. Approximate,
    and with fewer than ten groups rough.

    >>> rng = np.random.default_rng(0)
    >>> time = np.where(rng.random(200) < 0.5, np.inf, rng.weibull(1.5, 200))
    >>> seen = Times(np.minimum(time, 4.0), np.where(time < 4.0, time, np.inf))
    >>> found = fit_cure_model(seen).never_falls
    >>> found.low < 0.5 < found.high
    True
    """
    check_events(times, at_least=FEWEST_FAILURES, purpose="A model of the share that never falls")
    likelihood = CureLikelihood(times)
    warm = np.array([math.log(float(np.median(times.upper[times.failed]))), 0.0])

    def fitted(share: float) -> optimize.OptimizeResult:
        nonlocal warm
        found = optimize.minimize(likelihood.loss, warm, args=(share,), jac=True, method="BFGS")
        warm = found.x
        return found

    def profile(share: float) -> float:
        return float(fitted(share).fun)

    most = min(float((~times.failed).mean()), _LARGEST_SHARE)
    share = 0.0
    if most > 0:
        found = optimize.minimize(
            likelihood.joint_loss, [most / 2.0, *warm], jac=True, method="L-BFGS-B",
            bounds=[(0.0, most), (None, None), (None, None)], options={"ftol": 1e-12},
        )  # fmt: skip
        share, warm = float(found.x[0]), found.x[1:]
        share = share if profile(share) < profile(0.0) else 0.0
    log_scale, log_shape = fitted(share).x
    mean = math.exp(log_scale) * float(special.gamma(1.0 + math.exp(-log_shape)))
    method = "Weibull law with a share that never falls, profile likelihood"
    reach = float(stats.chi2.ppf(confidence, 1))
    if groups is not None:
        many = int(np.asarray(groups).max()) + 1
        method += f" flattened by {many} groups"
        reach = float("inf")
        if many > 1:
            place = np.array([share, log_scale, log_shape])
            reach = float(stats.f.ppf(confidence, 1, many - 1))
            reach *= likelihood.flattening(place, np.asarray(groups))
    low, high = _profile_ends(profile, share, reach / 2.0) if math.isfinite(reach) else (0.0, 1.0)
    estimate = Estimate.around(share, low, high, confidence=confidence, n=len(times), method=method)
    return CureModel(estimate, mean)


def _profile_ends(
    profile: Callable[[float], float], share: float, reach: float
) -> tuple[float, float]:
    """Where the profile has risen by ``reach`` above its least value."""
    allowed = profile(share) + reach

    def beyond(at: float) -> float:
        return profile(at) - allowed

    low, high = 0.0, 1.0
    if share > 0 and beyond(0.0) > 0:
        low = float(optimize.brentq(beyond, 0.0, share, xtol=1e-4))
    if beyond(_LARGEST_SHARE) > 0:
        high = float(optimize.brentq(beyond, share, _LARGEST_SHARE, xtol=1e-4))
    return low, high
