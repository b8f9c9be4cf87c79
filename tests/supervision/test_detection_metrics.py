"""AUROC, AUPR, FPR95, AURC against scikit-learn and direct definitions."""

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from fireassay.core import DataError, Estimate
from fireassay.statistics import delong, delong_interval
from fireassay.supervision import detection_metrics
from fireassay.supervision.detection_metrics import error_kept, jackknifed


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


def test_aurc_covers():
    # Errors fall anywhere: the area is their rate. Drawing rows anew covered .90 of such worlds.
    rng = np.random.default_rng(1)
    missed = 0
    for _ in range(300):
        found = detection_metrics(rng.random(200), rng.random(20), rng.random(220) < 0.05).aurc
        missed += not found.low <= 0.05 <= found.high
    assert missed <= binom.ppf(0.999, 300, 0.05)


def patients(rng, size=20, correlation=0.7):
    """Scores of 30 nominal and 30 suspicious patients, and which answers are wrong (10 %)."""
    who = np.repeat(np.arange(60), size)
    own = rng.normal(size=60)[who] * np.sqrt(correlation)
    scores = own + rng.normal(size=len(who)) * np.sqrt(1 - correlation) + 2 * (who >= 30)
    wrong = rng.random(len(who)) < rng.beta(0.1, 0.9, 60)[who]
    return scores[who < 30], scores[who >= 30], wrong, who


def test_groups_are_counted_instead_of_rows():
    at = np.linspace(-8, 10, 20001)
    caught, alarms = norm.sf(at - 2), norm.sf(at)
    truths = {
        "aupr": -np.trapezoid(caught / (caught + alarms), caught),
        "fpr95": norm.sf(norm.ppf(0.05) + 2),
    }
    rng = np.random.default_rng(2)
    missed = {(name, aware): 0 for name in truths for aware in (True, False)}
    for _ in range(30):
        nominal, suspicious, wrong, who = patients(rng)
        for aware in (True, False):
            found = detection_metrics(nominal, suspicious, wrong, groups=who if aware else None)
            for name, truth in truths.items():
                estimate = getattr(found, name)
                missed[name, aware] += not estimate.low <= truth <= estimate.high
    allowed = binom.ppf(0.999, 30, 0.05)
    assert missed["aupr", True] <= allowed < missed["aupr", False]
    assert missed["fpr95", True] <= allowed


def test_intervals_of_groups_contain_those_of_rows():
    nominal, suspicious, wrong, who = patients(np.random.default_rng(3))
    grouped = detection_metrics(nominal, suspicious, wrong, groups=who)
    rows = detection_metrics(nominal, suspicious, wrong)
    for name in ("auroc", "aupr", "fpr95", "aurc"):
        ours, theirs = getattr(grouped, name), getattr(rows, name)
        assert ours.value == pytest.approx(theirs.value)
        assert ours.low <= theirs.low
        assert ours.high >= theirs.high
    assert grouped.aupr.method == "jackknife over 60 groups, logit scale"


def test_one_group_that_holds_a_whole_set_says_nothing():
    nominal, suspicious = np.arange(30.0), np.arange(20.0) + 15
    who = np.concatenate([np.arange(30), np.full(20, 99)])
    found = detection_metrics(nominal, suspicious, groups=who)
    assert (found.aupr.low, found.aupr.high) == (0.0, 1.0)
    assert "nothing is known" in found.aupr.method


def test_wrong_rows_at_the_suspicious_end_cost_little():
    found = error_kept(np.arange(100.0), np.arange(100) > 89, 0.95)
    assert round(found.value, 4) == 0.0057
    assert found.low < found.value < found.high


def test_groups_never_narrow_an_interval():
    scores, marks = np.arange(12.0), np.arange(12) % 4 > 1
    alone = Estimate(0.5, 0.4, 0.6, 0.95, 12, "rows")

    def share(weights):
        return (weights * marks * (scores > 5)).sum(axis=1) / weights.sum(axis=1)

    found = jackknifed(share, alone, marks, np.arange(12) // 2)
    assert found.low <= 0.4
    assert found.high >= 0.6
