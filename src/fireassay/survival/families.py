"""Families of times to failure: the law of what covariates and scale leave of the log time.

Log time is ``x'β + σ W``. A family is the law of W: extreme value (exponential and Weibull),
normal (log-normal), logistic (log-logistic), log-gamma with a shape (generalised gamma).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import AnyArray
from fireassay.core.errors import ParameterError
from fireassay.core.lazy import special, stats
from fireassay.core.registry import Registry

Interval = tuple[AnyArray, AnyArray, AnyArray, AnyArray, AnyArray]
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
# Below this size of the shape the generalised gamma is the log-normal to rounding.
_SMALLEST_SHAPE = 1e-6
# Exponents stop here, far beyond any fit, so that products of two exponentials do not overflow.
_LARGEST = 300.0
# Densities over masses stop at the exponential of this.
_LARGEST_WEIGHT = 100.0
# Ends within this distance from zero: no exponential of them or of their difference overflows.
_SAFE = 100.0


class ErrorDistribution(ABC):
    """A law on the real line, by what a censored likelihood needs of it."""

    @abstractmethod
    def at_failure(self, z: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Log density, score and curvature: log f and its first two derivatives."""

    @abstractmethod
    def log_survival(self, z: AnyArray) -> AnyArray:
        """Logarithm of P(W > z)."""

    @abstractmethod
    def log_failure(self, z: AnyArray) -> AnyArray:
        """Logarithm of P(W <= z)."""

    @abstractmethod
    def mean_exponential(self, scale: float) -> float:
        """E[exp(scale W)]: the mean time at ``x'β = 0``; infinite where it does not exist."""

    def log_density(self, z: AnyArray) -> AnyArray:
        """Logarithm of the density f."""
        return self.at_failure(z)[0]

    def score(self, z: AnyArray) -> AnyArray:
        """First derivative of log f."""
        return self.at_failure(z)[1]

    def at_censoring(self, z: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Log survival, hazard and score."""
        log_density, score, _ = self.at_failure(z)
        log_survival = self.log_survival(z)
        return log_survival, np.exp(log_density - log_survival), score

    def log_between(self, a: AnyArray, b: AnyArray) -> AnyArray:
        """log P(a < W <= b), from the tail in which the difference does not cancel."""
        survival_a, survival_b = self.log_survival(a), self.log_survival(b)
        failure_a, failure_b = self.log_failure(a), self.log_failure(b)
        with np.errstate(invalid="ignore", divide="ignore"):
            right = survival_a + log_one_minus_exp(np.minimum(survival_b - survival_a, -1e-300))
            left = failure_b + log_one_minus_exp(np.minimum(failure_a - failure_b, -1e-300))
        return np.where(survival_a < failure_b, right, left)

    def at_interval(self, a: AnyArray, b: AnyArray) -> Interval:
        """Log mass of (a, b], density over mass at a and at b, score at a and at b."""
        log_mass = self.log_between(a, b)
        weight_a = np.exp(np.minimum(self.log_density(a) - log_mass, _LARGEST_WEIGHT))
        weight_b = np.exp(np.minimum(self.log_density(b) - log_mass, _LARGEST_WEIGHT))
        return log_mass, weight_a, weight_b, self.score(a), self.score(b)


def log_one_minus_exp(x: AnyArray) -> AnyArray:
    """log(1 − exp(x)) for x <= 0, without cancellation."""
    with np.errstate(divide="ignore"):
        return np.where(x > -math.log(2.0), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def _far_out(a: AnyArray, b: AnyArray) -> bool:
    return max(float(b.max(initial=0.0)), -float(a.min(initial=0.0))) > _SAFE


class ExtremeValue(ErrorDistribution):
    """The smallest-extreme-value law: times are Weibull (exponential at scale 1)."""

    def at_failure(self, z: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Log density, score and curvature from one exponential."""
        e = np.exp(np.minimum(z, _LARGEST))
        return z - e, 1.0 - e, -e

    def log_survival(self, z: AnyArray) -> AnyArray:
        """−exp(z)."""
        return -np.exp(np.minimum(z, _LARGEST))

    def log_failure(self, z: AnyArray) -> AnyArray:
        """log(1 − exp(−exp(z)))."""
        return log_one_minus_exp(-np.exp(np.minimum(z, _LARGEST)))

    def at_censoring(self, z: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Log survival, hazard and score from one exponential."""
        e = np.exp(np.minimum(z, _LARGEST))
        return -e, e, 1.0 - e

    def log_between(self, a: AnyArray, b: AnyArray) -> AnyArray:
        """log S(a) + log(1 − S(b)/S(a)), which never cancels."""
        e = np.exp(np.minimum(a, _LARGEST))
        with np.errstate(over="ignore"):
            added = e * np.expm1(np.minimum(b - a, 700.0))
        return log_one_minus_exp(np.minimum(-added, -1e-300)) - e

    def at_interval(self, a: AnyArray, b: AnyArray) -> Interval:
        """From three exponentials: with h the cumulative hazard, the mass is S(a)(1 − e^−Δh)."""
        if _far_out(a, b):
            return super().at_interval(a, b)
        hazard_a = np.exp(a)
        added = np.maximum(hazard_a * np.expm1(b - a), 1e-300)
        hazard_b = hazard_a + added
        share = -np.expm1(-added)
        weight_a, weight_b = hazard_a / share, hazard_b * (1.0 - share) / share
        return np.log(share) - hazard_a, weight_a, weight_b, 1.0 - hazard_a, 1.0 - hazard_b

    def mean_exponential(self, scale: float) -> float:
        """Γ(1 + σ)."""
        return float(special.gamma(1.0 + scale))


class Normal(ErrorDistribution):
    """The normal law: times are log-normal."""

    def at_failure(self, z: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        """−z²/2 − log √2π, −z and −1."""
        return -0.5 * z * z - _LOG_SQRT_2PI, -z, np.full_like(z, -1.0)

    def log_survival(self, z: AnyArray) -> AnyArray:
        """log Φ(−z)."""
        return np.asarray(special.log_ndtr(-z))

    def log_failure(self, z: AnyArray) -> AnyArray:
        """log Φ(z)."""
        return np.asarray(special.log_ndtr(z))

    def mean_exponential(self, scale: float) -> float:
        """exp(σ²/2)."""
        return math.exp(0.5 * scale * scale)


class Logistic(ErrorDistribution):
    """The logistic law: times are log-logistic."""

    def log_density(self, z: AnyArray) -> AnyArray:
        """log of F (1 − F)."""
        return np.asarray(special.log_expit(z) + special.log_expit(-z))

    def score(self, z: AnyArray) -> AnyArray:
        """1 − 2 F."""
        return np.asarray(-np.tanh(0.5 * z))

    def log_survival(self, z: AnyArray) -> AnyArray:
        """log(1 − F)."""
        return np.asarray(special.log_expit(-z))

    def log_failure(self, z: AnyArray) -> AnyArray:
        """log F."""
        return np.asarray(special.log_expit(z))

    def at_failure(self, z: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Log density, score and curvature from one exponential."""
        small = np.exp(-np.abs(z))
        above = 1.0 / (1.0 + small)
        density = small * above * above
        score = np.copysign((small - 1.0) * above, -z)
        return -np.abs(z) - 2.0 * np.log1p(small), score, -2.0 * density

    def at_censoring(self, z: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Log survival, hazard (which is F) and score from one exponential."""
        failed = np.asarray(special.expit(z))
        return np.asarray(special.log_expit(-z)), failed, 1.0 - 2.0 * failed

    def log_between(self, a: AnyArray, b: AnyArray) -> AnyArray:
        """log of S(a) F(b) (1 − exp(a − b)), which never cancels."""
        outer = special.log_expit(-a) + special.log_expit(b)
        return np.asarray(outer + log_one_minus_exp(np.minimum(a - b, -1e-300)))

    def at_interval(self, a: AnyArray, b: AnyArray) -> Interval:
        """From three exponentials: the mass is S(a) F(b) (1 − exp(a − b))."""
        if _far_out(a, b):
            return super().at_interval(a, b)
        odds_a, odds_b = np.exp(a), np.exp(b)
        gap = -np.expm1(np.minimum(a - b, -1e-300))
        survival_a, survival_b = 1.0 / (1.0 + odds_a), 1.0 / (1.0 + odds_b)
        failed_a, failed_b = odds_a * survival_a, odds_b * survival_b
        weight_a, weight_b = failed_a / (failed_b * gap), survival_b / (survival_a * gap)
        log_mass = np.log(survival_a * failed_b) + np.log(gap)
        return log_mass, weight_a, weight_b, 1.0 - 2.0 * failed_a, 1.0 - 2.0 * failed_b

    def mean_exponential(self, scale: float) -> float:
        """πσ / sin πσ, infinite from σ = 1 on."""
        return math.pi * scale / math.sin(math.pi * scale) if scale < 1.0 else math.inf


@dataclass(frozen=True)
class LogGamma(ErrorDistribution):
    """Prentice's log-gamma law with shape Q: 1 gives the Weibull, 0 the log-normal."""

    # With k = 1/Q², exp(QW) k is gamma-distributed with shape k.

    shape: float

    @property
    def _k(self) -> float:
        return 1.0 / (self.shape * self.shape)

    @property
    def _is_normal(self) -> bool:
        return abs(self.shape) < _SMALLEST_SHAPE

    def log_density(self, z: AnyArray) -> AnyArray:
        """Log density, stable as the shape goes through zero."""
        if self._is_normal:
            return Normal().log_density(z)
        return -_excess(self.shape, z) + _log_constant(self.shape)

    def score(self, z: AnyArray) -> AnyArray:
        """(1 − exp(Qz)) / Q."""
        if self._is_normal:
            return -z
        return -np.expm1(np.minimum(self.shape * z, _LARGEST)) / self.shape

    def at_failure(self, z: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Log density, score, and the curvature −exp(Qz)."""
        curvature = -np.exp(np.minimum(self.shape * z, _LARGEST))
        return self.log_density(z), self.score(z), curvature

    def log_survival(self, z: AnyArray) -> AnyArray:
        """Upper incomplete gamma function (lower one for a negative shape)."""
        if self._is_normal:
            return Normal().log_survival(z)
        return self._tail(z, upper=self.shape > 0)

    def log_failure(self, z: AnyArray) -> AnyArray:
        """Lower incomplete gamma function (upper one for a negative shape)."""
        if self._is_normal:
            return Normal().log_failure(z)
        return self._tail(z, upper=self.shape < 0)

    def mean_exponential(self, scale: float) -> float:
        """k^(−σ/Q) Γ(k + σ/Q) / Γ(k); infinite where k + σ/Q <= 0."""
        if self._is_normal:
            return Normal().mean_exponential(scale)
        raised = self._k + scale / self.shape
        if raised <= 0:
            return math.inf
        return math.exp(
            float(special.gammaln(raised) - special.gammaln(self._k))
            - scale / self.shape * math.log(self._k)
        )

    def _tail(self, z: AnyArray, *, upper: bool) -> AnyArray:
        k = self._k
        x = k * np.exp(np.minimum(self.shape * z, _LARGEST))
        share = special.gammaincc(k, x) if upper else special.gammainc(k, x)
        with np.errstate(divide="ignore"):
            log_share = np.log(share)
        lost = share == 0.0
        if lost.any():
            # The leading term beyond underflow: x^(k-1) e^-x / Γ(k), or x^k e^-x / Γ(k + 1).
            log_x = math.log(k) + self.shape * z[lost]
            power = (k - 1.0) * log_x if upper else k * log_x
            log_share[lost] = power - x[lost] - special.gammaln(k if upper else k + 1.0)
        return np.asarray(log_share)


def _excess(shape: float, z: AnyArray) -> AnyArray:
    """(exp(Qz) − 1 − Qz) / Q², by its series where the difference would cancel."""
    q = shape * z
    near = np.abs(q) < 1e-3
    direct = (np.expm1(np.minimum(q, _LARGEST)) - q) / (shape * shape)
    series = z * z * (0.5 + q / 6.0 + q * q / 24.0 + q * q * q / 120.0)
    return np.where(near, series, direct)


def _log_constant(shape: float) -> float:
    """log|Q| + k log k − k − log Γ(k), by Stirling's series for large k."""
    k = 1.0 / (shape * shape)
    if k > 50.0:
        return -_LOG_SQRT_2PI - 1.0 / (12.0 * k) + 1.0 / (360.0 * k**3) - 1.0 / (1260.0 * k**5)
    return math.log(abs(shape)) + k * math.log(k) - k - float(special.gammaln(k))


@dataclass(frozen=True)
class Family:
    """A name that `fit` knows, and what it is."""

    name: str
    summary: str


@dataclass(frozen=True)
class AftFamily(Family):
    """An accelerated failure time family: log T = x'β + σW."""

    law: Callable[[float], ErrorDistribution]
    has_scale: bool = True
    has_shape: bool = False
    scale_of_spread: float = 1.0
    quantile: Callable[[float], float] | None = None

    def failed_by(self, share: float) -> float:
        """The standardised log time by which a share of rows has failed."""
        if self.quantile is None:
            raise ParameterError(
                "This needs a family without a free shape.",
                got=repr(self.name),
                do="Use family='weibull', say.",
            )
        return self.quantile(share)


def _extreme_value(share: float) -> float:
    return math.log(-math.log1p(-share))


FAMILIES: Registry[Family] = Registry(
    "family",
    [
        AftFamily(
            "exponential", "constant hazard", lambda _: ExtremeValue(), has_scale=False,
            quantile=_extreme_value,
        ),
        AftFamily(
            "weibull", "hazard that rises or falls with time", lambda _: ExtremeValue(),
            scale_of_spread=0.78, quantile=_extreme_value,
        ),
        AftFamily(
            "lognormal", "log time is normal", lambda _: Normal(),
            quantile=lambda share: float(stats.norm.ppf(share)),
        ),
        AftFamily(
            "loglogistic", "log time is logistic", lambda _: Logistic(), scale_of_spread=0.55,
            quantile=lambda share: math.log(share / (1 - share)),
        ),
        AftFamily(
            "gengamma", "generalised gamma: the others and what lies between", LogGamma,
            has_shape=True,
        ),
        Family("cox", "proportional hazards, no law of the time"),
    ],
)  # fmt: skip


def aft_family(name: str) -> AftFamily:
    """A family by name that says how times are distributed."""
    family = FAMILIES[name]
    if not isinstance(family, AftFamily):
        raise ParameterError(
            "This needs a family that says how times are distributed.",
            got=repr(name),
            do="Use family='weibull', say.",
        )
    return family
