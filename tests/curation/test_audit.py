import numpy as np
import pytest

from fireassay import curation
from fireassay.core import DataError, NotEnoughEvidenceError, ParameterError


def world(n=2000, seed=0):
    votes, y = curation.simulate_votes([0.7] * 8, 0.6, n, seed=seed)
    return curation.curate(votes, seed=seed), y


def test_rows_come_equally_from_every_ring():
    result, _ = world()
    rows = result.audit_rows(105)
    per_ring = np.bincount(result.dataset_number[rows] - 1)
    assert per_ring.tolist() == [11] * 5 + [10] * 5
    assert len(np.unique(rows)) == 105
    assert np.array_equal(rows, result.audit_rows(105))
    assert len(result.audit_rows(result.n)) == result.n


def test_auditing_everything_is_the_truth():
    result, y = world(300)
    found = result.audit(np.arange(300), y)
    trend = result.validate(y, ties="stable")
    assert found.accuracy == pytest.approx(trend.accuracy, abs=1e-9)
    assert found.low == pytest.approx(found.accuracy, abs=1e-9)
    assert (found.auc, found.verdict) == (trend.auc, trend.verdict)


def test_an_audit_finds_the_order():
    result, y = world()
    rows = result.audit_rows(300)
    found = result.audit(rows, y[rows])
    assert found.verdict == "decreasing"
    assert found.n == 300
    assert found.frame().shape == (10, 6)


def test_a_ring_without_labels_has_no_estimate():
    result, y = world(200)
    rows = result.added_rows[0]
    found = result.audit(rows, y[rows])
    assert not np.isnan(found.accuracy[0])
    assert np.isnan(found.accuracy[1:]).all()


@pytest.mark.parametrize(("rows", "labels", "message"), [
    ([0, 0], [1, 1], "once"), ([-1], [1], "0..199"), ([200], [1], "0..199"),
    ([0, 1], [1], "same number"), ([], [], "list of sample numbers"), ([0.5], [1], "list of"),
])  # fmt: skip
def test_bad_audits(rows, labels, message):
    result, _ = world(200)
    with pytest.raises(DataError, match=message):
        result.audit(rows, labels)


def test_plan_reaches_its_power():
    result, _ = world()
    plan = result.plan_audit(0.9, 0.7, power=0.8)
    assert plan.enough
    rng = np.random.default_rng(0)
    accuracy = np.linspace(0.9, 0.7, 10)[result.dataset_number - 1]
    found = 0
    for _ in range(300):
        rows = np.concatenate([rng.choice(r, plan.labels_per_ring) for r in result.added_rows])
        rows = np.unique(rows)
        right = rng.random(len(rows)) < accuracy[rows]
        labels = np.where(right, result.labels[rows], 1 - result.labels[rows])
        found += result.audit(rows, labels).verdict == "decreasing"
    assert found >= 0.72 * 300


def test_plan_says_when_nothing_is_enough():
    result, _ = world(100)
    plan = result.plan_audit(0.8, 0.79)
    assert not plan.enough
    assert plan.n_labels == 100
    with pytest.raises(ParameterError, match="accuracy_first"):
        result.plan_audit(0.5, 0.7)
    alone = curation.curate(np.zeros((30, 3), int), prune=None, n_sets=1)
    with pytest.raises(NotEnoughEvidenceError):
        alone.plan_audit()


@pytest.mark.slow
def test_prediction_powered_intervals_cover():
    result, y = world()
    truth = result.validate(y, ties="stable", n_permutations=1).accuracy
    rng = np.random.default_rng(0)
    for per_ring in (5, 30):
        inside = np.zeros(10)
        for _ in range(400):
            rows = np.concatenate(
                [rng.choice(r, per_ring, replace=False) for r in result.added_rows]
            )
            found = result.audit(rows, y[rows])
            inside += (found.low <= truth + 1e-12) & (truth <= found.high + 1e-12)
        # Nominal 95 %; 3 standard errors of 400 draws are 3.3 %.
        assert (inside >= 0.917 * 400).all(), (per_ring, inside)
