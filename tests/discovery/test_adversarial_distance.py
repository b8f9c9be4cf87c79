"""Adversarial distance: the residual of a curve, measured by an attack."""

import numpy as np
import pytest

from fireassay import discovery
from fireassay.classifiers import as_classifier
from fireassay.core.errors import DataError


def test_it_is_the_residual_of_the_curve_and_failures_come_last():
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.65, 1.0, 300)
    logs = 2 * confidence + 0.01 * rng.standard_normal(300)
    logs[7] -= 1.0
    logs[8] = np.inf
    scores = discovery.adversarial_distance(log_mae=logs, confidence=confidence)
    assert scores.argmin() == 7
    assert scores[7] == pytest.approx(-1.0, abs=0.05)
    assert np.isposinf(scores[8])
    assert np.argsort(scores)[-1] == 8


def test_what_it_refuses():
    with pytest.raises(DataError, match="At least 3"):
        discovery.adversarial_distance(log_mae=[np.inf] * 5, confidence=[0.9] * 5)
    with pytest.raises(DataError, match="NaN"):
        discovery.adversarial_distance(log_mae=[np.nan] * 5, confidence=[0.9] * 5)
    with pytest.raises(DataError, match="length 0"):
        discovery.adversarial_distance(log_mae=[-np.inf, 1, 2, 3], confidence=[0.9] * 4)
    with pytest.raises(DataError, match="same number"):
        discovery.adversarial_distance(log_mae=[1.0, 2.0, 3.0], confidence=[0.9])


@pytest.mark.parametrize("attack", ["hopskipjump", "boundary"])
def test_measured_distances_fall_with_the_distance_to_the_boundary(corner, attack):
    X = corner.X[:80]
    logs = discovery.measure_log_mae(corner.model, X, attack, max_queries=300)
    gap = np.abs(X @ corner.weights) / np.linalg.norm(corner.weights)
    assert np.corrcoef(logs, np.log(gap))[0, 1] > 0.9
    scores = discovery.measure_adversarial_distance(corner.model, X, attack, max_queries=50)
    assert scores.shape == (80,)


def test_calibration_keeps_decisions_and_lowers_the_error():
    from fireassay.classifiers import as_classifier
    from fireassay.statistics import expected_calibration_error

    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 1))
    y = (rng.random(4000) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)

    def overconfident(rows):
        positive = 1 / (1 + np.exp(-4 * rows[:, 0]))
        return np.column_stack([1 - positive, positive])

    model = as_classifier(overconfident)
    calibrated = discovery.calibrate(model, X_val=X[:2000], y_val=y[:2000])
    np.testing.assert_array_equal(calibrated.predict(X[2000:]), model.predict(X[2000:]))
    before = expected_calibration_error(model.predict_proba(X[2000:]), y[2000:])
    after = expected_calibration_error(calibrated.predict_proba(X[2000:]), y[2000:])
    assert after.value < before.value / 3
    curve = discovery.class_reliability(calibrated, X[2000:], y[2000:], critical_class=1)
    assert curve.counts.sum() == (calibrated.predict(X[2000:]) == 1).sum()


def test_an_attack_that_overturns_nothing_says_so(corner):
    """Within these bounds every row has the same class: no distance can be measured."""
    flat = as_classifier(lambda X: np.tile([0.9, 0.1], (len(X), 1)), bounds=(-5, 5))
    assert np.isinf(discovery.measure_log_mae(flat, corner.X[:4], max_queries=20)).all()
    with pytest.raises(DataError, match="At least 3 predictions"):
        discovery.Search(
            "adversarial-distance", model=flat, X=corner.X[:4], budget=2, max_queries=20
        )
