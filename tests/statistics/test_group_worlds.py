"""Detector, runs of errors, shared units, temperatures and advice in worlds with a known truth."""

import numpy as np
import pytest
from scipy.stats import betabinom, binom

from fireassay.core.errors import DataError
from fireassay.statistics.groups.group_monitor import GroupDetector, group_evidence
from fireassay.statistics.independence import error_runs
from fireassay.statistics.labels_needed import rows_to_pass
from fireassay.statistics.shared_units import shared_units
from fireassay.statistics.temperature import temperature


def test_alike_batches_at_the_limit_seldom_raise_the_alarm():
    rng = np.random.default_rng(0)
    errors = rng.binomial(20, rng.beta(0.05 * 7 / 3, 0.95 * 7 / 3, (500, 200)))
    alarms = (group_evidence(errors, np.full(errors.shape, 20), 0.05, 20) >= 100).any(axis=1)
    assert alarms.sum() <= binom.ppf(0.9999, 500, 0.01)


def test_the_detector_goes_on_where_the_arrays_end_and_counts_missing_labels():
    rng = np.random.default_rng(1)
    wrong, names = rng.integers(0, 2, 60), np.repeat(np.arange(15), 4)
    detector = GroupDetector(limit=0.2, largest_group=4)
    at_once = detector.after(names, wrong)
    in_pieces = detector.after(names[:33], wrong[:33]).after(names[33:], wrong[33:])
    assert in_pieces.groups == at_once.groups
    late = detector.after(names, np.full(60, np.nan))
    assert (late.highest < 1, late.upper()) == (True, 1.0)
    assert late.followed(names, wrong).highest == pytest.approx(at_once.highest)
    with pytest.raises(DataError, match="come before"):
        detector.after(["a", "b"], [0, 0]).after(["a"], [1])


def test_pieces_of_any_length_give_the_same_bits():
    """More rows than are remembered, labels at once, late and never: only the order counts."""
    rng = np.random.default_rng(4)
    rows = [(str(i), np.nan, i) for i in range(2_600)]
    labels = [(str(i), float(rng.random() < 0.1), i + rng.integers(1, 900)) for i in range(2_400)]
    events = sorted(rows + labels, key=lambda event: event[2])
    names, marks = [e[0] for e in events], [e[1] for e in events]
    whole = GroupDetector(0.05, 1, open_groups=None).followed(names, marks)
    assert whole.seen == 600
    assert whole.alarm
    in_pieces, at = GroupDetector(0.05, 1, open_groups=None), 0
    while at < len(names):
        end = at + int(rng.integers(1, 700))
        before = in_pieces.highest
        in_pieces = in_pieces.followed(names[at:end], marks[at:end])
        assert in_pieces.highest >= before * (1 - 1e-9)
        at = end
    assert in_pieces == whole
    arrays = group_evidence(
        [sum(m == 1 for n, m, _ in events if n == str(i)) for i in range(100)], [1] * 100, 0.05, 1
    )
    first = GroupDetector(0.05, 1, open_groups=None).after(
        [str(i) for i in range(100)],
        [next(m for n, m, _ in events if n == str(i) and m == m) for i in range(100)],
    )
    assert first.highest == pytest.approx(arrays.max())


def test_a_sorted_file_is_not_judged_and_a_drifting_one_is_objected_to():
    rng = np.random.default_rng(2)
    label = rng.integers(0, 2, 600)
    bad = np.repeat(rng.random(60) < 0.15, 10)
    answer = np.where(bad & (rng.random(600) < 0.8), 1 - label, label)
    assert error_runs(label, answer).objects
    assert not error_runs(np.sort(label), answer).judged


def test_names_of_units_and_of_properties():
    repeated = [1, 1, 2, 2, 3]
    yes = ("id", "Subject", "patient_id", "famID", "PlantNo", "schoolid")
    no = ("school", "child6", "total_family_income", "YearsAtCompany", "width")
    assert shared_units(dict.fromkeys(yes + no, repeated)) == sorted(yes)


def test_zeros_do_not_decide_a_temperature():
    rng = np.random.default_rng(3)
    sure = rng.uniform(0.5, 1.0, 3_000)
    table = np.column_stack([sure, 1 - sure])
    label = (rng.random(3_000) > sure).astype(int)
    table[:5], label[:5] = [1.0, 0.0], 1
    assert 0.9 < temperature(table, label).fitted < 1.3


def test_a_temperature_without_errors_is_not_used():
    found = temperature([[0.9, 0.1]] * 200, [0] * 200)
    assert (found.value, found.used) == (1.0, False)
    assert found.largest >= 1.0


def test_advice_is_the_first_total_that_the_beta_binomial_lets_pass():
    found = rows_to_pass(1, 100, 0.05)
    most = max(k for k in range(20) if binom.cdf(k, found.total, 0.05) <= 0.025)
    assert betabinom.cdf(most - 1, found.more, 2, 100) == pytest.approx(found.chance)
    assert found.chance >= 0.8
