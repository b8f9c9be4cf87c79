"""An alarm that is rarely false, ever, and soon right."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import beta, binom

from fireassay.core import ParameterError
from fireassay.statistics import ErrorDetector, recent_rate_upper
from fireassay.statistics.error_detector import all_looks_upper


def test_labels_one_by_one_or_together_give_the_same_state():
    rng = np.random.default_rng(0)
    wrong = rng.random(300) < 0.05
    step = ErrorDetector(0.02, block=7)
    for label in wrong:
        step = step.after([label])
    assert step == ErrorDetector(0.02, block=7).after(wrong)
    assert ErrorDetector(**dataclasses.asdict(step)) == step, "the state can be kept in a file"


def test_weights_sum_to_at_most_one():
    t = np.arange(1, 4_000_000) + 15.0
    head = (1 / (0.36486 * t * np.log(t) ** 2)).sum()
    tail = 1 / (0.36486 * np.log(t[-1]))  # the integral from there on
    assert head + tail <= 1.0 + 1e-4


def test_false_alarms_are_rare_and_delays_short():
    rng = np.random.default_rng(1)
    streams = 60
    false = sum(ErrorDetector(0.02, 0.05).after(rng.random(3000) < 0.02).alarm for _ in range(60))
    assert false <= binom.ppf(0.999, streams, 0.05)
    delays = []
    for _ in range(40):
        found = ErrorDetector(0.02, 0.05).after(rng.random(500) < 0.01)
        found = found.after(rng.random(1000) < 0.20)
        delays.append((found.alarm_at or 10_000) - 500)
    assert np.median(delays) <= 60


@pytest.mark.parametrize("bad", [{"limit": 0.0}, {"limit": 0.1, "alpha": 1.0}])
def test_bad_settings_are_refused(bad):
    with pytest.raises(ParameterError):
        ErrorDetector(**bad)


def test_the_window_forgets_and_the_bound_is_never_below_the_rate():
    wrong = np.r_[np.zeros(3000), np.ones(100), np.zeros(400)]
    assert recent_rate_upper(wrong) == pytest.approx(beta.ppf(0.975, 101, 400))
    assert recent_rate_upper(wrong) > 0.2 > recent_rate_upper(wrong[:3000])
    assert recent_rate_upper([]) == 1.0


def test_all_looks_together_hold():
    rng = np.random.default_rng(2)
    streams, missed = 100, 0
    for _ in range(streams):
        wrong = rng.random(1024) < 0.05
        missed += any(all_looks_upper(wrong[:t]) < 0.05 for t in range(32, 1025, 16))
    assert missed <= binom.ppf(0.999, streams, 0.025)


def test_evidence_of_a_thousand_errors_in_a_row_is_a_number():
    found = ErrorDetector(0.01).after([1] * 1000)
    assert found.alarm
    assert 1e100 < found.evidence < float("inf")
