"""TRASH: the cost of training a sample over the cost of breaking it (the paper's Eq. 9)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from fireassay.core.errors import ParameterError
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption, Claim, Evidence, Provenance, Table
from fireassay.core.result import Answer
from fireassay.core.validation import check_real
from fireassay.survival.aft_fit import AftFit
from fireassay.survival.measures import MEASURES


@dataclass(frozen=True)
class Cost:
    """Prices that turn queries into seconds, money and energy.

    Attributes
    ----------
    seconds_per_query
        Seconds of one forward query on the attacker's machine; None if times are seconds already.
    training_price_per_hour, attack_price_per_hour
        Money per machine hour of either side (None: money is not reported).
    training_watts, attack_watts
        Power of either side's machine (None: energy is not reported).

    >>> Cost(seconds_per_query=0.5, training_price_per_hour=7200).factors()["money"]
    (2.0, 1.0)
    """

    seconds_per_query: float | None = None
    training_price_per_hour: float | None = None
    attack_price_per_hour: float | None = None
    training_watts: float | None = None
    attack_watts: float | None = None

    def __post_init__(self) -> None:
        for price in fields(self):
            value = getattr(self, price.name)
            if value is not None:
                check_real(value, price.name, low=0.0)

    def factors(self) -> dict[str, tuple[float, float]]:
        """Per unit: what a training second and one unit of time to failure cost."""
        query = 1.0 if self.seconds_per_query is None else self.seconds_per_query
        found = {"seconds": (1.0, query)}
        if self.seconds_per_query is not None:
            found = {"queries": (1.0 / query, 1.0), **found}
        if self.training_price_per_hour is not None:
            attack = self.attack_price_per_hour or self.training_price_per_hour
            found["money"] = (self.training_price_per_hour / 3600, attack * query / 3600)
        if self.training_watts is not None:
            attack = self.attack_watts or self.training_watts
            found["joules"] = (self.training_watts, attack * query)
        return found


@dataclass(frozen=True)
class Trash(Answer):
    """The cost ratio with its interval.

    Attributes
    ----------
    value, low, high
        Training seconds per sample over the attacker's seconds per sample. Above 1 the model is
        broken: breaking a sample costs less than training on one did.
    probability_above_one
        P(ratio > 1), from the same approximation as the interval.
    survival_at_horizon
        Share of samples that no attack breaks within the horizon. The ratio counts them as if
        they fell at the horizon, so it is an upper bound on the true ratio where this is not 0.
    table
        Per unit (queries, seconds, money, joules): training, attack, ratio, low, high.
    confidence
        Of the interval.
    horizon, mean_time
        Budget up to which the mean time is taken, and that time.
    """

    value: float
    low: float
    high: float
    confidence: float
    probability_above_one: float
    survival_at_horizon: float
    horizon: float
    mean_time: Estimate
    table: pd.DataFrame
    n: int

    def __float__(self) -> float:
        return self.value

    @property
    def estimate(self) -> Estimate:
        """The ratio as an estimate."""
        return Estimate(
            self.value, self.low, self.high, self.confidence, self.n, "TRASH, delta method on logs"
        )

    def frame(self) -> pd.DataFrame:
        """One row per unit."""
        return self.table

    def evidence(self) -> Evidence:
        """The ratio, the mean time it rests on, and the verdict."""
        broken = None
        if self.low > 1:
            broken = True
        elif self.high < 1:
            broken = False
        return Evidence(
            question="survival",
            headline=f"Training a sample costs {self.value:.3g} times what breaking one costs "
            f"[{self.low:.3g}, {self.high:.3g}]; P(> 1) = {self.probability_above_one:.3f}",
            claims=(
                Claim("Breaking a sample costs more than training on it did.", not broken)
                if broken is not None
                else Claim("Whether breaking costs less than training is not decided.", None),
            ),
            estimates={
                "trash": self.estimate,
                "mean_time": self.mean_time,
                "survival_at_horizon": Estimate.point(self.survival_at_horizon, self.n, "fitted"),
            },
            assumptions=(
                Assumption(
                    "Samples that stand at the horizon would fall right after it.",
                    "contradicted" if self.survival_at_horizon > 0.01 else "supported",
                    f"{self.survival_at_horizon:.1%} stand at {self.horizon:g}: the ratio is an "
                    "upper bound.",
                    id="falls-after-horizon",
                ),
            ),
            measures=MEASURES,
            tables={"cost": Table.from_frame(self.table, "Cost of training against attack")},
            limits=(
                "Both sides pay per sample; data, labels and failed experiments are not in it.",
            ),
            provenance=Provenance(seed=0),
        )


def trash(
    fit: AftFit,
    train_seconds_per_sample: float,
    cost: Cost | Mapping[str, Any] | None = None,
    *,
    rows: pd.DataFrame | None = None,
    horizon: float | None = None,
    samples_per_row: int = 1,
) -> Trash:
    """The cost of training per sample over the expected cost of breaking a sample.

    Parameters
    ----------
    fit
        A parametric fit (its times in queries, or in seconds as in paper mode).
    train_seconds_per_sample
        Training seconds divided by training samples, > 0.
    cost
        `Cost`, or a dict of its fields; ``seconds_per_query`` turns times into seconds (1 if the
        fit's times are seconds already).
    rows
        Rows whose mean time is taken (default: those of the fit).
    horizon
        Budget τ up to which the mean time is taken, by default the latest observed time.
        ``math.inf`` extrapolates as the authors' code does.
    samples_per_row
        100 in paper mode, where a row's time is that of an attack on 100 samples.

    Notes
    -----
    TRASH = t_train / E[T | 0 < ε ≤ ε*]; the interval is the delta method on log E[T] with the
    fit's (robust) covariance. Training time is taken as known.

    >>> from fireassay.survival import fit
    >>> rows = pd.DataFrame({"duration": [1.0, 2.0, 3.0, 6.0] * 10, "event": 1})
    >>> found = trash(fit(rows, "exponential", []), 6.0, horizon=math.inf)
    >>> round(found.value, 6)  # training costs 6 seconds, breaking 3 on average
    2.0
    """
    train = check_real(train_seconds_per_sample, "train_seconds_per_sample", low=0.0)
    if not isinstance(fit, AftFit):
        raise ParameterError(
            "TRASH needs a parametric fit.", got="a Cox fit", do="Use family='weibull', say."
        )
    if samples_per_row < 1:
        raise ParameterError("'samples_per_row' must be at least 1.", got=repr(samples_per_row))
    prices = cost if isinstance(cost, Cost) else Cost(**(dict(cost) if cost else {}))
    chosen = fit.observations if rows is None else rows
    mean, error, freedom = fit.expected_time_estimate(chosen, horizon)
    limit = fit.latest_time if horizon is None else horizon
    reach = float(stats.t.ppf(0.5 + fit.confidence / 2, freedom)) * error
    spread = math.exp(min(reach, 700.0))
    per_sample = mean.value / samples_per_row
    units = {}
    for unit, (training, query) in prices.factors().items():
        ratio = train * training / (per_sample * query)
        units[unit] = {
            "training": train * training,
            "attack": per_sample * query,
            "ratio": ratio,
            "low": ratio / spread,
            "high": ratio * spread,
        }
    table = pd.DataFrame.from_dict(units, orient="index")
    table.index.name = "unit"
    value = units["seconds"]["ratio"]
    above = float(stats.t.cdf(math.log(value) / error, freedom)) if error > 0 else float(value > 1)
    standing = 0.0 if math.isinf(limit) else float(np.mean(fit.survival(chosen, [limit])))
    return Trash(
        value,
        value / spread,
        value * spread,
        fit.confidence,
        above,
        standing,
        float(limit),
        mean,
        table,
        fit.n,
    )
