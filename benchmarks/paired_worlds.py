"""Two models on the same rows, for ``benchmarks/coverage.py``: how often the change is covered."""

import numpy as np
from scipy.special import ndtr

import fireassay.statistics as st

RUNS = 2000


def models(only_first, only_second, both, n):
    """Rows that only one of two models gets right, or both."""
    chances = [only_first, only_second, both, 1 - only_first - only_second - both]

    def experiment(rng):
        kind = rng.choice(4, n, p=chances)
        found = st.paired_difference((kind == 0) | (kind == 2), (kind == 1) | (kind == 2))
        return found.low, found.high, only_second - only_first

    return experiment


def patients(groups, rows, gained, lost, memory):
    """Patients whose rows are gained or lost together with this intra-class correlation."""

    def experiment(rng):
        member = np.repeat(np.arange(groups), rows)
        s = 1 / memory - 1
        up = rng.beta(gained * s, (1 - gained) * s, groups)[member]
        down = rng.beta(lost * s, (1 - lost) * s, groups)[member]
        draw = rng.random(len(member))
        better = draw < up
        worse = ~better & (rng.random(len(member)) < down)
        right = rng.random(len(member)) < 0.9
        first = np.where(better, False, np.where(worse, True, right))
        second = np.where(better, True, np.where(worse, False, right))
        found = st.paired_difference(first, second, groups=member)
        truth = gained - lost * (1 - gained)
        return found.low, found.high, truth

    return experiment


def queries(n):
    """Skewed times of two models on the same rows, the second 20 % longer."""

    def experiment(rng):
        shared = rng.exponential(100, n)
        found = st.paired_mean_difference(
            shared * rng.lognormal(0, 0.3, n), 1.2 * shared * rng.lognormal(0, 0.3, n)
        )
        return found.low, found.high, 20 * float(np.exp(0.045))

    return experiment


def scores(n_positive, n_negative, first, second):
    """Two normal scores with correlation one half on the same rows."""
    truth = float(ndtr(second / np.sqrt(2)) - ndtr(first / np.sqrt(2)))

    def experiment(rng):
        positive = np.arange(n_positive + n_negative) < n_positive
        shared = rng.normal(size=len(positive))
        a, b = ((shared + rng.normal(size=len(positive))) / np.sqrt(2) for _ in range(2))
        found = st.paired_auc_difference(a + first * positive, b + second * positive, positive)
        return found.low, found.high, truth

    return experiment


ROWS = [
    ("paired shares", "2 % gained, 1 % lost, n = 500", models(0.01, 0.02, 0.9, 500)),
    ("paired shares", "0.2 % gained and lost, n = 300", models(0.002, 0.002, 0.9, 300)),
    ("paired shares", "complementary errors, 10 % each, n = 200", models(0.1, 0.1, 0.8, 200)),
    ("paired shares", "20 % gained, 5 % lost, n = 60", models(0.05, 0.2, 0.6, 60)),
    (
        "paired shares, groups",
        "40 × 25, 4 % gained, 2 % lost, ICC .3",
        patients(40, 25, 0.04, 0.02, 0.3),
    ),
    ("paired shares, groups", "100 × 10, 2 % each, ICC .1", patients(100, 10, 0.02, 0.02, 0.1)),
    ("paired means, t", "skewed times, n = 50", queries(50)),
    ("paired AUCs, DeLong", "0.76 and 0.86, 40 + 40", scores(40, 40, 1.0, 1.5)),
    ("paired AUCs, DeLong", "0.92 and 0.98, 20 + 200", scores(20, 200, 2.0, 3.0)),
]
