"""The default bound: Clopper-Pearson and a rectified betting bound, whichever is smaller.

The error probability is split between the two before any label is looked at, so the smaller one
still holds with the full confidence.
"""

import itertools
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.estimate import Estimate
from fireassay.core.lazy_modules import stats
from fireassay.core.percent import percent
from fireassay.core.seeds import generator
from fireassay.reliability.field_risk import TRIAL, UNUSED, GroupMeans, risk_chunks
from fireassay.reliability.inputs import DiskInputs, Inputs
from fireassay.reliability.result import LABELS, UNSEEN, Details, ReliabilityResult, between
from fireassay.reliability.surrogate import Risk, fit_risk, no_risk
from fireassay.statistics.clopper_pearson import clopper_pearson
from fireassay.statistics.prediction_powered import (
    Moments,
    RectifiedValues,
    betting_upper,
    ppi_interval,
)

_SMALL_SHARE = 0.1
_SHARES, _FORECASTS = (0.035, 0.1, 0.5, 0.8, 0.965), 12
_FIRST_FIT = 40
_LAST_FIT, _MOST_PAIRS = 10_240, 4 * 10**9


@dataclass(frozen=True)
class RectifiedBound(Details):
    """The default bound and what it is made of.

    Attributes
    ----------
    pmi, std
        Prediction-powered estimate and its standard error.
    pmi_upper
        The headline: the smaller of ``clopper_pearson`` and ``betting``.
    clopper_pearson, betting
        Each at its share of alpha (``betting`` is 1 where there is no operational sample).
    clopper_pearson_alone
        What the labels alone would give at the whole alpha.
    normal_upper
        The asymptotic prediction-powered bound, which covers less often than it says.
    betting_share
        The part of alpha that the betting bound has.
    explained
        Share of the errors' variance that the surrogate explains on the labels.
    weights
        Where labels were not drawn from the profile: ``"given"``, ``"unbounded"`` (given without
        the largest possible weight) or ``"estimated"``; else None.
    given_surrogate
        Whether the surrogate came from outside: then it must not have seen these labels.


    >>> from fireassay.reliability import assess
    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = (np.arange(200)[:, None] + 0.5) / 200
    >>> found = assess(half, X, X[:, 0] > 0.4, np.linspace(0, 1, 2000)[:, None]).details
    >>> found.pmi_upper == min(found.clopper_pearson, found.betting)
    True
    """

    pmi: float
    std: float
    pmi_upper: float
    clopper_pearson: float
    betting: float
    clopper_pearson_alone: float
    normal_upper: float
    betting_share: float
    explained: float
    weights: str | None = None
    given_surrogate: bool = False

    how: ClassVar[str] = "min of Clopper-Pearson and rectified betting"

    @property
    def rests_on(self) -> tuple[str, ...]:
        """With weights, on these instead of on where the labels come from."""
        found = LABELS if self.weights is None else ("weights-right", *LABELS[1:])
        return (*found, UNSEEN) if self.given_surrogate else found

    @property
    def claimed(self) -> bool:
        """Whether the bound is claimed to hold: not with weights that nothing is known about."""
        return self.weights in (None, "given")

    def headline(self, result: ReliabilityResult) -> str:
        """The bound; with estimated or unbounded weights no claim."""
        if self.claimed:
            return super().headline(result)
        kind = "estimated weights" if self.weights == "estimated" else "weights without a bound"
        return (
            f"About {percent(self.pmi, 2)} of inputs are misclassified, perhaps up to "
            f"{percent(self.pmi_upper, 2)}: with {kind} no finite-sample claim is made."
        )

    def estimates(self, result: ReliabilityResult) -> dict[str, Estimate]:
        """Bounds and estimate; where nothing is claimed the estimate alone."""
        if self.claimed:
            how = "Clopper-Pearson" if self.weights is None else "betting on weighted errors"
            lower = Estimate.bound(
                result.pmi_lower, result.confidence, result.n_labels, how, rests_on=self.rests_on
            )
            return {**super().estimates(result), "pmi_lower": lower}
        return {"pmi": between(result, f"{self.weights} weights", self.rests_on)}


def rectified_bound(
    labelled: Inputs,
    y: IntArray,
    operational: Inputs | DiskInputs | None,
    *,
    alpha: float,
    risk: Risk | None = None,
    weights: FloatArray | None = None,
    weight_bound: float | None = None,
    weights_are: str = "given",
    seed: int = 0,
) -> RectifiedBound:
    """Bound the probability of a misclassification from labels and unlabelled operational rows.

    Parameters
    ----------
    labelled, y
        Labelled rows drawn from the profile (or weighted), with class indices.
    operational
        Unlabelled rows of the profile, not the labelled ones; in memory or on disk.
    risk
        A surrogate that has seen none of these labels; None fits one step by step, for each
        label from earlier labels only.
    weights, weight_bound
        Density of the profile over that of the labelled rows, and its largest possible value.
    weights_are
        ``"given"``, ``"unbounded"`` or ``"estimated"``: what the result says of them.
    """
    rng = generator(seed, "rectified")
    order = rng.permutation(len(y))
    n, errors = len(y), int((labelled.predicted != y).sum())
    alone = _cp(errors, n, alpha)
    if weights is None and (operational is None or len(operational) < n):
        rate = errors / n  # counts alone: the rows, which may be many on disk, are not touched
        std = float(np.sqrt(rate * (1 - rate) / n))
        normal = rate + float(stats.norm.isf(alpha)) * std
        return RectifiedBound(rate, std, alone, alone, 1.0, alone, normal, 0.0, 0.0)
    labelled, y = labelled.take(order), y[order]
    wrong = (labelled.predicted != y).astype(np.float64)
    if weights is not None:
        bound = float(weights.max()) if weight_bound is None else weight_bound
        found = _weighted(labelled, y, wrong, operational, alpha, risk, weights[order], bound, rng)
        return replace(found, weights=weights_are)
    assert operational is not None
    game, share, fitted, field = _play(
        labelled, y, wrong, operational, alpha, risk, np.ones(n), 1.0, rng
    )
    betting = betting_upper(game, share * alpha)
    exact = _cp(errors, n, (1 - share) * alpha)
    estimate, std, normal = ppi_interval(wrong, fitted, field, alpha)
    upper = min(exact, betting)
    pmi = float(np.clip(estimate, 0.0, upper))
    explained = _explained(wrong, fitted)
    return RectifiedBound(pmi, std, upper, exact, betting, alone, normal, share, explained)


def _weighted(
    labelled: Inputs,
    y: IntArray,
    wrong: FloatArray,
    operational: Inputs | DiskInputs | None,
    alpha: float,
    risk: Risk | None,
    weights: FloatArray,
    bound: float,
    rng: np.random.Generator,
) -> RectifiedBound:
    """Labels that were drawn elsewhere, with known weights: betting on weighted values."""
    n = len(y)
    plain = RectifiedValues(weights * wrong, np.full(n, bound), 0.25 * bound)
    rate = float((weights * wrong).mean())
    spread = float((weights * wrong).std(ddof=1) / np.sqrt(n)) if n > 1 else 1.0
    if operational is None or len(operational) < n:
        upper = betting_upper(plain, alpha)
        normal = rate + float(stats.norm.isf(alpha)) * spread
        return RectifiedBound(min(rate, upper), spread, upper, 1.0, upper, 1.0, normal, 1.0, 0.0)
    game, _, fitted, field = _play(
        labelled, y, wrong, operational, alpha, risk, weights, bound, rng
    )
    upper = min(betting_upper(plain, alpha / 2), betting_upper(game, alpha / 2))
    estimate, std, normal = ppi_interval(weights * wrong, weights * fitted, field, alpha)
    pmi = float(np.clip(estimate, 0.0, upper))
    explained = _explained(weights * wrong, weights * fitted)
    return RectifiedBound(pmi, std, upper, 1.0, upper, 1.0, normal, 1.0, explained)


def _play(
    labelled: Inputs,
    y: IntArray,
    wrong: FloatArray,
    operational: Inputs | DiskInputs,
    alpha: float,
    risk: Risk | None,
    weights: FloatArray,
    bound: float,
    rng: np.random.Generator,
) -> tuple[RectifiedValues, float, FloatArray, Moments]:
    """The rectified values, the betting share, and cross-fitted risks for the estimate."""
    if risk is not None:
        return _play_fixed(labelled, wrong, operational, alpha, risk, weights, bound, rng)
    n = len(y)
    here, ceilings = np.empty(n), np.empty(n)
    stages: list[tuple[int, int, Risk]] = []
    current: Risk = no_risk
    for start, stop in itertools.pairwise([0, *_refits(n, n + operational.n_rows), n]):
        if start >= _FIRST_FIT:
            current = fit_risk(labelled.take(slice(0, start)), y[:start])
        largest = float(current(labelled.take(slice(0, max(1, start)))).max())
        capped = partial(_capped, current, largest)
        here[start:stop] = capped(labelled.take(slice(start, stop)))
        ceilings[start:stop] = bound + largest
        stages.append((start, stop, capped))
    groups, field = GroupMeans(n), Moments()
    for labels, values in risk_chunks(operational, n, partial(_staged, stages), rng, trial=False):
        groups.add(labels, values)
        field = field.with_(Moments.of(values[labels >= 0]))
    values = weights * (wrong - here) + groups.means()
    game = RectifiedValues(
        np.where(groups.counts > 0, values, weights * wrong), ceilings, 0.1 * bound
    )
    return game, _SMALL_SHARE, here, field


def _play_fixed(
    labelled: Inputs,
    wrong: FloatArray,
    operational: Inputs | DiskInputs,
    alpha: float,
    risk: Risk,
    weights: FloatArray,
    bound: float,
    rng: np.random.Generator,
) -> tuple[RectifiedValues, float, FloatArray, Moments]:
    """A surrogate from elsewhere: a tenth of the operational rows decides how alpha is split."""
    n = len(wrong)
    groups, field = GroupMeans(n), Moments()
    trial, largest = np.zeros(0), 1.0
    for number, (labels, values) in enumerate(
        risk_chunks(operational, n, lambda rows, _: risk(rows), rng, trial=True)
    ):
        if number == 0 and (labels == TRIAL).any():
            trial = values[labels == TRIAL]
            largest = float(trial.max())
        groups.add(labels, np.minimum(values, largest))
        field = field.with_(Moments.of(values[labels != UNUSED]))
    here = np.minimum(risk(labelled), largest)
    values = weights * (wrong - here) + groups.means()
    values = np.where(groups.counts > 0, values, weights * wrong)
    each = float(groups.counts.mean())
    expected = float((trial * (1 - trial)).mean() + trial.var() / each) if len(trial) else 0.1
    share = _betting_share(trial, expected, n, alpha, each, rng)
    game = RectifiedValues(values, np.full(n, bound + largest), max(1e-4, expected * bound))
    return game, share, here, field


def _capped(risk: Risk, largest: float, inputs: Inputs) -> FloatArray:
    return np.minimum(risk(inputs), largest)


def _staged(stages: list[tuple[int, int, Risk]], inputs: Inputs, labels: IntArray) -> FloatArray:
    """For each row the risk that was fitted before its label."""
    values = np.zeros(len(labels))
    for start, stop, risk in stages:
        rows = np.flatnonzero((labels >= start) & (labels < stop))
        if len(rows):
            values[rows] = risk(inputs.take(rows))
    return values


def _betting_share(
    trial: FloatArray, expected: float, n: int, alpha: float, each: float, rng: np.random.Generator
) -> float:
    """How much of alpha the betting bound gets, decided without labels.

    If the surrogate were calibrated, labels can be drawn from it: the split that gives the
    smallest bound on such labels is taken.
    """
    if not len(trial):
        return _SMALL_SHARE
    totals = np.zeros(len(_SHARES))
    ceiling = np.full(n, 1.0 + float(trial.max()))
    spread = float(trial.std()) / np.sqrt(max(1.0, each))
    for _ in range(_FORECASTS):
        risk = rng.choice(trial, n)
        wrong = rng.random(n) < risk
        others = trial.mean() + spread * rng.standard_normal(n)
        game = RectifiedValues(wrong - risk + np.maximum(0.0, others), ceiling, max(1e-4, expected))
        errors = int(wrong.sum())
        totals += [
            min(betting_upper(game, share * alpha), _cp(errors, n, (1 - share) * alpha))
            for share in _SHARES
        ]
    return _SHARES[int(totals.argmin())]


def _refits(n: int, rows: int) -> list[int]:
    """When the surrogate is fitted again: 40, 80, 160, … 10,240 earlier labels; more add little.

    Fewer where each of very many rows would be compared with all of them.
    """
    stops, at = [], _FIRST_FIT
    while at < min(n, _LAST_FIT + 1, _MOST_PAIRS // rows):
        stops.append(at)
        at *= 2
    return stops


def _cp(errors: float, n: int, alpha: float) -> float:
    return float(clopper_pearson(errors, n, 1 - alpha, "upper")[1])


def _explained(wrong: FloatArray, risk: FloatArray) -> float:
    spread = wrong.var()
    return float(1 - (wrong - risk).var() / spread) if spread > 0 else 0.0
