import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fireassay.core import DataError, ParameterError, ProbabilityError
from fireassay.statistics import clopper_pearson, expected_calibration_error, reliability_curve


def by_definition(table, labels, n_bins):
    """Guo et al. (2017), equation 3, bin by bin: intervals ((m - 1)/M, m/M]."""
    stated, correct = table.max(axis=1), table.argmax(axis=1) == labels
    total = 0.0
    for m in range(1, n_bins + 1):
        inside = (stated > (m - 1) / n_bins) & (stated <= m / n_bins)
        if inside.any():
            total += inside.mean() * abs(correct[inside].mean() - stated[inside].mean())
    return total


def sample(seed, n=400, k=4):
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(k, 0.5), n)
    return table, rng.integers(0, k, n)


@pytest.mark.parametrize("n_bins", [1, 7, 15, 100])
def test_value_is_the_published_definition(n_bins):
    table, labels = sample(0)
    found = expected_calibration_error(table, labels, n_bins)
    assert found.value == pytest.approx(by_definition(table, labels, n_bins), abs=1e-12)
    assert found.n == 400
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_worked_example_by_hand():
    # Confidence 0.9 three times, two right; 0.6 twice, one right: 0.6·0.2333 + 0.4·0.1.
    table = np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.6, 0.4], [0.4, 0.6]])
    found = expected_calibration_error(table, [0, 0, 0, 0, 0], n_bins=10)
    assert found.value == pytest.approx(0.6 * (0.9 - 2 / 3) + 0.4 * 0.1)


def test_one_bin_without_errors_is_not_certain():
    """99 % stated, 50 of 50 right: the true accuracy may still be anywhere above 0.93."""
    table = np.tile([0.99, 0.01], (50, 1))
    found = expected_calibration_error(table, np.zeros(50, int))
    assert found.low == 0.0
    assert found.value == pytest.approx(0.01)
    assert 0.02 < found.high < 0.1


def test_a_calibrated_model_is_compatible_with_zero_though_its_plain_ece_is_not_zero():
    rng = np.random.default_rng(1)
    stated = rng.uniform(0.5, 1, 300)
    labels = (rng.random(300) >= stated).astype(int)
    found = expected_calibration_error(np.column_stack([stated, 1 - stated]), labels)
    assert found.value > 0.02
    assert found.low == 0.0


def test_the_interval_shrinks_around_a_large_error():
    widths = []
    for n in (200, 2000, 20_000):
        rng = np.random.default_rng(2)
        wrong = (rng.random(n) < 0.3).astype(int)
        found = expected_calibration_error(np.tile([0.95, 0.05], (n, 1)), wrong)
        assert found.low < 0.25 < found.high
        widths.append(found.high - found.low)
    assert widths[0] > 2.5 * widths[1] > 6 * widths[2]


def test_same_seed_same_interval():
    table, labels = sample(3)
    first, second = (expected_calibration_error(table, labels, seed=s) for s in (4, 5))
    assert expected_calibration_error(table, labels, seed=4) == first
    assert (first.value, first.low) != (second.value, second.low)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.randoms())
def test_rows_and_classes_may_be_renamed(seed, random):
    table, labels = sample(seed, n=60)
    rows, classes = list(range(60)), list(range(4))
    random.shuffle(rows)
    random.shuffle(classes)
    renamed = np.argsort(classes)[labels]
    ours = expected_calibration_error(table, labels)
    theirs = expected_calibration_error(table[rows][:, classes], renamed[rows])
    assert theirs.value == pytest.approx(ours.value, abs=1e-12)
    assert theirs.low == pytest.approx(ours.low, abs=1e-9)
    assert theirs.high == pytest.approx(ours.high, abs=1e-9)


def test_reliability_curve_counts_every_row_once():
    table, labels = sample(4)
    curve = reliability_curve(table, labels, n_bins=10, confidence=0.9)
    correct = table.argmax(axis=1) == labels
    assert curve.counts.sum() == 400
    assert curve.accuracy @ curve.counts == pytest.approx(correct.sum())
    assert curve.mean_confidence @ curve.counts == pytest.approx(table.max(axis=1).sum())
    low, high = clopper_pearson(curve.accuracy * curve.counts, curve.counts, 0.9)
    np.testing.assert_allclose(curve.low, low)
    np.testing.assert_allclose(curve.high, high)
    gap = np.abs(curve.accuracy - curve.mean_confidence) @ curve.counts / 400
    assert gap == pytest.approx(expected_calibration_error(table, labels, 10).value)
    assert list(curve.frame().columns) == ["mean_confidence", "accuracy", "low", "high", "count"]


def test_exact_zero_and_one_are_probabilities():
    found = expected_calibration_error([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high > 0.1


@pytest.mark.parametrize(
    ("table", "labels", "error"),
    [
        (np.zeros((0, 2)), [], DataError),
        ([[0.5, 0.5]], [0, 1], DataError),
        ([[0.5, 0.5]], [2], DataError),
        ([[0.5, 0.5]], [np.nan], DataError),
        ([[np.nan, 0.5]], [0], ProbabilityError),
        ([[3.0, -1.0]], [0], ProbabilityError),
        ([0.5, 0.5], [0, 1], ProbabilityError),
    ],
)
def test_bad_data_is_refused(table, labels, error):
    with pytest.raises(error, match="Got"):
        expected_calibration_error(table, labels)
    with pytest.raises(error, match="Got"):
        reliability_curve(table, labels)


def test_bad_parameters_are_refused():
    with pytest.raises(ParameterError, match="n_bins"):
        expected_calibration_error([[0.5, 0.5]], [0], n_bins=0)
    with pytest.raises(ParameterError, match="confidence"):
        reliability_curve([[0.5, 0.5]], [0], confidence=1)
