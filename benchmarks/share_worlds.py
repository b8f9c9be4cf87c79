"""Shares, counts and means of independent rows, for ``benchmarks/coverage.py``."""

import numpy as np
from coverage_rows import ABOUT, HOLDS, MISUSED, Row, above, held, normal_width, seed_of

import fireassay.statistics as st

NORMAL = "normal at the true variance"


def proportion(function, n, p):
    def world(rng):
        truth = rng.random() if p is None else p
        low, high = function(int(rng.binomial(n, truth)), n)
        return held(low, high, truth, normal_width(np.sqrt(truth * (1 - truth)), n))

    return world


def exact_upper(n, p):
    def world(rng):
        upper = float(st.clopper_pearson(int(rng.binomial(n, p)), n, 0.95, "upper")[1])
        return above(upper, p, upper)

    return world


def weighted(rng):
    """Fractional successes: each of 100 rows counts with a Beta(0.3, 2.7) weight, mean 0.1."""
    low, high = st.clopper_pearson(float(rng.beta(0.3, 2.7, 100).sum()), 100)
    return held(low, high, 0.1, normal_width(np.sqrt(0.1 * 0.9 / 4), 100))


def poisson(mean):
    def world(rng):
        return held(*st.poisson_interval(int(rng.poisson(mean))), mean, normal_width(mean**0.5, 1))

    return world


def bernoulli(p, n):
    return lambda rng: ((rng.random(n) < p).astype(float), p, np.sqrt(p * (1 - p)))


def beta(a, b, n):
    spread = np.sqrt(a * b / ((a + b) ** 2 * (a + b + 1)))
    return lambda rng: (rng.beta(a, b, n), a / (a + b), spread)


def bounded_mean(draw):
    def world(rng):
        values, truth, spread = draw(rng)
        low, high = st.betting_interval(values)
        return held(low, high, truth, normal_width(spread, len(values)))

    return world


def upper_mean(draw, hoeffding=False):
    def world(rng):
        values, truth, spread = draw(rng)
        if hoeffding:
            upper = st.hoeffding_bentkus_upper(values.mean(), len(values), 0.95)
        else:
            upper = st.betting_interval(values, alternative="upper")[1]
        if set(np.unique(values)) <= {0.0, 1.0}:
            best = st.clopper_pearson(int(values.sum()), len(values), 0.95, "upper")[1]
        else:
            best = truth + 1.645 * spread / np.sqrt(len(values))
        return above(upper, truth, best)

    return world


def at_all_times(draw):
    """The running intervals count as one: a miss at any time is a miss."""

    def world(rng):
        values, truth, spread = draw(rng)
        low, high = st.betting_sequence(values)
        missed = bool(((low > truth) | (truth > high)).any())
        return missed, float(high[-1] - low[-1]), normal_width(spread, len(values))

    return world


def bootstrap_mean(rng):
    found = st.bootstrap(np.mean, rng.exponential(1.0, 50), n_resamples=500, seed=seed_of(rng))
    return held(found.low, found.high, 1.0, normal_width(1.0, 50))


def bootstrap_median(rng):
    found = st.bootstrap(np.median, rng.normal(0.0, 1.0, 60), n_resamples=500, seed=seed_of(rng))
    return held(found.low, found.high, 0.0, normal_width(np.sqrt(np.pi / 2), 60))


def bootstrap_clusters(aware):
    def world(rng):
        clusters = np.repeat(np.arange(40), 5)
        values = rng.normal(size=40)[clusters] + rng.normal(size=200)
        given = clusters if aware else None
        found = st.bootstrap(np.mean, values, groups=given, n_resamples=500, seed=seed_of(rng))
        return held(found.low, found.high, 0.0, normal_width(np.sqrt(1 + 1 / 5), 40))

    return world


BERNOULLI, BETA = bernoulli(0.05, 200), beta(1, 9, 200)
_B05, _B19 = "Bernoulli .05, n = 200", "Beta(1, 9), n = 200"
_EXACT = "Clopper–Pearson"
ROWS = [
    Row(
        _EXACT,
        "p = .02, n = 200",
        proportion(st.clopper_pearson, 200, 0.02),
        NORMAL,
        HOLDS,
        runs=20000,
    ),
    Row(
        _EXACT, "p = .3, n = 50", proportion(st.clopper_pearson, 50, 0.3), NORMAL, HOLDS, runs=20000
    ),
    Row(
        "Clopper–Pearson, upper",
        "p = .01, n = 300",
        exact_upper(300, 0.01),
        "itself: none is shorter",
        HOLDS,
        runs=20000,
    ),
    Row(
        "Clopper–Pearson, fractional",
        "weights Beta(.3, 2.7), n = 100",
        weighted,
        NORMAL,
        ABOUT,
        runs=20000,
    ),
    Row("Wilson", "p uniform, n = 50", proportion(st.wilson, 50, None), NORMAL, ABOUT, runs=20000),
    Row("Wilson", "p = .02, n = 200", proportion(st.wilson, 200, 0.02), NORMAL, ABOUT, runs=20000),
    Row("Poisson (Garwood)", "mean 3", poisson(3.0), NORMAL, HOLDS, runs=20000),
    Row("Poisson (Garwood)", "mean 30", poisson(30.0), NORMAL, HOLDS, runs=20000),
    Row("Hoeffding–Bentkus, upper", _B05, upper_mean(BERNOULLI, True), "exact", HOLDS, runs=5000),
    Row("Hoeffding–Bentkus, upper", _B19, upper_mean(BETA, True), NORMAL, HOLDS, runs=5000),
    Row("betting", _B05, bounded_mean(BERNOULLI), NORMAL, HOLDS, runs=4000),
    Row(
        "betting",
        "Beta(10, 30), n = 200",
        bounded_mean(beta(10, 30, 200)),
        NORMAL,
        HOLDS,
        runs=4000,
    ),
    Row(
        "betting",
        "Bernoulli .5, n = 30",
        bounded_mean(bernoulli(0.5, 30)),
        NORMAL,
        HOLDS,
        runs=4000,
    ),
    Row("betting, upper", _B05, upper_mean(BERNOULLI), "exact", HOLDS, runs=4000),
    Row("betting, upper", _B19, upper_mean(BETA), NORMAL, HOLDS, runs=4000),
    Row(
        "betting, all times",
        "Bernoulli .1, n = 1 … 500",
        at_all_times(bernoulli(0.1, 500)),
        NORMAL,
        HOLDS,
        runs=2000,
    ),
    Row(
        "betting, all times",
        "Beta(2, 2), n = 1 … 500",
        at_all_times(beta(2, 2, 500)),
        NORMAL,
        HOLDS,
        runs=2000,
    ),
    Row("bootstrap, mean", "exponential, n = 50", bootstrap_mean, NORMAL, runs=2000),
    Row("bootstrap, median", "normal, n = 60", bootstrap_median, NORMAL, runs=2000),
    Row(
        "bootstrap of groups, mean",
        "40 of 5, correlation .5",
        bootstrap_clusters(True),
        NORMAL,
        runs=2000,
    ),
    Row(
        "bootstrap of rows, mean",
        "40 of 5, correlation .5",
        bootstrap_clusters(False),
        NORMAL,
        MISUSED,
    ),
]
