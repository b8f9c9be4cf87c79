import numpy as np
import pytest
from scipy.stats import binom

from fireassay import as_classifier
from fireassay.core import DataError
from fireassay.reliability import Monitor

MODEL = as_classifier(
    lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1], bounds=(0, 1)
)


def rows(n, rng, a=2.0):
    X = rng.beta(a, 2, (n, 2))
    y = ((X[:, 0] > 0.5) ^ (rng.random(n) < 0.05)).astype(int)
    return X, y


def test_no_drift_raises_no_alarm_more_often_than_claimed():
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        monitor = Monitor(MODEL, rows(100, rng)[0], alarm=0.05, seed=seed)
        alarms += monitor.update(rows(150, rng)[0]).drifted
    assert alarms <= binom.ppf(0.999, 60, 0.05)


def test_drift_is_found():
    rng = np.random.default_rng(0)
    monitor = Monitor(MODEL, rows(300, rng)[0])
    assert not monitor.update(rows(200, rng)[0]).drifted
    state = monitor.update(rows(300, rng, a=5.0)[0])
    assert state.drifted
    assert state.drift_p < 0.01


def test_the_bound_narrows_with_labels_and_holds():
    rng = np.random.default_rng(1)
    monitor = Monitor(MODEL, rows(100, rng)[0])
    assert monitor.state().pmi_upper == 1
    bounds = []
    for _ in range(6):
        state = monitor.update(*rows(150, rng))
        bounds.append(state.pmi_upper)
    assert bounds == sorted(bounds, reverse=True)
    assert 0.05 < bounds[-1] < 0.1
    assert state.n_labels == 900
    assert state.n_errors / 900 == state.pmi


def test_moving_separation_is_reported():
    rng = np.random.default_rng(2)
    monitor = Monitor(MODEL, rows(50, rng)[0])
    first = monitor.update(np.array([[0.1, 0.1], [0.9, 0.9]]), [0, 1])
    assert first.r == pytest.approx(0.4)
    later = monitor.update(np.array([[0.5, 0.5], [0.52, 0.5]]), [0, 1])
    assert later.r == pytest.approx(0.01)
    assert later.r_moved


def test_the_profile_grows_and_bad_rows_are_refused():
    rng = np.random.default_rng(3)
    monitor = Monitor(MODEL, rows(50, rng)[0])
    monitor.update(rows(30, rng)[0])
    assert monitor.profile(bandwidth=0.1).n_ == 80
    with pytest.raises(DataError, match="shape"):
        monitor.update(np.zeros((3, 5)))
    with pytest.raises(DataError, match="20"):
        Monitor(MODEL, rows(5, rng)[0])
