"""Labels drawn in the field, surrogates, cells of black boxes, for ``benchmarks/coverage.py``."""

import numpy as np
from coverage_rows import HOLDS, Row, above, seed_of
from scipy.stats import binom

from fireassay.core.seeds import generator
from fireassay.discovery import estimate_error
from fireassay.reliability.betting_bound import rectified_bound
from fireassay.reliability.cells import CellLabels, Grid
from fireassay.reliability.inputs import Inputs
from fireassay.reliability.weighted_cells import cell_total
from fireassay.statistics import clopper_pearson, recent_rate_upper, thinned_upper, thinning

_GAMMA = generator(0, "field of risks").gamma(0.3, 1 / 0.3, 2_000_000)
POOL, OUTSIDE = 20_000, 2000


def draws(rate, guess, labels=1000):
    """Labels drawn by suspicion; compared with Clopper–Pearson's mean on as many uniform labels."""
    truth = float(np.minimum(1.0, rate * _GAMMA).mean())
    hits = np.arange(labels + 1)
    bounds = clopper_pearson(hits, labels, 0.975, "upper")[1]
    exact = float(binom.pmf(hits, labels, truth) @ np.asarray(bounds))

    def guessed(risk):
        if guess == "flat":
            return np.full(len(risk), rate)
        if guess == "inverted":
            return np.clip(rate**2 / np.maximum(risk, rate / 20), 0.0, 1.0)
        return np.minimum(1.0, (5 if guess == "overrated" else 1) * risk)

    def world(rng):
        risk, outside = (
            np.minimum(1.0, rate * rng.gamma(0.3, 1 / 0.3, n)) for n in (POOL, OUTSIDE)
        )
        wrong = rng.random(POOL) < risk
        plan = thinning(guessed(risk), guessed(outside), labels)
        upper = thinned_upper(plan, plan.draw(rng), wrong)
        return above(upper, truth, exact)

    return world


def perfect_surrogate(rate, n=2000):
    """A surrogate that knows the chance of each error; compared with Clopper–Pearson."""

    def world(rng):
        field, X = rng.random((10 * n, 1)), rng.random((n, 1))
        risk = lambda inputs: np.minimum(1.0, 20 * rate * (inputs.X[:, 0] < 0.05))  # noqa: E731
        sure = lambda rows: np.tile([1.0, 0.0], (len(rows), 1))  # noqa: E731
        known, labelled = Inputs(field, sure(field)), Inputs(X, sure(X))
        wrong = (rng.random(n) < risk(labelled)).astype(int)
        found = rectified_bound(labelled, wrong, known, alpha=0.025, risk=risk, seed=seed_of(rng))
        return above(found.pmi_upper, rate, found.clopper_pearson_alone)

    return world


GRID = Grid.regular(20, (0, 1), dimensions=2)
LABELS = CellLabels.observed(GRID, np.zeros((1, 2)), np.zeros(1, dtype=np.int64))
MASS = np.random.default_rng(0).dirichlet(np.ones(GRID.n_cells))


def cells(rng):
    """Class 1 in a corner of every cell, .5 % of its area; 2,000 points can miss it."""

    def patchy(X):
        return (np.sqrt(0.005) > (X * 20) % 1).all(axis=1).astype(int)

    label = np.zeros(GRID.n_cells, dtype=np.int64)
    total = cell_total(patchy, GRID, LABELS, label, MASS, draws=2000, seed=seed_of(rng))
    upper = total.upper(0.025)
    return above(upper, 0.005, upper)


def unbiased_rate(patients=40, draws=200, rate=0.1, pull=1.0):
    """LURE on a pool of patients of 50 rows: the draws are random, the pool is what it is.

    Wrong rows weigh ``pull`` more; below zero the suspicion is of the wrong rows.
    """
    pool = 50 * patients

    def world(rng):
        rates = rng.beta(rate * 4, (1 - rate) * 4, patients)
        wrong = (rng.random((patients, 50)) < rates[:, None]).ravel()
        weight = 0.5 + np.where(wrong, max(pull, 0.0), max(-pull, 0.0)) + rng.random(pool)
        left, drawn, chances = np.ones(pool, dtype=bool), [], []
        for _ in range(draws):
            p = weight * left / (weight * left).sum()
            row = int(rng.choice(pool, p=p))
            drawn.append(row)
            chances.append(float(p[row]))
            left[row] = False
        found = estimate_error(drawn, wrong[drawn], chances, pool)
        truth = float(wrong.mean())
        normal = 2 * 1.96 * float(np.sqrt(truth * (1 - truth) / draws))
        return not found.low <= truth <= found.high, found.high - found.low, normal

    return world


def now(since=200, before=0.01, after=0.1):
    """The last 500 labels, so many of them after a jump of the rate: their mean rate."""
    rates = np.r_[np.full(1500 - since, before), np.full(since, after)]
    truth = float(rates[-500:].mean())

    def world(rng):
        upper = recent_rate_upper(rng.random(1500) < rates)
        return above(upper, truth, upper)

    return world


UNIFORM = "exact, uniform labels"
ROWS = [
    *(
        Row(
            "draws by suspicion, upper",
            f"p = {rate:g}, {guess} risk",
            draws(rate, guess),
            UNIFORM,
            HOLDS,
            0.975,
            1000,
        )
        for guess in ("good", "flat", "overrated", "inverted")
        for rate in (0.02, 0.05, 0.10)
    ),
    Row(
        "surrogate and labels, upper",
        "p = .002, perfect surrogate",
        perfect_surrogate(0.002),
        "exact",
        HOLDS,
        0.975,
        400,
    ),
    Row(
        "surrogate and labels, upper",
        "p = .005, perfect surrogate",
        perfect_surrogate(0.005),
        "exact",
        HOLDS,
        0.975,
        400,
    ),
    Row(
        "cells of a black box, upper",
        "share .005, 2,000 points",
        cells,
        "itself: none is shorter",
        HOLDS,
        0.975,
        5000,
    ),
    Row(
        "unbiased rate of a pool (LURE)",
        "pool of 40 × 50, 200 drawn by weight",
        unbiased_rate(),
        "normal, uniform draws",
        HOLDS,
        runs=1000,
    ),
    Row(
        "rate of the last 500 labels, upper",
        "200 labels after 1 → 10 %",
        now(),
        "itself",
        HOLDS,
        runs=5000,
    ),
]
