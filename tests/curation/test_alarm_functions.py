"""The built-in ward: known truth, rules that know something, and words for clinicians."""

import numpy as np
import pytest

from fireassay import curation
from fireassay.core import ParameterError
from fireassay.curation.windows import ALARM_FUNCTIONS, alarm_votes
from fireassay.data.alarms import CHANNELS, KINDS, alarms

NAMES = [lf.name for lf in ALARM_FUNCTIONS]


@pytest.fixture(scope="module")
def ward():
    found = alarms(600, seed=0)
    return found, alarm_votes(found)


def test_same_seed_same_ward(ward):
    again = alarms(600, seed=0)
    assert np.array_equal(ward[0].values, again.values, equal_nan=True)
    assert not np.array_equal(ward[0].values, alarms(600, seed=1).values, equal_nan=True)


def test_vital_signs_look_like_vital_signs(ward):
    found, _ = ward
    assert found.values.shape == (600, 60, len(CHANNELS))
    assert set(found.kind) == set(KINDS)
    assert 0.3 < found.y.mean() < 0.7
    assert np.nanmax(found.values[:, :, 2]) <= 100
    before = np.nanmean(found.values[:, :20], axis=(0, 1))
    assert (before > [70, 14, 94]).all()
    assert (before < [130, 36, 99]).all()
    assert 0.01 < np.isnan(found.values).mean() < 0.2
    assert (found.y[found.event == "artifact"] == 1).all()
    assert (found.y[found.event == "sustained"] == 0).all()


def test_at_least_twenty_rules_that_know_something(ward):
    found, votes = ward
    assert len(ALARM_FUNCTIONS) >= 20
    assert all(lf.meaning for lf in ALARM_FUNCTIONS)
    table = curation.analyse(votes, y=found.y, names=NAMES)
    assert (table["coverage"] > 0).all()
    assert (table["accuracy"] > 0.5).sum() >= 20
    # Some depend on each other, and some contradict each other.
    assert (~table["kept"]).sum() >= 3
    assert (table["conflict"] > 0.3).any()


def test_features_feed_a_classifier(ward):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    found, _ = ward
    X = found.features()
    assert np.isfinite(X).all()
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    model.fit(X[:400], found.y[:400])
    assert model.score(X[400:], found.y[400:]) > 0.7


def test_the_order_of_alarms_is_adversarial_counting_patients(ward):
    found, votes = ward
    trend = curation.curate(votes, default_class=1).validate(found.y, groups=found.patient)
    assert trend.verdict == "decreasing"
    assert trend.n_groups == 40


def test_the_report_says_where_the_published_rule_misleads(ward):
    found, votes = ward
    settings = {"labeler": "triplet", "interval": "paper", "default_class": 1}
    result = curation.curate(votes, names=NAMES, **settings)
    trend = result.validate(found.y, groups=found.patient)
    assert (trend.definition_3, trend.verdict) == ("decreasing", "none")
    claims = " ".join(claim.text for claim in result.findings(trend=trend).evidence().claims)
    assert "Do not rely on that" in claims
    assert "the same cases are counted again" in claims
    assert "Treat the order as not proven" in claims


def test_bad_sizes():
    with pytest.raises(ParameterError):
        alarms(0)
    assert len(alarms(1, n_patients=1)) == 1
