import numpy as np
import pytest
import scipy.stats

from fireassay.core import DataError, NotEnoughEvidenceError, ParameterError
from fireassay.statistics import bootstrap


def test_interval_of_a_mean_is_students_for_normal_values():
    values = np.random.default_rng(0).normal(size=15)
    found = bootstrap(np.mean, values, n_resamples=20_000)
    theirs = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.value == values.mean()
    assert (found.low, found.high) == (
        pytest.approx(theirs.low, abs=0.06),
        pytest.approx(theirs.high, abs=0.06),
    )


def test_agrees_with_scipy_on_a_large_sample():
    rng = np.random.default_rng(1)
    x = rng.normal(size=2000)
    y = x + rng.normal(size=2000)
    found = bootstrap(lambda a, b: np.corrcoef(a, b)[0, 1], x, y, n_resamples=2000)
    theirs = scipy.stats.bootstrap(
        (x, y),
        lambda a, b: np.corrcoef(a, b)[0, 1],
        paired=True,
        vectorized=False,
        n_resamples=2000,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    assert found.low == pytest.approx(theirs.low, abs=0.003)
    assert found.high == pytest.approx(theirs.high, abs=0.003)


def test_whole_groups_are_drawn():
    """The standard error is that of the cluster means, not of the rows."""
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(50), 10)
    centres = rng.normal(size=50)
    values = centres[groups]
    aware = bootstrap(np.mean, values, groups=groups)
    of_centres = scipy.stats.ttest_1samp(centres, 0).confidence_interval(0.95)
    assert aware.high - aware.low == pytest.approx(of_centres.high - of_centres.low, rel=0.12)
    unaware = bootstrap(np.mean, values)
    assert unaware.high - unaware.low < 0.5 * (aware.high - aware.low)
    assert "50 groups" in aware.method
    assert aware.n == 500


def test_each_row_its_own_cluster_is_the_plain_bootstrap():
    values = np.random.default_rng(3).exponential(size=40)
    names = np.array([f"row {i:02d}" for i in range(40)])
    plain, clustered = bootstrap(np.mean, values), bootstrap(np.mean, values, groups=names)
    assert (plain.low, plain.high) == (clustered.low, clustered.high)


def test_rows_of_several_arrays_stay_together():
    x = np.arange(30.0)

    def paired(a, b):
        assert (b[:, 0] == -a).all()
        return a.mean()

    bootstrap(paired, x, np.column_stack([-x, x]))


def test_same_seed_same_interval():
    values = np.random.default_rng(4).random(30)
    assert bootstrap(np.mean, values, seed=7) == bootstrap(np.mean, values, seed=7)
    assert bootstrap(np.mean, values, seed=7) != bootstrap(np.mean, values, seed=8)


def test_undefined_resamples_are_counted_or_refused():
    def rare_mean(values, rare):
        return values[rare].mean() if rare.any() else np.nan

    values = np.random.default_rng(5).random(60)
    found = bootstrap(rare_mean, values, np.arange(60) < 4)
    assert "undefined" in found.method
    with pytest.raises(NotEnoughEvidenceError, match="95 %"):
        bootstrap(rare_mean, values, np.arange(60) < 1)


def test_bad_data_is_refused():
    with pytest.raises(DataError, match="at least one array"):
        bootstrap(np.mean)
    with pytest.raises(DataError, match="0 rows"):
        bootstrap(np.mean, [])
    with pytest.raises(DataError, match="same number of rows"):
        bootstrap(np.dot, [1.0, 2.0], [1.0])
    with pytest.raises(DataError, match="same number of rows"):
        bootstrap(np.mean, [1.0, 2.0], groups=[1])
    with pytest.raises(DataError, match="NaN"):
        bootstrap(np.mean, [1.0, np.nan])
    with pytest.raises(DataError, match="single number"):
        bootstrap(np.mean, 3.0)
    with pytest.raises(DataError, match="finite"):
        bootstrap(lambda values: np.inf, [1.0, 2.0])
    with pytest.raises(NotEnoughEvidenceError, match="two rows"):
        bootstrap(np.mean, [1.0])
    with pytest.raises(NotEnoughEvidenceError, match="two groups"):
        bootstrap(np.mean, [1.0, 2.0], groups=["a", "a"])


def test_bad_parameters_are_refused():
    with pytest.raises(ParameterError, match="n_resamples"):
        bootstrap(np.mean, [1.0, 2.0], n_resamples=10)
    with pytest.raises(ParameterError, match="confidence"):
        bootstrap(np.mean, [1.0, 2.0], confidence=1)
    with pytest.raises(ParameterError, match="seed"):
        bootstrap(np.mean, [1.0, 2.0], seed=None)
