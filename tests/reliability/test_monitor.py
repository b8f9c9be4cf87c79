import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.special import ndtr
from scipy.stats import binom, binomtest

from fireassay import as_classifier
from fireassay.core import DataError
from fireassay.core.json_files import dumps, loads
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
        monitor = Monitor(MODEL, rows(100, rng)[0], alpha=0.05, seed=seed)
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
    first = monitor.update(*rows(50, rng))
    state = monitor.update(*rows(400, rng))
    assert first.pmi_upper > state.pmi_upper > 0.05
    assert state.n_labels == state.n_recent == 450
    assert state.n_errors / 450 == state.pmi
    exact = binomtest(state.n_errors, 450).proportion_ci(0.95, method="exact").high
    assert state.pmi_upper == pytest.approx(exact, rel=1e-9)


def labelled(n, rng, p):
    X = rng.beta(2, 2, (n, 2))
    return X, ((X[:, 0] > 0.5) ^ (rng.random(n) < p)).astype(int)


def test_errors_that_rise_are_seen_now():
    """From 1 % to 20 %: after 3,000 labels 10.3 % were wrong and the old bound said 2.8 %."""
    rng = np.random.default_rng(4)
    monitor = Monitor(MODEL, labelled(1000, rng, 0.01), alpha=0.05)
    quiet = monitor.update(*labelled(1500, rng, 0.01))
    assert not quiet.alarm
    assert 0.01 < quiet.pmi_upper < 0.03
    state = monitor.update(*labelled(1500, rng, 0.2))
    assert state.alarm
    assert state.n_recent == 500
    assert state.pmi_upper > 0.2
    back = monitor.update(*labelled(600, rng, 0.01))
    assert back.alarm  # it stays
    assert back.pmi_upper < 0.04


@pytest.mark.parametrize("limit", [None, 0.05])
def test_quiet_labels_raise_no_alarm_more_often_than_claimed(limit):
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        monitor = Monitor(MODEL, labelled(300, rng, 0.05), limit=limit, alpha=0.05, seed=seed)
        alarms += monitor.update(*labelled(500, rng, 0.05)).alarm
    assert alarms <= binom.ppf(0.999, 40, 0.05)


def test_without_a_limit_and_labels_errors_raise_no_alarm():
    rng = np.random.default_rng(5)
    monitor = Monitor(MODEL, rows(100, rng)[0])
    assert not monitor.update(*labelled(200, rng, 0.9)).alarm


def remembering(n, rng, columns=2, memory=0.95):
    """Uniform numbers, each row like the one before it."""
    steps = rng.normal(size=(n, columns))
    steps[1:] *= np.sqrt(1 - memory**2)
    return ndtr(lfilter([1], [1, -memory], steps, axis=0))


def test_a_video_is_judged_in_blocks():
    drifted = alarms = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = remembering(4000, rng)
        y = ((X[:, 0] > 0.5) ^ (remembering(4000, rng, 1)[:, 0] < 0.05)).astype(int)
        monitor = Monitor(MODEL, (X[:2000], y[:2000]), alpha=0.05, seed=seed)
        # The autocorrelation time of memory .95 is 1.95 / .05 = 39.
        assert 20 < monitor.error_block < 120
        assert monitor.drift_block > 2 * monitor.error_block
        state = monitor.update(X[2000:], y[2000:])
        drifted += state.drifted
        alarms += state.alarm
    assert max(drifted, alarms) <= binom.ppf(0.999, 20, 0.05)


def test_a_video_that_changes_is_still_found():
    rng = np.random.default_rng(7)
    X = remembering(16_000, rng)
    y = (X[:, 0] > 0.5).astype(int)
    y[8000:] ^= rng.random(8000) < 0.4
    X[8000:, 1] = 0.8 + 0.2 * X[8000:, 1]
    monitor = Monitor(MODEL, (X[:4000], y[:4000]), alpha=0.05)
    assert not monitor.update(X[4000:8000], y[4000:8000]).alarm
    state = monitor.update(X[8000:], y[8000:])
    assert state.alarm
    assert state.drifted


def test_moving_separation_is_reported():
    rng = np.random.default_rng(2)
    monitor = Monitor(MODEL, rows(50, rng)[0])
    first = monitor.update(np.array([[0.1, 0.1], [0.9, 0.9]]), [0, 1])
    assert first.r == pytest.approx(0.4)
    later = monitor.update(np.array([[0.5, 0.5], [0.52, 0.5]]), [0, 1])
    assert later.r == pytest.approx(0.01)
    assert later.r_moved


def test_a_long_quiet_time_does_not_use_up_the_evidence():
    rng = np.random.default_rng(8)
    monitor = Monitor(MODEL, rows(300, rng)[0], alpha=0.05)
    assert not monitor.update(rows(6000, rng)[0]).drifted
    assert monitor.update(rows(300, rng, a=5.0)[0]).drifted


def test_what_is_kept_does_not_grow():
    rng = np.random.default_rng(9)
    monitor = Monitor(MODEL, labelled(100, rng, 0.05))

    def after(n):
        monitor.update(*labelled(n, rng, 0.05))
        return len(dumps(monitor.snapshot()))

    assert after(20_000) < 1.2 * after(2000)


def test_how_rows_are_cut_changes_nothing_and_a_snapshot_goes_on_exactly():
    rng = np.random.default_rng(10)
    reference, (X, y) = labelled(200, rng, 0.05), labelled(300, rng, 0.2)
    at_once, cut = (Monitor(MODEL, reference, alpha=0.05) for _ in range(2))
    at_once.judge(at_once.see(X) != y)
    for start in range(0, 300, 7):
        cut.judge(cut.see(X[start : start + 7]) != y[start : start + 7])
        fresh = Monitor(MODEL, reference, alpha=0.05)
        fresh.restore(loads(dumps(cut.snapshot())))
        cut = fresh
    assert dumps(cut.snapshot()) == dumps(at_once.snapshot())


def test_bad_rows_are_refused():
    rng = np.random.default_rng(3)
    monitor = Monitor(MODEL, rows(50, rng)[0])
    with pytest.raises(DataError, match="shape"):
        monitor.update(np.zeros((3, 5)))
    with pytest.raises(DataError, match="20"):
        Monitor(MODEL, rows(5, rng)[0])


def test_groups_and_late_labels_do_not_raise_false_alarms():
    rng = np.random.default_rng(5)
    model = as_classifier(lambda X: np.hstack([1 - X, X]), classes=[0, 1])
    reference, batch = rng.random((400, 1)), np.repeat(np.arange(20), 20)
    alarms = 0
    for _ in range(20):  # at the limit, whole batches bad: counted by rows half of them alarm
        monitor = Monitor(model, reference, limit=0.05, groups=batch)
        rows = rng.random((1200, 1))
        bad = np.repeat(rng.random(60) < 0.05, 20)
        said = (rows[:, 0] > 0.5).astype(int)
        own = np.repeat(np.arange(60), 20)
        alarms += monitor.update(rows, np.where(bad, 1 - said, said), own).alarm
    assert alarms == 0
    monitor = Monitor(model, reference, limit=0.05, delayed=True)
    rows = rng.random((600, 1))
    wrong = rng.random(600) < 0.04
    names = np.arange(600).astype(str)
    monitor.see(rows, names)
    monitor.judge(wrong[wrong], names[wrong])  # errors come first
    state = monitor.state()
    assert not state.alarm
    assert state.pmi_upper > 0.9  # what waits may be wrong
    monitor.judge(wrong[~wrong], names[~wrong])
    assert monitor.state().pmi_upper < 0.08
    other = Monitor(model, reference, limit=0.05, delayed=True)
    other.restore(monitor.snapshot())
    assert other.state() == monitor.state()
    more = np.arange(600, 1200).astype(str)
    labels = ((rows[:, 0] > 0.5) ^ (rng.random(600) < 0.3)).astype(int)
    assert monitor.update(rows, labels, more).alarm
