import importlib

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from fireassay.statistics import clumped_rows

module = importlib.import_module("fireassay.statistics.clumped_rows")
BUILT_IN = {
    name: load().data
    for name, load in (
        ("iris", load_iris),
        ("wine", load_wine),
        ("breast cancer", load_breast_cancer),
        ("digits", load_digits),
        ("diabetes", load_diabetes),
    )
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_rows_that_nobody_copied_are_not_clumped(name):
    assert not clumped_rows(BUILT_IN[name]).many


@pytest.mark.parametrize("columns", [2, 8, 100])
def test_independent_rows_of_any_number_of_columns(columns):
    rng = np.random.default_rng(0)
    draws = (rng.normal, rng.exponential, lambda size: rng.standard_t(3, size))
    assert not any(clumped_rows(draw(size=(200, columns)), s).many for s, draw in enumerate(draws))


def test_few_values_are_no_clumps():
    rng = np.random.default_rng(1)
    assert not clumped_rows(rng.integers(0, 3, (400, 6))).many
    assert not clumped_rows(rng.integers(0, 2, (400, 12))).many


@pytest.mark.parametrize("noise", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("name", ["wine", "breast cancer", "digits"])
def test_rows_of_one_patient_are_seen(name, noise):
    rng = np.random.default_rng(2)
    X = BUILT_IN[name]
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    patients = np.repeat(X[rng.permutation(len(X))[:60]], 8, axis=0)
    patients += noise * X.std(axis=0) * rng.normal(size=patients.shape)
    assert clumped_rows(patients[rng.permutation(len(patients))]).many


def test_too_few_rows_say_nothing():
    assert clumped_rows(np.random.default_rng(3).normal(size=(30, 3))).looked_at == 0


@pytest.mark.parametrize("seed", [3, 82, 88])  # whose shuffled columns jump a little more
def test_many_rows_are_judged_as_few_are(seed):
    rng = np.random.default_rng(seed)
    found = clumped_rows(rng.normal(size=(4000, 3)), seed)
    assert found.looked_at == 300
    assert not found.many
    patients = np.repeat(rng.normal(size=(700, 3)), 6, axis=0)
    assert clumped_rows(patients + 0.02 * rng.normal(size=patients.shape), seed).many


def test_few_very_wide_rows_are_mixed_before_they_are_compared(monkeypatch):
    widths = []
    exact = module.nearest_distances
    monkeypatch.setattr(
        module,
        "nearest_distances",
        lambda rows, *a: widths.append(rows.shape[1]) or exact(rows, *a),
    )
    rng = np.random.default_rng(4)
    patients = np.repeat(rng.normal(size=(40, 20_000)), 5, axis=0)
    assert clumped_rows(patients + 0.3 * rng.normal(size=patients.shape)).many
    assert not clumped_rows(rng.normal(size=(200, 20_000))).many
    assert max(widths) <= 256
