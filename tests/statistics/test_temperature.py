import importlib
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from fireassay.core import ConvergenceWarning, DataError
from fireassay.core.arrays import softmax
from fireassay.statistics import fit_temperature

temperature_module = importlib.import_module("fireassay.statistics.temperature")


def sample(temperature, n=400, k=5, seed=0):
    """Labels drawn from softmax(logits / temperature)."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 3, (n, k))
    shares = softmax(logits / temperature, axis=1).cumsum(axis=1)
    return logits, (rng.random((n, 1)) > shares).sum(axis=1)


def likelihood(temperature, logits, labels):
    return -log_softmax(logits / temperature, axis=1)[np.arange(len(labels)), labels].mean()


@pytest.mark.parametrize("truth", [0.5, 1.0, 2.0, 5.0])
def test_equals_a_direct_search_and_is_near_the_truth(truth):
    logits, labels = sample(truth, n=2000)
    direct = minimize_scalar(
        lambda log_t: likelihood(np.exp(log_t), logits, labels),
        bounds=(-4, 4),
        method="bounded",
        options={"xatol": 1e-9},
    )
    ours = fit_temperature(logits, labels)
    assert ours == pytest.approx(np.exp(direct.x), rel=1e-5)
    assert ours == pytest.approx(truth, rel=0.15)


def test_closed_form_of_two_classes_with_one_margin():
    # All margins 4, 80 of 100 right: 4 / T = log(0.8 / 0.2).
    logits = np.tile([4.0, 0.0], (100, 1))
    assert fit_temperature(logits, np.arange(100) >= 80) == pytest.approx(4 / np.log(4), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4, 1e12, 1e300])
def test_logits_of_any_size(scale):
    logits, labels = sample(2.0)
    assert fit_temperature(logits * scale, labels) == pytest.approx(
        scale * fit_temperature(logits, labels), rel=1e-9
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.floats(-50, 50), st.randoms())
def test_rows_classes_and_offsets_do_not_matter(seed, offset, random):
    logits, labels = sample(1.5, n=80, seed=seed)
    rows, classes = list(range(80)), list(range(5))
    random.shuffle(rows)
    random.shuffle(classes)
    renamed = np.argsort(classes)[labels]
    changed = fit_temperature(logits[rows][:, classes] + offset, renamed[rows])
    assert changed == pytest.approx(fit_temperature(logits, labels), rel=1e-6)


def test_separable_rows_are_bounded_and_told():
    logits = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.warns(ConvergenceWarning, match="classified right"):
        temperature = fit_temperature(logits, logits.argmax(axis=1))
    assert 0.001 < temperature < 0.1


def test_logits_against_the_labels_are_bounded_and_told():
    logits = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.warns(ConvergenceWarning, match="do not point"):
        temperature = fit_temperature(logits, logits.argmin(axis=1))
    assert 10 < temperature < 1000


def test_flat_logits_leave_the_model_as_it_is():
    with pytest.warns(ConvergenceWarning, match="same logit"):
        assert fit_temperature(np.full((4, 3), 7.3), [0, 1, 2, 0]) == 1.0


def test_many_rows_are_gone_through_a_few_times_only(monkeypatch):
    seen, whole = [], temperature_module._slope
    monkeypatch.setattr(
        temperature_module, "_slope", lambda table, *rest: seen.append(table) or whole(table, *rest)
    )
    logits, labels = sample(2.0, n=3000, k=200)
    assert fit_temperature(logits, labels) == pytest.approx(2.0, rel=0.05)
    assert sum(table.size for table in seen) <= 5 * logits.size


def test_the_fit_never_worsens_the_likelihood():
    for seed in range(20):
        logits, labels = sample(1.0, n=40, seed=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = fit_temperature(logits, labels)
        assert likelihood(fitted, logits, labels) <= likelihood(1.0, logits, labels) + 1e-12


@pytest.mark.parametrize(
    ("logits", "labels"),
    [
        (np.zeros((0, 3)), []),
        ([[1.0], [2.0]], [0, 0]),
        ([1.0, 2.0], [0, 1]),
        ([[1.0, np.nan]], [0]),
        ([[1.0, np.inf]], [0]),
        ([[1.0, 2.0]], [2]),
        ([[1.0, 2.0]], [-1]),
        ([[1.0, 2.0]], [0, 1]),
        ([["a", "b"]], [0]),
    ],
)
def test_bad_data_is_refused(logits, labels):
    with pytest.raises(DataError, match="Got"):
        fit_temperature(logits, labels)
