"""Two models on the same rows, for ``benchmarks/coverage.py``: how often the change is covered."""

import numpy as np
from coverage_rows import Row, held, normal_width
from scipy.special import ndtr

import fireassay.statistics as st

NORMAL = "normal at the true variance"


def models(only_first, only_second, both, n):
    """Rows that only one of two models gets right, or both."""
    chances = [only_first, only_second, both, 1 - only_first - only_second - both]
    truth = only_second - only_first
    spread = np.sqrt(only_first + only_second - truth**2)

    def world(rng):
        kind = rng.choice(4, n, p=chances)
        found = st.paired_difference((kind == 0) | (kind == 2), (kind == 1) | (kind == 2))
        return held(found.low, found.high, truth, normal_width(spread, n))

    return world


def patients(groups, rows, gained, lost, memory):
    """Patients whose rows are gained or lost together with this intra-class correlation."""
    truth = gained - lost * (1 - gained)
    n = groups * rows / (1 + (rows - 1) * memory)
    spread = np.sqrt(gained + lost * (1 - gained) - truth**2)

    def world(rng):
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
        return held(found.low, found.high, truth, normal_width(spread, n))

    return world


def queries(n):
    """Skewed times of two models on the same rows, the second 20 % longer."""
    noise = np.exp(0.09) * (np.exp(0.09) - 1)
    spread = np.sqrt(20000 * noise * (1 + 1.44) + 0.04 * 10000 * np.exp(0.09))

    def world(rng):
        shared = rng.exponential(100, n)
        found = st.paired_mean_difference(
            shared * rng.lognormal(0, 0.3, n), 1.2 * shared * rng.lognormal(0, 0.3, n)
        )
        return held(found.low, found.high, 20 * float(np.exp(0.045)), normal_width(spread, n))

    return world


def scores(n_positive, n_negative, first, second, shared=0.5):
    """Two normal scores on the same rows; compared with DeLong's normal interval."""
    truth = float(ndtr(second / np.sqrt(2)) - ndtr(first / np.sqrt(2)))

    def world(rng):
        positive = np.arange(n_positive + n_negative) < n_positive
        common = np.sqrt(shared) * rng.normal(size=len(positive))
        a, b = (common + np.sqrt(1 - shared) * rng.normal(size=len(positive)) for _ in range(2))
        a, b = a + first * positive, b + second * positive
        found = st.paired_auc_difference(a, b, positive)
        covariance = st.delong(np.stack([a, b]), positive)[1]
        spread = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
        return held(found.low, found.high, truth, 2 * 1.96 * float(np.sqrt(max(spread, 0.0))))

    return world


def precisions(n):
    """Two models that answer "sick" for other rows of the same set; how often each is right."""

    def world(rng):
        sick = rng.random(n) < 0.3
        easy = rng.random(n) < 0.7  # both models see it
        said = []
        for error in (0.15, 0.10):
            own = rng.random(n) < error
            said.append(np.where(easy, sick ^ (rng.random(n) < 0.03), sick ^ own))
        found = st.paired_ratio_difference((sick, said[0]), (sick, said[1]))
        truths = []
        for error in (0.15, 0.10):
            hits = 0.3 * (0.7 * 0.97 + 0.3 * (1 - error))
            truths.append(hits / (hits + 0.7 * (0.7 * 0.03 + 0.3 * error)))
        spread = np.sqrt(sum(p * (1 - p) for p in truths))
        return held(found.low, found.high, truths[1] - truths[0], normal_width(spread, 0.33 * n))

    return world


def calibrations(first, second, n, groups=0):
    """Two confidences off by so much, answers mostly shared; compared with independent rows."""

    def world(rng):
        unit = np.repeat(np.arange(groups), n // groups) if groups else None
        own = rng.beta(0.8 * 9, 0.2 * 9, groups)[unit] if groups else np.full(n, 0.8)
        right = rng.random(n) < own
        other = np.where(rng.random(n) < 0.9, right, rng.random(n) < own)
        sure = [np.full(n, 0.8 + first), np.full(n, 0.8 + second)]
        found = st.paired_calibration_difference(
            (sure[0], right), (sure[1], other), groups=unit, seed=int(rng.integers(2**31))
        )
        return held(found.low, found.high, second - first, normal_width(np.sqrt(2 * 0.16), n))

    return world


def costs(n):
    """A second model that avoids a third of the dear mistakes; compared with the true variance."""

    def world(rng):
        dear, cheap = rng.random(n) < 0.03, rng.random(n) < 0.1
        first = 20.0 * dear + (cheap & ~dear)
        second = np.where(dear & (rng.random(n) < 1 / 3), 0.0, first)
        found = st.mean_cost(second - first, (-20, 20), seed=int(rng.integers(2**31)))
        return held(found.low, found.high, -0.2, normal_width(np.sqrt(4.0 - 0.04), n))

    return world


_SHARES, _GROUPS, _AUCS = "paired shares", "paired shares, groups", "paired AUCs"
_DELONG = "DeLong, normal"
ROWS = [
    Row(_SHARES, "2 % gained, 1 % lost, n = 500", models(0.01, 0.02, 0.9, 500), NORMAL, runs=4000),
    Row(
        _SHARES, "0.2 % gained and lost, n = 300", models(0.002, 0.002, 0.9, 300), NORMAL, runs=4000
    ),
    Row(
        _SHARES,
        "complementary errors, 10 % each, n = 200",
        models(0.1, 0.1, 0.8, 200),
        NORMAL,
        runs=4000,
    ),
    Row(_SHARES, "20 % gained, 5 % lost, n = 60", models(0.05, 0.2, 0.6, 60), NORMAL, runs=4000),
    Row(
        _GROUPS,
        "40 × 25, 4 % gained, 2 % lost, correlation .3",
        patients(40, 25, 0.04, 0.02, 0.3),
        NORMAL,
    ),
    Row(_GROUPS, "100 × 10, 2 % each, correlation .1", patients(100, 10, 0.02, 0.02, 0.1), NORMAL),
    Row("paired means, t", "skewed times, n = 50", queries(50), NORMAL, runs=4000),
    Row(_AUCS, ".76 and .86, 40 + 40", scores(40, 40, 1.0, 1.5), _DELONG),
    Row(_AUCS, ".92 and .98, 20 + 200", scores(20, 200, 2.0, 3.0), _DELONG),
    # Not looked at when the shrinking of their correlation was chosen.
    Row(_AUCS, ".70 and .70, 30 + 90, nearly alike", scores(30, 90, 0.75, 0.75, 0.9), _DELONG),
    Row(_AUCS, ".95 and .90, 15 + 60, nearly alike", scores(15, 60, 2.3, 1.8, 0.9), _DELONG),
    Row(_AUCS, ".84 and .89, 150 + 150", scores(150, 150, 1.4, 1.75, 0.3), _DELONG),
    Row(_AUCS, ".98 and .98, 12 + 300", scores(12, 300, 2.9, 2.9, 0.5), _DELONG),
    Row("paired precision", ".90 and .92, n = 500", precisions(500), "normal, independent rows"),
    Row(
        "paired calibration errors",
        ".12 and .05, n = 500",
        calibrations(0.12, 0.05, 500),
        "normal, independent rows",
    ),
    Row(
        "paired calibration errors",
        ".02 and .01, n = 500",
        calibrations(0.02, 0.01, 500),
        "normal, independent rows",
    ),
    Row(
        "paired calibration errors, groups",
        ".12 and .05, 50 × 10",
        calibrations(0.12, 0.05, 500, 50),
        "normal, independent rows",
    ),
    Row(
        "paired calibration errors, groups",
        ".12 and .05, 6 × 80",
        calibrations(0.12, 0.05, 480, 6),
        "normal, independent rows",
    ),
    Row("paired costs", "3 % cost 20, a third avoided, n = 600", costs(600), NORMAL, "holds"),
]
