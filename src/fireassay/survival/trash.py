"""TRASH: the cost of training a sample over the cost of breaking it (the paper's Eq. 9)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from fireassay.core import Assumption, Claim, Estimate, Evidence, ParameterError, Provenance, Table
from fireassay.core.lazy import pd, stats
from fireassay.core.result import Answer
from fireassay.core.validation import check_real
from fireassay.core.words import percent
from fireassay.survival.cure import FEWEST_FAILURES, fit_cure_model
from fireassay.survival.curves import area_interval, estimate_curve
from fireassay.survival.fitted import AftFit
from fireassay.survival.measures import MEASURES
from fireassay.survival.rows import group_codes
from fireassay.survival.times import Times, read_times

_NOT_IN_IT = "Both sides pay per sample; data, labels and failed experiments are not in it."


@dataclass(frozen=True)
class Cost:
    """Prices that turn queries into seconds, money and energy.

    Attributes:
        seconds_per_query: Seconds of one forward query on the attacker's machine; None if times are
            seconds already.
        training_price_per_hour, attack_price_per_hour: Money per machine hour of either side (None:
            money is not reported).
        training_watts, attack_watts: Power of either side's machine (None: energy is not reported).

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

    Attributes:
        value, low, high: Training seconds per sample over the attacker's seconds per sample. Above
            1 the model is broken: breaking a sample costs less than training on one did. While
            samples stand, nobody knows how long they would, or whether they ever fall: ``value``
            then counts them as if they fell at the horizon, ``high`` bounds the ratio from above,
            and ``low`` is 0.
        probability_above_one: P(ratio > 1), from the same approximation as the interval; None while
            samples stand.
        standing: Share of samples that were not seen to fall within the horizon.
        survival_at_horizon: The same share as the family has it.
        never_falls: Share of samples that never falls, from a mixture with a Weibull law; None
            where no sample stands or fewer than ten fell.
        value_among_falling: The ratio for those that fall by that mixture, NaN without one.
        table: Per unit (queries, seconds, money, joules): training, attack, ratio, low, high.
        confidence: Of the interval.
        horizon, mean_time: Budget up to which the mean time is taken, and that time.
    """

    value: float
    low: float
    high: float
    confidence: float
    probability_above_one: float | None
    standing: float
    survival_at_horizon: float
    never_falls: Estimate | None
    value_among_falling: float
    horizon: float
    mean_time: Estimate
    table: pd.DataFrame
    n: int

    def __float__(self) -> float:
        return self.value

    @property
    def estimate(self) -> Estimate:
        """The ratio as an estimate; while samples stand its lower end is 0."""
        method = "TRASH, delta method on logs"
        if self.standing > 0:
            method += f"; an upper bound: {percent(self.standing, 1)} stand"
        return Estimate(self.value, self.low, self.high, self.confidence, self.n, method)

    def frame(self) -> pd.DataFrame:
        """One row per unit."""
        return self.table

    def evidence(self) -> Evidence:
        """The ratio, the mean time it rests on, and the verdict."""
        text, holds = "Whether breaking costs less than training is not decided.", None
        if self.high < 1 or self.low > 1:
            text, holds = "Breaking a sample costs more than training on it did.", self.high < 1
        elif self.standing > 0:
            text = (
                "Not decided: with samples that stand, the ratio can only be shown to be below 1."
            )
        estimates = {
            "trash": self.estimate,
            "mean_time": self.mean_time,
            "survival_at_horizon": Estimate.point(self.survival_at_horizon, self.n, "fitted"),
        }
        if self.never_falls is not None:
            estimates["never_falls"] = self.never_falls
        return Evidence(
            question="survival",
            headline=self._headline(),
            claims=(Claim(text, holds),),
            estimates=estimates,
            assumptions=(
                Assumption(
                    "Samples that stand at the horizon would fall right after it.",
                    "contradicted" if self.standing > 0 else "supported",
                    f"{percent(self.standing, 1)} stand at {self.horizon:g}"
                    + (": the ratio is only bounded from above." if self.standing > 0 else "."),
                    id="falls-after-horizon",
                ),
            ),
            measures=MEASURES,
            tables={"cost": Table.from_frame(self.table, "Cost of training against attack")},
            limits=(_NOT_IN_IT,),
            provenance=Provenance(seed=0),
        )

    def _headline(self) -> str:
        if self.standing > 0:
            said = (
                f"Training a sample costs at most {self.high:.3g} times what breaking one costs; "
                f"{percent(self.standing, 1)} of samples stand"
            )
            if self.never_falls is None:
                return said
            never = percent(self.never_falls.value, 1)
            others = f"{self.value_among_falling:.3g}"
            return f"{said}, {never} may never fall (ratio of the others: {others})"
        return (
            f"Training a sample costs {self.value:.3g} times what breaking one costs "
            f"[{self.low:.3g}, {self.high:.3g}]; P(> 1) = {self.probability_above_one:.3f}"
        )


def trash(
    fit: AftFit,
    train_seconds_per_sample: float,
    cost: Cost | Mapping[str, Any] | None = None,
    *,
    rows: pd.DataFrame | None = None,
    horizon: float | None = None,
    samples_per_row: int = 1,
    confidence: float | None = None,
) -> Trash:
    """The cost of training per sample over the expected cost of breaking a sample.

    Args:
        fit: A parametric fit (its times in queries, or in seconds as in paper mode).
        train_seconds_per_sample: Training seconds divided by training samples, > 0.
        cost: `Cost`, or a dict of its fields; ``seconds_per_query`` turns times into seconds (1 if
            the fit's times are seconds already).
        rows: Rows whose mean time is taken (default: those of the fit).
        horizon: Budget τ up to which the mean time is taken, by default the latest observed time.
            ``math.inf`` extrapolates as the authors' code does.
        samples_per_row: 100 in paper mode, where a row's time is that of an attack on 100 samples.
        confidence: Of the interval, by default that of the fit.

    TRASH = t_train / E[T | 0 < ε ≤ ε*]; the interval is the delta method on log E[T] with the
    fit's (robust) covariance. Training time is taken as known. The mean up to a horizon is at most
    E[T]: where samples stand, the ratio is only bounded from above, by the larger of the family's
    and the Kaplan-Meier curve's upper end, also for ``horizon=math.inf``.

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
    given = fit.confidence if confidence is None else confidence
    level = check_real(given, "confidence", low=0.0, high=1.0)
    watched = chosen if _has_times(chosen) else fit.observations
    times = read_times(watched)
    standing = float((times.upper > min(limit, times.latest)).mean())
    spread = _spread(error, freedom, level)
    shortest = mean.value / spread
    if standing > 0:
        if math.isinf(limit):
            restricted, error, freedom = fit.expected_time_estimate(chosen)
            shortest = restricted.value / _spread(error, freedom, level)
        shortest = min(shortest, _shortest_area(fit, watched, times, limit, level))
    per_sample = mean.value / samples_per_row
    units = {}
    for unit, (training, query) in prices.factors().items():
        ratio = train * training / (per_sample * query)
        units[unit] = {
            "training": train * training,
            "attack": per_sample * query,
            "ratio": ratio,
            "low": 0.0 if standing > 0 else ratio / spread,
            "high": float(ratio * mean.value / shortest) if shortest > 0 else math.inf,
        }
    table = pd.DataFrame.from_dict(units, orient="index")
    table.index.name = "unit"
    value = units["seconds"]["ratio"]
    above, cure, fitted_share = None, None, 0.0
    if not math.isinf(limit):
        fitted_share = float(np.mean(fit.survival(chosen, [limit])))
    if standing == 0:
        above = float(value > 1)
        if error > 0:
            above = float(stats.t.cdf(math.log(value) / error, freedom))
    elif times.n_events >= FEWEST_FAILURES:
        own = None if fit.groups is None else pd.factorize(watched[fit.groups])[0]
        cure = fit_cure_model(times, level, groups=own)
    return Trash(
        value=value,
        low=units["seconds"]["low"],
        high=units["seconds"]["high"],
        confidence=level,
        probability_above_one=above,
        standing=standing,
        survival_at_horizon=fitted_share,
        never_falls=None if cure is None else cure.never_falls,
        value_among_falling=math.nan if cure is None else value * mean.value / cure.mean_time,
        horizon=float(limit),
        mean_time=mean,
        table=table,
        n=fit.n,
    )


def _shortest_area(
    fit: AftFit, watched: pd.DataFrame, times: Times, limit: float, level: float
) -> float:
    """Lower end of the mean time up to a watched time, by the Kaplan-Meier curve."""
    # This mean bounds the ratio from above: a family that fits badly must not make it longer.
    # Rows of one model alone have no spread between models; the family's end knows it.
    several = fit.groups is not None and watched[fit.groups].nunique() > 1
    curve = estimate_curve(times, group_codes(watched, fit.groups) if several else None)
    return area_interval(curve, min(limit, times.latest), level)[1]


def _spread(error: float, freedom: float, confidence: float) -> float:
    """The factor between a ratio and its ends."""
    reach = float(stats.t.ppf(0.5 + confidence / 2, freedom)) * error
    return math.exp(min(reach, 700.0))


def _has_times(rows: pd.DataFrame) -> bool:
    return any(
        set(pair) <= set(rows.columns) for pair in (("lower", "upper"), ("duration", "event"))
    )
