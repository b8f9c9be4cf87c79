"""The table of families: what the time to failure may look like."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from fireassay.core.errors import ParameterError
from fireassay.core.lazy import stats
from fireassay.core.registry import Registry
from fireassay.survival.error_distributions import (
    ErrorDistribution,
    ExtremeValue,
    LogGamma,
    Logistic,
    Normal,
)


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
