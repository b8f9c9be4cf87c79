"""The default bound: Clopper-Pearson and a rectified betting bound, whichever is smaller.

The error probability is split between the two before any label is looked at, so the smaller one
still holds with the full confidence."""

import itertools
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from fireassay.core import Estimate, generator
from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.lazy import stats
from fireassay.core.words import percent
from fireassay.reliability.inputs import DiskInputs, Inputs
from fireassay.reliability.result import LABELS, UNSEEN, Details, ReliabilityResult, between
from fireassay.reliability.surrogate import (
    TRIAL,
    UNUSED,
    GroupMeans,
    Risk,
    fit_risk,
    no_risk,
    risk_chunks,
)
from fireassay.statistics.bounds_from_draws import (
    Moments,
    RectifiedValues,
    betting_upper,
    ppi_interval,
)
from fireassay.statistics.counts import clopper_pearson

_SMALL_SHARE = 0.1
_SHARES, _FORECASTS = (0.035, 0.1, 0.5, 0.8, 0.965), 12
_FIRST_FIT = 40
_LAST_FIT, _MOST_PAIRS = 10_240, 4 * 10**9


@dataclass(frozen=True)
class RectifiedBound(Details):
    """The default bound and what it is made of.

    Attributes:
        pmi, std: Prediction-powered estimate and its standard error.
        pmi_upper: The headline: the smaller of ``clopper_pearson`` and ``betting``.
        clopper_pearson, betting: Each at its share of alpha (``betting`` is 1 where there is no
            operational sample).
        clopper_pearson_alone: What the labels alone would give at the whole alpha.
        normal_upper: The asymptotic prediction-powered bound, which covers less often than it says.
        betting_share: The part of alpha that the betting bound has.
        explained: Share of the errors' variance that the surrogate explains on the labels.
        weights: Where labels were not drawn from the profile: ``"given"``, ``"unbounded"`` (given
            without the largest possible weight) or ``"estimated"``; else None.
        given_surrogate: Whether the surrogate came from outside: then it must not have seen these
            labels.

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
    """Bound the probability of a misclassification from labels and unlabelled operational rows."""
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
    given, bound = np.ones(n), 1.0
    if weights is not None:
        given, bound = weights[order], weight_bound or float(weights.max())
    game = _Game(labelled, y, wrong, operational, alpha, risk, given, bound, rng)
    if weights is not None:
        return replace(game.weighted(), weights=weights_are)
    values, share, fitted, field = game.play()
    betting = betting_upper(values, share * alpha)
    exact = _cp(errors, n, (1 - share) * alpha)
    estimate, std, normal = ppi_interval(wrong, fitted, field, alpha)
    upper = min(exact, betting)
    pmi = float(np.clip(estimate, 0.0, upper))
    explained = _explained(wrong, fitted)
    return RectifiedBound(pmi, std, upper, exact, betting, alone, normal, share, explained)


Played = tuple[RectifiedValues, float, FloatArray, Moments]


@dataclass(frozen=True)
class _Game:
    """Labels in random order, operational rows, and what is known before any label is seen."""

    labelled: Inputs
    y: IntArray
    wrong: FloatArray
    operational: Inputs | DiskInputs | None
    alpha: float
    risk: Risk | None
    weights: FloatArray
    bound: float
    rng: np.random.Generator

    def weighted(self) -> RectifiedBound:
        """Labels that were drawn elsewhere, with known weights: betting on weighted values."""
        n, seen, alpha = len(self.y), self.weights * self.wrong, self.alpha
        plain = RectifiedValues(seen, np.full(n, self.bound), 0.25 * self.bound)
        rate = float(seen.mean())
        spread = float(seen.std(ddof=1) / np.sqrt(n)) if n > 1 else 1.0
        if self.operational is None or len(self.operational) < n:
            upper, normal = betting_upper(plain, alpha), float(stats.norm.isf(alpha)) * spread
            return RectifiedBound(
                min(rate, upper), spread, upper, 1.0, upper, 1.0, rate + normal, 1.0, 0.0
            )
        values, _, fitted, field = self.play()
        upper = min(betting_upper(plain, alpha / 2), betting_upper(values, alpha / 2))
        estimate, std, normal = ppi_interval(seen, self.weights * fitted, field, alpha)
        pmi = float(np.clip(estimate, 0.0, upper))
        explained = _explained(seen, self.weights * fitted)
        return RectifiedBound(pmi, std, upper, 1.0, upper, 1.0, normal, 1.0, explained)

    def play(self) -> Played:
        """The rectified values, the betting share, and cross-fitted risks for the estimate."""
        assert self.operational is not None
        if self.risk is not None:
            return self._play_fixed(self.operational, self.risk)
        n, labelled = len(self.y), self.labelled
        here, ceilings = np.empty(n), np.empty(n)
        stages: list[tuple[int, int, Risk]] = []
        current: Risk = no_risk
        rows = n + self.operational.n_rows
        for start, stop in itertools.pairwise([0, *_refits(n, rows), n]):
            if start >= _FIRST_FIT:
                current = fit_risk(labelled.take(slice(0, start)), self.y[:start])
            largest = float(current(labelled.take(slice(0, max(1, start)))).max())
            capped = partial(_capped, current, largest)
            here[start:stop] = capped(labelled.take(slice(start, stop)))
            ceilings[start:stop] = self.bound + largest
            stages.append((start, stop, capped))
        groups, field = GroupMeans(n), Moments()
        dealt = risk_chunks(self.operational, n, partial(_staged, stages), self.rng, trial=False)
        for labels, values in dealt:
            groups.add(labels, values)
            field = field.with_(Moments.of(values[labels >= 0]))
        game = RectifiedValues(self._rectified(here, groups), ceilings, 0.1 * self.bound)
        return game, _SMALL_SHARE, here, field

    def _play_fixed(self, operational: Inputs | DiskInputs, risk: Risk) -> Played:
        """A surrogate from elsewhere: a tenth of the rows decides how alpha is split."""
        n = len(self.wrong)
        groups, field = GroupMeans(n), Moments()
        trial, largest = np.zeros(0), 1.0
        dealt = risk_chunks(operational, n, lambda rows, _: risk(rows), self.rng, trial=True)
        for number, (labels, values) in enumerate(dealt):
            if number == 0 and (labels == TRIAL).any():
                trial = values[labels == TRIAL]
                largest = float(trial.max())
            groups.add(labels, np.minimum(values, largest))
            field = field.with_(Moments.of(values[labels != UNUSED]))
        here = np.minimum(risk(self.labelled), largest)
        each = float(groups.counts.mean())
        expected = float((trial * (1 - trial)).mean() + trial.var() / each) if len(trial) else 0.1
        share = _betting_share(trial, expected, n, self.alpha, each, self.rng)
        game = RectifiedValues(
            self._rectified(here, groups),
            np.full(n, self.bound + largest),
            max(1e-4, expected * self.bound),
        )
        return game, share, here, field

    def _rectified(self, here: FloatArray, groups: GroupMeans) -> FloatArray:
        """Errors less their risk, plus that of the operational rows that go with each label."""
        values = self.weights * (self.wrong - here) + groups.means()
        return np.where(groups.counts > 0, values, self.weights * self.wrong)


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
    """The part of alpha for betting: smallest mean bound if the surrogate were calibrated."""
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
    """When the surrogate is fitted again: 40, 80, … earlier labels, fewer for very many rows."""
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
