"""Areas under the curve, of one score and of the best of many, for ``benchmarks/coverage.py``."""

import numpy as np
from coverage_rows import HOLDS, MISUSED, Row, held
from scipy.special import ndtr, ndtri

import fireassay.statistics as st
from fireassay.core import NotEnoughEvidenceError
from fireassay.statistics.clustered_auc import clustered_auc, simultaneous_clustered_aucs
from fireassay.supervision import alarm_rule

NORMAL = "DeLong, normal quantile"


def binormal(rng, shift, n_positive, n_negative):
    positive = np.arange(n_positive + n_negative) < n_positive
    return rng.normal(size=len(positive)) + shift * positive, positive


def delong_width(scores, positive):
    return 2 * 1.96 * float(np.sqrt(st.delong(scores[None, :], positive)[1][0, 0]))


def auc(function, shift, n_positive, n_negative):
    truth = float(ndtr(shift / np.sqrt(2.0)))

    def world(rng):
        scores, positive = binormal(rng, shift, n_positive, n_negative)
        found = function(scores, positive)
        return held(found.low, found.high, truth, delong_width(scores, positive))

    return world


def auc_of_ratings(function, n_each):
    """Five-level ratings, as of a reader; the truth counts ties half."""
    good, bad = np.array([0.05, 0.1, 0.2, 0.3, 0.35]), np.array([0.35, 0.3, 0.2, 0.1, 0.05])
    truth = float(good @ (np.cumsum(bad) - bad / 2))

    def world(rng):
        scores = np.r_[rng.choice(5, n_each, p=good), rng.choice(5, n_each, p=bad)].astype(float)
        positive = np.arange(2 * n_each) < n_each
        found = function(scores, positive)
        return held(found.low, found.high, truth, delong_width(scores, positive))

    return world


def patients(rng, sick, healthy, size, correlation, area):
    """Scores of patients who are sick or healthy as a whole, two of one patient alike."""
    who = np.repeat(np.arange(sick + healthy), size)
    own = rng.normal(size=sick + healthy)[who] * np.sqrt(correlation)
    positive = who < sick
    shift = np.sqrt(2.0) * ndtri(area)
    return (
        own + rng.normal(size=len(who)) * np.sqrt(1 - correlation) + shift * positive,
        positive,
        who,
    )


def clustered(sick, healthy, size, correlation, area, aware=True):
    """Compared with DeLong's width for as many independent rows as the patients are worth."""

    def world(rng):
        scores, positive, who = patients(rng, sick, healthy, size, correlation, area)
        other = clustered_auc if aware else lambda s, p, _: st.delong_interval(s, p)
        found = other(scores, positive, who)
        effect = np.sqrt(1 + (size - 1) * correlation)
        return held(found.low, found.high, area, effect * delong_width(scores, positive))

    return world


def equals(rng, count, sick, healthy, shift):
    """Scores of supervisors that are equally good and partly alike."""
    positive = np.arange(sick + healthy) < sick
    noise = 0.6 * rng.normal(size=len(positive)) + 0.8 * rng.normal(size=(count, len(positive)))
    return noise + shift * positive, positive


def winner(count=28, sick=80, healthy=120, shift=1.19):
    """The best of equal supervisors; compared with its own interval, which does not hold."""

    def world(rng):
        scores, positive = equals(rng, count, sick, healthy, shift)
        found = st.simultaneous_aucs(scores, positive)
        best = max(found, key=lambda e: e.value)
        alone = st.delong_interval(scores[found.index(best)], positive)
        return held(best.low, best.high, float(ndtr(shift / np.sqrt(2))), alone.high - alone.low)

    return world


def winner_alone(count=28, sick=80, healthy=120, shift=1.19):
    """The same, reported with its own interval."""

    def world(rng):
        scores, positive = equals(rng, count, sick, healthy, shift)
        best = max(scores, key=lambda s: float(st.delong(s[None, :], positive)[0][0]))
        alone = st.delong_interval(best, positive)
        return held(alone.low, alone.high, float(ndtr(shift / np.sqrt(2))), alone.high - alone.low)

    return world


def grouped_winner(count=10, each=20, size=10, correlation=0.3, area=0.85):
    """The best of many supervisors, as many sick as healthy patients."""

    def world(rng):
        who = np.repeat(np.arange(2 * each), size)
        positive = who < each
        shared = rng.normal(size=2 * each)[who] * np.sqrt(correlation)
        noise = rng.normal(size=(count, len(who))) * np.sqrt(1 - correlation)
        scores = shared + noise + np.sqrt(2.0) * ndtri(area) * positive
        found = simultaneous_clustered_aucs(scores, positive, who)
        best = max(found, key=lambda e: e.value)
        alone = clustered_auc(scores[found.index(best)], positive, who)
        return held(best.low, best.high, area, alone.high - alone.low)

    return world


def alarms(groups, size, correlation):
    """Whether more than 5 % of nominal rows lie above the threshold; the width is its level.

    Compared with the threshold that knows the distribution.
    """

    def world(rng):
        who = np.repeat(np.arange(groups), size)
        own = rng.normal(size=groups)[who] * np.sqrt(correlation)
        scores = own + np.sqrt(1 - correlation) * rng.normal(size=len(who))
        try:
            threshold = alarm_rule(scores, groups=None if size == 1 else who).threshold
        except NotEnoughEvidenceError:  # no promise is made, none is broken
            return False, float(scores.max()), float(ndtri(0.95))
        return bool(threshold < ndtri(0.95)), threshold, float(ndtri(0.95))

    return world


MW, DL = st.mann_whitney_auc, st.delong_interval
_MW, _DL = "Mann–Whitney AUC (Newcombe)", "DeLong, logit, t"
_EFFECT = "DeLong at the design effect"
ROWS = [
    Row(_MW, "AUC .76, 30 + 30", auc(MW, 1.0, 30, 30), NORMAL),
    Row(_MW, "AUC .983, 20 + 100", auc(MW, 3.0, 20, 100), NORMAL),
    Row(_MW, "five ratings, 50 + 50", auc_of_ratings(MW, 50), NORMAL),
    Row(_DL, "AUC .76, 30 + 30", auc(DL, 1.0, 30, 30), NORMAL, runs=2000),
    Row(_DL, "AUC .983, 20 + 100", auc(DL, 3.0, 20, 100), NORMAL, runs=2000),
    Row(_DL, "AUC .983, 100 + 100", auc(DL, 3.0, 100, 100), NORMAL, runs=2000),
    Row(_DL, "AUC .76, 5 + 500", auc(DL, 1.0, 5, 500), NORMAL, runs=2000),
    Row(_DL, "five ratings, 50 + 50", auc_of_ratings(DL, 50), NORMAL, runs=2000),
    Row(
        "AUC of groups",
        "10 + 10 of 25 rows, correlation .5, AUC .8",
        clustered(10, 10, 25, 0.5, 0.8),
        _EFFECT,
    ),
    Row(
        "AUC of groups",
        "6 + 6 of 25 rows, correlation .3, AUC .99",
        clustered(6, 6, 25, 0.3, 0.99),
        _EFFECT,
    ),
    Row(
        "AUC of groups",
        "3 + 3 of 20 rows, correlation .3, AUC .8",
        clustered(3, 3, 20, 0.3, 0.8),
        _EFFECT,
    ),
    Row(
        "AUC of rows",
        "10 + 10 of 25 rows, correlation .5, AUC .8",
        clustered(10, 10, 25, 0.5, 0.8, False),
        _EFFECT,
        MISUSED,
    ),
    Row("best of 28 AUCs", "AUC .80, 80 + 120", winner(), "its own interval", runs=500),
    Row(
        "best of 28 AUCs, its own interval",
        "AUC .80, 80 + 120",
        winner_alone(),
        "itself",
        MISUSED,
        runs=1000,
    ),
    Row(
        "best of 10 AUCs, groups",
        "20 + 20 of 10 rows, correlation .3, AUC .85",
        grouped_winner(),
        "its own interval",
        runs=1000,
    ),
    Row("alarm rule", "500 nominal rows", alarms(500, 1, 0.0), "true quantile", HOLDS, runs=5000),
    Row(
        "alarm rule, groups",
        "40 × 25, correlation .3",
        alarms(40, 25, 0.3),
        "true quantile",
        runs=500,
    ),
    Row(
        "alarm rule, groups",
        "80 × 10, correlation .5",
        alarms(80, 10, 0.5),
        "true quantile",
        runs=500,
    ),
]
