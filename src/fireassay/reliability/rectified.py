"""The default bound: Clopper-Pearson and a rectified betting bound, whichever is smaller.

The error probability is split between the two before any label is looked at, so the smaller one
still holds with the full confidence.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from fireassay.core.seeds import generator
from fireassay.reliability.rectified_bound import (
    RectifiedValues,
    betting_upper,
    ppi_interval,
)
from fireassay.reliability.surrogate import Inputs, Risk, fit_risk, no_risk
from fireassay.statistics.clopper_pearson import clopper_pearson

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
_SMALL_SHARE, _LARGE_SHARE = 0.1, 0.8
_FIRST_FIT = 40


@dataclass(frozen=True)
class Rectified:
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


def rectified_bound(
    labelled: Inputs,
    y: IntArray,
    operational: Inputs | None,
    *,
    alpha: float,
    risk: Risk | None = None,
    weights: FloatArray | None = None,
    weight_bound: float | None = None,
    seed: int = 0,
) -> Rectified:
    """Bound the probability of a misclassification from labels and unlabelled operational rows.

    Parameters
    ----------
    labelled, y
        Labelled rows drawn from the profile (or weighted), with class indices.
    operational
        Unlabelled rows of the profile, not the labelled ones.
    risk
        A surrogate that has seen none of these labels; None fits one step by step, for each
        label from earlier labels only.
    weights, weight_bound
        Density of the profile over that of the labelled rows, and its largest possible value.
    """
    rng = generator(seed, "rectified")
    order = rng.permutation(len(y))
    labelled, y = labelled.take(order), y[order]
    wrong = (labelled.predicted != y).astype(np.float64)
    if weights is not None:
        bound = float(weights.max()) if weight_bound is None else weight_bound
        return _weighted(labelled, y, wrong, operational, alpha, risk, weights[order], bound, rng)
    n, errors = len(y), int(wrong.sum())
    alone = _cp(errors, n, alpha)
    if operational is None or len(operational) < n:
        rate = errors / n
        std = float(np.sqrt(rate * (1 - rate) / n))
        normal = rate + float(norm.isf(alpha)) * std
        return Rectified(rate, std, alone, alone, 1.0, alone, normal, 0.0, 0.0)
    operational = operational.take(rng.permutation(len(operational)))
    game, share, fitted, fitted_operational = _play(
        labelled, y, wrong, operational, alpha, risk, np.ones(n), 1.0
    )
    betting = betting_upper(game, share * alpha)
    exact = _cp(errors, n, (1 - share) * alpha)
    estimate, std, normal = ppi_interval(wrong, fitted, fitted_operational, alpha)
    upper = min(exact, betting)
    pmi = float(np.clip(estimate, 0.0, upper))
    explained = _explained(wrong, fitted)
    return Rectified(pmi, std, upper, exact, betting, alone, normal, share, explained)


def _weighted(
    labelled: Inputs,
    y: IntArray,
    wrong: FloatArray,
    operational: Inputs | None,
    alpha: float,
    risk: Risk | None,
    weights: FloatArray,
    bound: float,
    rng: np.random.Generator,
) -> Rectified:
    """Labels that were drawn elsewhere, with known weights: betting on weighted values."""
    n = len(y)
    plain = RectifiedValues(weights * wrong, np.full(n, bound), 0.25 * bound)
    rate = float((weights * wrong).mean())
    spread = float((weights * wrong).std(ddof=1) / np.sqrt(n)) if n > 1 else 1.0
    if operational is None or len(operational) < n:
        upper = betting_upper(plain, alpha)
        normal = rate + float(norm.isf(alpha)) * spread
        return Rectified(min(rate, upper), spread, upper, 1.0, upper, 1.0, normal, 1.0, 0.0)
    operational = operational.take(rng.permutation(len(operational)))
    game, _, fitted, fitted_operational = _play(
        labelled, y, wrong, operational, alpha, risk, weights, bound
    )
    upper = min(betting_upper(plain, alpha / 2), betting_upper(game, alpha / 2))
    estimate, std, normal = ppi_interval(
        weights * wrong, weights * fitted, fitted_operational, alpha
    )
    pmi = float(np.clip(estimate, 0.0, upper))
    explained = _explained(weights * wrong, weights * fitted)
    return Rectified(pmi, std, upper, 1.0, upper, 1.0, normal, 1.0, explained)


def _play(
    labelled: Inputs,
    y: IntArray,
    wrong: FloatArray,
    operational: Inputs,
    alpha: float,
    risk: Risk | None,
    weights: FloatArray,
    bound: float,
) -> tuple[RectifiedValues, float, FloatArray, FloatArray]:
    """The rectified values, the betting share, and cross-fitted risks for the estimate."""
    if risk is not None:
        return _play_fixed(labelled, wrong, operational, alpha, risk, weights, bound)
    n = len(y)
    block = len(operational) // n
    values, ceilings = np.empty(n), np.empty(n)
    fitted, fitted_operational = np.empty(n), np.zeros(len(operational))
    current: Risk = no_risk
    stops = [0, *_refits(n), n]
    for start, stop in itertools.pairwise(stops):
        if start >= _FIRST_FIT:
            current = fit_risk(labelled.take(slice(0, start)), y[:start])
        largest = float(current(labelled.take(slice(0, max(1, start)))).max())
        here = np.minimum(current(labelled.take(slice(start, stop))), largest)
        rows = operational.take(slice(start * block, stop * block))
        there = np.minimum(current(rows), largest).reshape(stop - start, block)
        values[start:stop] = weights[start:stop] * (wrong[start:stop] - here) + there.mean(axis=1)
        ceilings[start:stop] = bound + largest
        fitted[start:stop] = here
        fitted_operational[start * block : stop * block] = there.ravel()
    game = RectifiedValues(values, ceilings, 0.1 * bound)
    return game, _SMALL_SHARE, fitted, fitted_operational[: n * block]


def _play_fixed(
    labelled: Inputs,
    wrong: FloatArray,
    operational: Inputs,
    alpha: float,
    risk: Risk,
    weights: FloatArray,
    bound: float,
) -> tuple[RectifiedValues, float, FloatArray, FloatArray]:
    """A surrogate from elsewhere: a tenth of the operational rows decides how alpha is split."""
    n = len(wrong)
    everywhere = risk(operational)
    first = max(1, len(operational) // 10)
    block = (len(operational) - first) // n
    if block == 0:
        first, block = 0, len(operational) // n
    trial, rest = everywhere[:first], everywhere[first : first + n * block]
    largest = float(trial.max()) if len(trial) else 1.0
    here = np.minimum(risk(labelled), largest)
    there = np.minimum(rest, largest).reshape(n, block)
    values = weights * (wrong - here) + there.mean(axis=1)
    expected = float((trial * (1 - trial)).mean() + trial.var() / block) if len(trial) else 0.1
    share = _betting_share(trial, expected, n, alpha)
    game = RectifiedValues(values, np.full(n, bound + largest), max(1e-4, expected * bound))
    return game, share, here, everywhere


def _betting_share(trial: FloatArray, expected: float, n: int, alpha: float) -> float:
    """How much of alpha the betting bound gets, decided without labels.

    If the surrogate were calibrated, both widths can be foretold from it alone.
    """
    if not len(trial):
        return _SMALL_SHARE
    rate = float(trial.mean())
    exact = _cp(rate * n, n, alpha) - rate
    betting = np.sqrt(2 * np.log(1 / (_LARGE_SHARE * alpha)) * expected / n)
    return _LARGE_SHARE if betting < exact else _SMALL_SHARE


def _refits(n: int) -> list[int]:
    """When the surrogate is fitted again: 40, 80, 160, … earlier labels."""
    stops, at = [], _FIRST_FIT
    while at < n:
        stops.append(at)
        at *= 2
    return stops


def _cp(errors: float, n: int, alpha: float) -> float:
    return float(clopper_pearson(errors, n, 1 - alpha, "upper")[1])


def _explained(wrong: FloatArray, risk: FloatArray) -> float:
    spread = wrong.var()
    return float(1 - (wrong - risk).var() / spread) if spread > 0 else 0.0
