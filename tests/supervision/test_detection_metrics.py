"""AUROC, AUPR, FPR95, AURC against scikit-learn and direct definitions."""

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from fireassay.core import DataError
from fireassay.statistics import delong, delong_interval
from fireassay.supervision import detection_metrics


@pytest.mark.parametrize("digits", [1, 8])
def test_against_scikit_learn(digits):
    rng = np.random.default_rng(digits)
    nominal = rng.standard_normal(300).round(digits)
    suspicious = (rng.standard_normal(120) + 1).round(digits)
    scores = np.concatenate([nominal, suspicious])
    marks = np.repeat([0, 1], [300, 120])
    found = detection_metrics(nominal, suspicious)
    assert found.auroc.value == pytest.approx(roc_auc_score(marks, scores))
    assert found.aupr.value == pytest.approx(average_precision_score(marks, scores))
    false, true, _ = roc_curve(marks, scores, drop_intermediate=False)
    assert found.fpr95.value == pytest.approx(false[true >= 0.95 - 1e-12][0])
    for number in (found.aupr, found.fpr95):
        assert number.low < number.value < number.high


def test_aurc_by_definition():
    rng = np.random.default_rng(0)
    nominal, suspicious = rng.random(40), rng.random(25) + 0.3
    wrong = rng.random(65) < 0.3
    order = np.argsort(np.concatenate([nominal, suspicious]))
    risks = [wrong[order[: i + 1]].mean() for i in range(65)]
    found = detection_metrics(nominal, suspicious, wrong)
    assert found.aurc.value == pytest.approx(np.mean(risks))
    flat = detection_metrics(np.zeros(40), np.zeros(25), wrong)
    assert flat.aurc.value == pytest.approx(wrong.mean())


def test_perfect_and_useless_scores():
    perfect = detection_metrics(np.zeros(50), np.ones(50))
    assert perfect.auroc.value == perfect.aupr.value == 1.0
    assert perfect.fpr95.value == 0.0
    assert perfect.auroc.low < 1.0
    useless = detection_metrics(np.ones(50), np.ones(50))
    assert useless.auroc.value == useless.aupr.value == 0.5
    assert useless.fpr95.value == 1.0


def test_same_seed_same_numbers():
    rng = np.random.default_rng(0)
    a, b = rng.random(30), rng.random(30)
    assert detection_metrics(a, b, seed=3) == detection_metrics(a, b, seed=3)


def test_bad_scores_are_refused():
    with pytest.raises(DataError, match="at least one"):
        detection_metrics([], [1.0])
    with pytest.raises(DataError, match="finite"):
        detection_metrics([np.nan], [1.0])
    with pytest.raises(DataError, match="3 entries"):
        detection_metrics([1.0], [1.0, 2.0], [True])


def test_delong_equals_a_second_implementation():
    rng = np.random.default_rng(5)
    nominal, suspicious = rng.standard_normal(40), rng.standard_normal(30) + 1.5
    above = (suspicious[:, None] > nominal) + 0.5 * (suspicious[:, None] == nominal)
    variance = above.mean(axis=1).var(ddof=1) / 30 + above.mean(axis=0).var(ddof=1) / 40
    marks = np.repeat([0, 1], [40, 30])
    aucs, covariance = delong(np.concatenate([nominal, suspicious]), marks)
    assert aucs[0] == pytest.approx(above.mean())
    assert covariance[0, 0] == pytest.approx(variance)


@pytest.mark.slow
@pytest.mark.parametrize("shift", [1.0, 2.5])
def test_delong_intervals_miss_seldom(shift):
    rng = np.random.default_rng(int(10 * shift))
    truth = norm.cdf(shift / np.sqrt(2))
    marks = np.repeat([0, 1], [150, 60])
    misses = 0
    for _ in range(500):
        scores = np.concatenate([rng.standard_normal(150), rng.standard_normal(60) + shift])
        found = delong_interval(scores, marks)
        misses += not found.low <= truth <= found.high
    assert misses <= binom.ppf(0.999, 500, 0.05) <= 41


@pytest.mark.slow
def test_bootstrap_intervals_of_fpr95_miss_seldom():
    # True FPR95: nominal above the 5 % quantile of N(2, 1).
    truth = norm.sf(norm.ppf(0.05) + 2)
    rng = np.random.default_rng(0)
    misses = 0
    for seed in range(200):
        found = detection_metrics(
            rng.standard_normal(200), rng.standard_normal(200) + 2, seed=seed
        ).fpr95
        misses += not found.low <= truth <= found.high
    assert misses <= binom.ppf(0.999, 200, 0.1)


@pytest.mark.parametrize(("n", "m", "shift"), [(500, 20, 2.5), (300, 30, 3.0), (300, 300, 2.0)])
def test_fpr95_and_aupr_intervals_cover(n, m, shift):
    # By the bootstrap of rows they covered .69 to .93 and .90 to .94 in these worlds.
    rng = np.random.default_rng(0)
    at = np.linspace(-8, 12, 20001)
    caught, alarms = norm.sf(at - shift), norm.sf(at)
    aupr = -np.trapezoid(m * caught / (m * caught + n * alarms), caught)
    fpr95 = norm.sf(norm.ppf(0.05) + shift)
    missed = np.zeros(2)
    for _ in range(200):
        found = detection_metrics(rng.normal(size=n), rng.normal(size=m) + shift)
        missed += [
            not e.low <= truth <= e.high for e, truth in ((found.aupr, aupr), (found.fpr95, fpr95))
        ]
    assert (missed <= binom.ppf(0.999, 200, 0.05)).all()
