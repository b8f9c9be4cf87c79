"""Tests where there is nothing to find, for ``benchmarks/coverage.py``."""

import numpy as np
from coverage_rows import HOLDS, MISUSED, NullRow, seed_of

import fireassay.statistics as st
from fireassay.assessment.parts.slices import found_slice
from fireassay.discovery import sdr
from fireassay.discovery.ratio import sequential_p_value
from fireassay.statistics.clustered_auc import clustered_auc


def mann_whitney(ratings=6, sick=20, healthy=40):
    positive = np.arange(sick + healthy) < sick
    return lambda rng: (
        st.mann_whitney_auc(rng.integers(0, ratings, len(positive)).astype(float), positive).p_value
    )


def paired_delong(n_positive, n_negative):
    def world(rng):
        positive = np.arange(n_positive + n_negative) < n_positive
        signal = rng.normal(size=len(positive)) + positive
        a, b = (signal + rng.normal(size=len(positive)) for _ in range(2))
        return st.delong_test(a, b, positive)

    return world


def spearman(n=20, values=5):
    return lambda rng: st.spearman(rng.normal(size=n), rng.integers(0, values, n))[1]


def _product(x, y):
    return float(x @ y)


def permutation(rng):
    x, y = rng.exponential(size=20), rng.integers(0, 2, 20)
    return st.permutation_test(_product, x, y, n_permutations=199, seed=seed_of(rng))


def permutation_of_groups(rng):
    """Both x and the class depend on the cluster, not on each other."""
    who = np.repeat(np.arange(16), 6)
    x = rng.normal(size=16)[who] + rng.normal(size=96)
    y = rng.integers(0, 2, 16)[who]
    return st.permutation_test(_product, x, y, n_permutations=199, groups=who, seed=seed_of(rng))


def auc_of_groups(sick, healthy):
    """Scores of patients that say nothing about who is sick."""

    def world(rng):
        who = np.repeat(np.arange(sick + healthy), 20)
        scores = rng.normal(size=sick + healthy)[who] + rng.normal(size=len(who))
        return clustered_auc(scores, who < sick, who).p_value

    return world


def worse_than_best(rng):
    """28 equal supervisors: is any called worse than the best?"""
    positive = np.arange(200) < 80
    scores = 0.6 * rng.normal(size=200) + 0.8 * rng.normal(size=(28, 200)) + 1.19 * positive
    return 0.0 if any(st.worse_than_best(*st.delong(scores, positive), 0.95)) else 1.0


def queried(rng, patients):
    """200 predictions, right as often as they say; of patients: 20 of 10, right or wrong alike."""
    stated = rng.uniform(0.7, 0.98, 200)
    draw = np.repeat(rng.random(20), 10) if patients else rng.random(200)
    return stated, draw < 1 - stated


def fixed_budget(patients, aware=False):
    def world(rng):
        stated, wrong = queried(rng, patients)
        return sdr(stated, wrong, groups=np.repeat(np.arange(20), 10) if aware else None).p_value

    return world


def stopped_by_looking(sequential):
    """Labels are bought until the p-value looks good, at least 20, at most 200."""

    def world(rng):
        stated, wrong = queried(rng, False)
        if sequential:
            return sequential_p_value(stated, wrong)
        return min(sdr(stated[:n], wrong[:n]).p_value for n in range(20, 201, 10))

    return world


def searched_slice(grouped):
    """Nothing is planted; with groups, patients have columns and error rates of their own."""

    def world(rng):
        who = np.repeat(np.arange(100), 10) if grouped else None
        X = rng.random((100, 6))[who] if grouped else rng.random((1000, 6))
        rate = rng.beta(0.4, 3.6, 100)[who] if grouped else np.full(1000, 0.1)
        X, wrong = X + 0.02 * rng.random(X.shape), rng.random(1000) < rate
        found = found_slice(X, wrong, [f"x{i}" for i in range(6)], groups=who, seed=seed_of(rng))
        return 1.0 if found is None else found.p_value

    return world


ROWS = [
    NullRow("Mann–Whitney", "six ratings, 20 + 40", mann_whitney(), 10_000),
    NullRow("DeLong, paired", "equal scores, 40 + 40", paired_delong(40, 40), 2000),
    NullRow("DeLong, paired", "equal scores, 5 + 100", paired_delong(5, 100), 500),
    NullRow("Spearman", "n = 20, ties in y", spearman(), 1500),
    NullRow("permutation", "n = 20, 199 permutations", permutation, 2000, HOLDS),
    NullRow("permutation of groups", "16 clusters of 6", permutation_of_groups, 2000, HOLDS),
    NullRow("AUC of groups", "3 + 3 patients of 20 rows", auc_of_groups(3, 3), 2000),
    NullRow("AUC of groups", "2 + 4 patients of 20 rows", auc_of_groups(2, 4), 2000),
    NullRow("worse than the best of 28", "AUC .80, 80 + 120", worse_than_best, 2000),
    NullRow("discovery ratio, fixed budget", "200 rows", fixed_budget(False), 2000, HOLDS),
    NullRow(
        "discovery ratio, fixed budget", "20 patients of 10 rows", fixed_budget(True), 2000, MISUSED
    ),
    NullRow(
        "discovery ratio, groups", "20 patients of 10 rows", fixed_budget(True, True), 1000, HOLDS
    ),
    NullRow(
        "discovery ratio, fixed budget",
        "stopped by looking",
        stopped_by_looking(False),
        1000,
        MISUSED,
    ),
    NullRow(
        "discovery ratio, sequential", "stopped by looking", stopped_by_looking(True), 2000, HOLDS
    ),
    NullRow(
        "slice found by search", "nothing planted, 1,000 rows", searched_slice(False), 300, HOLDS
    ),
    NullRow(
        "slice found by search, groups", "nothing planted, 100 × 10", searched_slice(True), 300
    ),
]
