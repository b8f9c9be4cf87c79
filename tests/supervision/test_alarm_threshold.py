"""The promise about false alarms."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from fireassay.core import DataError, NotEnoughEvidenceError, ParameterError
from fireassay.supervision import alarm_rule
from fireassay.supervision.supervisor import rows_needed


def test_the_order_statistic_is_the_defined_one():
    scores = np.random.default_rng(0).permutation(1000.0 + np.arange(1000))
    rule = alarm_rule(scores, 0.05, 0.95)
    allowed = max(j for j in range(1000) if binom.cdf(j, 1000, 0.05) <= 0.05)
    assert rule.threshold == pytest.approx(1000 + 999 - allowed, rel=1e-8)
    assert rule.n_above == allowed


def test_fewest_rows():
    assert alarm_rule(np.arange(59.0)).threshold == pytest.approx(58, rel=1e-8)
    with pytest.raises(NotEnoughEvidenceError, match="59 nominal rows"):
        alarm_rule(np.arange(58.0))
    with pytest.raises(NotEnoughEvidenceError, match="4603"):
        alarm_rule(np.arange(4602.0), false_alarm=0.001, confidence=0.99)


def test_ties_only_make_it_safer():
    rule = alarm_rule(np.repeat([0.0, 1.0], 100))
    assert rule.threshold == pytest.approx(1.0, rel=1e-8)
    assert rule.n_above == 0


def test_a_tied_score_rounded_another_way_raises_no_alarm():
    rule = alarm_rule(np.repeat([0.1, 0.3], 100))
    assert rule.threshold > 0.1 + 0.2  # 0.30000000000000004
    assert rule.threshold == pytest.approx(0.3, rel=1e-8)


@pytest.mark.parametrize("bad", [0, 1, -0.1, 2, np.nan, "x"])
def test_shares_outside_zero_and_one_are_refused(bad):
    with pytest.raises(ParameterError, match="false_alarm"):
        alarm_rule(np.arange(100.0), false_alarm=bad)
    with pytest.raises(ParameterError, match="confidence"):
        alarm_rule(np.arange(100.0), confidence=bad)


def test_nan_scores_are_refused():
    with pytest.raises(DataError, match="row 3"):
        alarm_rule([0.0, 1.0, 2.0, np.nan])


@pytest.mark.slow
@pytest.mark.parametrize("n", [59, 200, 1000])
@pytest.mark.parametrize("shape", ["continuous", "rounded"])
def test_the_true_false_alarm_rate_seldom_exceeds_the_asked_one(n, shape):
    rng = np.random.default_rng(n)
    exceeded = 0
    for _ in range(500):
        scores = rng.standard_exponential(n)
        scores = np.round(scores, 1) if shape == "rounded" else scores
        threshold = alarm_rule(scores, 0.05, 0.95).threshold
        limit = threshold if shape == "continuous" else threshold + 0.05
        exceeded += np.exp(-limit) > 0.05
    assert exceeded <= binom.ppf(0.999, 500, 0.05)
    if shape == "continuous":
        assert exceeded >= 1  # the promise is not bought with an absurd threshold


def nominal_patients(rng, n_groups=80, size=10, correlation=0.5):
    cluster = np.repeat(np.arange(n_groups), size)
    shared = np.sqrt(correlation) * rng.normal(size=n_groups)[cluster]
    return shared + np.sqrt(1 - correlation) * rng.normal(size=len(cluster)), cluster


def test_promise_holds_per_group_draw():
    # Scores are standard normal; rows of a patient share half of the variance.
    rng = np.random.default_rng(0)
    broken = {"rows": 0, "groups": 0}
    worlds = 150
    for _ in range(worlds):
        scores, cluster = nominal_patients(rng)
        for how, groups in (("rows", None), ("groups", cluster)):
            rule = alarm_rule(scores, groups=groups)
            broken[how] += norm.sf(rule.threshold) > 0.05
    allowed = binom.ppf(0.999, worlds, 0.05)
    assert broken["rows"] > allowed
    assert broken["groups"] <= allowed


def test_too_few_groups_are_refused():
    scores, cluster = nominal_patients(np.random.default_rng(0), n_groups=10, size=100)
    assert alarm_rule(scores).n_groups is None
    with pytest.raises(NotEnoughEvidenceError, match="more groups"):
        alarm_rule(scores, groups=cluster)


def test_fifty_nine_rows_promise_five_per_cent():
    assert rows_needed(0.05, 0.95) == 59  # 0.95^59 < 0.05 < 0.95^58
