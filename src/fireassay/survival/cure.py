"""Cure model: a share that never fails and a Weibull law for the rest."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import AnyArray
from fireassay.core.estimate import Estimate
from fireassay.core.lazy import optimize, special, stats
from fireassay.survival.times import Times, check_events

_LEAST = 1e-12
_LARGEST_LOG = 300.0
_STEP = 1e-5


class CureLikelihood:
    """Likelihood of S(t) = π + (1 − π) exp(−H), H = (t/b)^a, with parameters π, log b, log a."""

    def __init__(self, times: Times) -> None:
        self.times = times
        self.exact = times.exact & times.failed
        self.between = times.failed & ~self.exact
        self.standing = ~times.failed

    def rows(self, parameters: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Each row's log likelihood, and its slopes: shapes (n,) and (n, 3)."""
        share, log_scale, log_shape = (float(value) for value in parameters)
        value, slopes = np.zeros(len(self.times)), np.zeros((len(self.times), 3))
        value[self.times.failed] = math.log(max(1.0 - share, _LEAST))
        slopes[self.times.failed, 0] = -1.0 / max(1.0 - share, _LEAST)
        shape = math.exp(min(log_shape, 20.0))

        def hazard(at: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
            with np.errstate(divide="ignore"):
                log = np.minimum(shape * (np.log(at) - log_scale), _LARGEST_LOG)
            total = np.exp(log)
            # d H / d log a is H log H, which goes to 0 with H.
            by_shape = total * np.where(total > 0, log, 0.0)
            return log, total, np.column_stack([-shape * total, by_shape])

        log, total, slope = hazard(self.times.upper[self.exact])
        value[self.exact] += log_shape + log - np.log(self.times.upper[self.exact]) - total
        slopes[self.exact, 1] = shape * (total - 1.0)
        slopes[self.exact, 2] = 1.0 + log * (1.0 - total)
        early, late = (hazard(t[self.between]) for t in (self.times.lower, self.times.upper))
        fallen = np.maximum(np.exp(-early[1]) - np.exp(-late[1]), _LEAST)
        value[self.between] += np.log(fallen)
        slopes[self.between, 1:] = (
            np.exp(-late[1])[:, None] * late[2] - np.exp(-early[1])[:, None] * early[2]
        ) / fallen[:, None]
        log, total, slope = hazard(self.times.lower[self.standing])
        not_yet = np.exp(-total)
        alive = np.maximum(share + (1.0 - share) * not_yet, _LEAST)
        value[self.standing] = np.log(alive)
        slopes[self.standing, 0] = (1.0 - not_yet) / alive
        slopes[self.standing, 1:] = -((1.0 - share) * not_yet / alive)[:, None] * slope
        return value, slopes

    def loss(self, law: AnyArray, share: float) -> tuple[float, AnyArray]:
        """Minus the log likelihood at a share, and its slopes by log b and log a."""
        value, slopes = self.joint_loss(np.array([share, *law]))
        return value, slopes[1:]

    def joint_loss(self, parameters: AnyArray) -> tuple[float, AnyArray]:
        """Minus the log likelihood, and its slopes by all three parameters."""
        value, slopes = self.rows(parameters)
        return -float(value.sum()), -slopes.sum(axis=0)

    def flattening(self, place: AnyArray, groups: AnyArray) -> float:
        """Variance of π over groups by that over rows, at least 1; infinite if likelihood flat."""
        many = int(groups.max()) + 1

        def by_group(slopes: AnyArray) -> AnyArray:
            return np.stack([np.bincount(groups, s, minlength=many) for s in slopes.T], axis=1)

        curvature = np.zeros((many, 3, 3))
        for i in range(3):
            step = _STEP * np.eye(3)[i]
            # The share may be 0: its step goes inwards only.
            back = step * (i > 0)
            rise = self.rows(place + step)[1] - self.rows(place - back)[1]
            curvature[:, i] = -by_group(rise) / float((step + back).sum())
        curvature = (curvature + curvature.transpose(0, 2, 1)) / 2.0
        whole = curvature.sum(axis=0)
        left = whole - curvature
        if min(np.linalg.eigvalsh(whole).min(), np.linalg.eigvalsh(left).min()) <= 0:
            return math.inf
        scores = by_group(self.rows(place)[1])
        steps = np.linalg.solve(left, scores[:, :, None])[:, 0, 0]
        spread = (many - 1) / many * float(np.square(steps - steps.mean()).sum())
        return max(1.0, spread / float(np.linalg.inv(whole)[0, 0]))


FEWEST_FAILURES = 10
_LARGEST_SHARE = 1.0 - 1e-9


@dataclass(frozen=True)
class CureModel:
    """A fitted mixture: S(t) = π + (1 − π) exp(−(t/b)^a)."""

    never_falls: Estimate
    mean_time: float


def fit_cure_model(
    times: Times, confidence: float = 0.95, *, groups: AnyArray | None = None
) -> CureModel:
    """Fit the share π that never falls, and a Weibull law of the others, by maximum likelihood."""
    # Samples that fall long after the last time watched look like samples that never do: π is at
    # most the share still standing, and may be 0.
    # With groups the profile likelihood is scaled (Chandler and Bate 2007) by the variance that
    # rows would give π over the one that groups give it (a jackknife in one Newton step), at most
    # 1, and cut at Student's t with one degree less than groups: rough with fewer than ten groups.
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
