"""Slices: intervals that hold for all of them, gaps, the worst, and rules that are found."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fireassay.assessment.parts.slices import found_slice
from fireassay.core import DataError
from fireassay.statistics import clopper_pearson, find_slices, slice_members, slice_rates


def test_columns_become_slices():
    frame = pd.DataFrame(
        {"sex": ["f", "m"] * 50, "age": np.arange(100) / 2, "night": [True] * 10 + [False] * 90}
    )
    members = slice_members(frame)
    assert list(members) == [
        "sex = f", "sex = m", "age = 0 to 12.375", "age = 12.375 to 24.75",
        "age = 24.75 to 37.125", "age = 37.125 to 49.5", "night",
    ]  # fmt: skip
    assert members.sum().tolist() == [50, 50, 25, 25, 25, 25, 10]
    with pytest.raises(DataError, match="unknown"):
        slice_members({"age": [1.0, np.nan]})
    with pytest.raises(DataError, match="200"):
        slice_members({"id": [f"row {i}" for i in range(201)]})


@pytest.mark.slow
@pytest.mark.parametrize("slices", [2, 20, 200])
def test_familywise_misses_are_within_chance(slices):
    """All intervals, both bounds of the worst slice, and all gaps."""
    rng = np.random.default_rng(slices)
    n = 4000
    worlds = {2: 400, 20: 150, 200: 60}[slices]
    rates = rng.uniform(0.02, 0.3, slices)
    members = slice_members({"ward": [f"w{i % slices}" for i in range(n)]})
    names = [int(name.partition(" = w")[2]) for name in members]
    truth = rates[names]
    missed, beyond, gaps = 0, 0, 0
    for _ in range(worlds):
        found = slice_rates(rng.random(n) < rates[np.arange(n) % slices], members)
        low, high = found.table["low"].to_numpy(), found.table["high"].to_numpy()
        missed += bool(((truth < low) | (truth > high)).any())
        judged = truth[~found.table["too small"].to_numpy()]
        if len(judged):
            beyond += bool(judged.max() > found.upper.value)
        if len(found.gaps):
            true = dict(zip(found.table.index, truth, strict=True))
            gap = found.gaps["first"].map(true) - found.gaps["second"].map(true)
            gaps += bool(((gap < found.gaps["low"]) | (gap > found.gaps["high"])).any())
    for count, tail in ((missed, 0.05), (beyond, 0.025), (gaps, 0.05)):
        assert count <= stats.binom.ppf(0.999, worlds, tail)
    assert (slices == 200) == bool(found.too_small)  # 20 rows each say nothing


def test_one_at_a_time_would_miss():
    """Without the correction some interval of twenty misses in most worlds."""
    rng, missed = np.random.default_rng(0), 0
    for _ in range(100):
        hits = rng.binomial(200, 0.1, 20)
        low, high = clopper_pearson(hits, 200)
        missed += bool(((low > 0.1) | (high < 0.1)).any())
    assert missed > stats.binom.ppf(0.999, 100, 0.05)


def test_the_worst_slice_is_the_one_with_the_highest_bound():
    wrong = np.r_[np.ones(30), np.zeros(170), np.ones(5), np.zeros(195)]
    found = slice_rates(wrong, slice_members({"ward": np.repeat(["a", "b"], 200)}))
    exact = stats.binomtest(30, 200, alternative="less").proportion_ci(1 - 0.025 / 2)
    assert found.worst == "ward = a"
    assert found.upper.value == pytest.approx(exact.high, rel=1e-9)
    assert (found.upper.kind, found.upper.confidence) == ("bound", 0.975)
    first, second, gap, low, high = found.gaps.iloc[0]
    assert (first, second, gap) == ("ward = a", "ward = b", pytest.approx(0.125))
    assert 0.05 < low < gap < high < 0.2


@pytest.mark.slow
def test_a_planted_slice_is_found_on_other_rows_and_none_where_there_is_none():
    rng, found, invented = np.random.default_rng(1), 0, 0
    names = [f"x{i}" for i in range(6)]
    for seed in range(40):
        X = rng.random((2000, 6))
        inside = X[:, 3] > 0.95
        rule = found_slice(X, rng.random(2000) < np.where(inside, 0.2, 0.04), names, seed=seed)
        found += rule is not None and rule.confirmed and "x3" in str(rule.rule)
        none = found_slice(X, rng.random(2000) < 0.05, names, seed=seed)
        invented += none is not None and none.confirmed
    assert found >= 32, "91 % in 300 worlds of benchmarks/planted_slice.py"
    assert invented <= stats.binom.ppf(0.999, 40, 0.05)


@pytest.mark.slow
def test_rows_of_one_patient_do_not_make_a_slice():
    """Patients differ, and a column names the patient's ward: no ward is worse."""
    rng, invented, blind = np.random.default_rng(2), 0, 0
    for seed in range(40):
        patient = np.repeat(np.arange(60), 20)
        rate = rng.beta(0.3, 2.7, 60)
        X = np.column_stack([(patient % 6).astype(float), rng.random(1200)])
        wrong = rng.random(1200) < rate[patient]
        rule = found_slice(X, wrong, ["ward", "x"], groups=patient, seed=seed)
        invented += rule is not None and rule.confirmed
        rule = found_slice(X, wrong, ["ward", "x"], seed=seed)
        blind += rule is not None and rule.confirmed
    assert invented <= stats.binom.ppf(0.999, 40, 0.05)
    assert blind > stats.binom.ppf(0.999, 40, 0.05), "without groups it would be invented"


def test_rules_are_short_different_and_in_words():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.random(3000), rng.integers(0, 2, 3000), rng.random(3000)])
    wrong = (X[:, 0] > 0.8) & (X[:, 1] == 1) & (rng.random(3000) < 0.7)
    rules = find_slices(X, wrong, ["age", "male", "x"])
    assert set(str(rules[0]).split(" and ")) == {"age > 0.8059", "male"} or "age > " in str(
        rules[0]
    )
    assert "male" in str(rules[0])
    assert all(len(rule.conditions) <= 3 for rule in rules)
    assert find_slices(X, np.zeros(3000)) == ()


def test_a_grade_of_one_is_not_called_a_yes():
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.integers(1, 4, 2000), rng.random(2000)])
    wrong = (X[:, 0] == 1) & (rng.random(2000) < 0.5)
    assert str(find_slices(X, wrong, ["grade", "x"], most=1)[0]) == "grade = 1"


def test_rows_with_holes_keep_the_column_in_the_search():
    rng = np.random.default_rng(5)
    X = rng.random((2000, 2))
    wrong = (X[:, 0] > 0.9) & (rng.random(2000) < 0.5)
    X[rng.random(2000) < 0.05, 0] = np.nan
    assert str(find_slices(X, wrong, ["a", "b"], most=1)[0]).startswith("a > 0.9")


def test_counts_of_conditions_are_those_of_their_rows():
    from fireassay.statistics.slice_search import _Search

    rng = np.random.default_rng(3)
    table = np.column_stack(
        [rng.normal(size=300), rng.integers(0, 4, 300), rng.integers(0, 2, 300), rng.random(300)]
    )
    table[rng.random(300) < 0.1, 0] = np.nan
    table[5, 3] = np.inf
    search = _Search(table, ["a", "b", "c", "d"], 0.03)
    rules = rng.random((3, 300)) < 0.5
    expected = np.array([[(w & c.of(table)).sum() for c in search.conditions] for w in rules])
    assert np.array_equal(search.counts(rules), expected)


@pytest.mark.parametrize("n", [2, 3, 20, 21, 777])
def test_cuts_are_numpys_quantiles_to_the_last_bit(n):
    from fireassay.statistics.slice_search import _CUTS, _quantiles_of_sorted

    values = np.sort(np.random.default_rng(n).normal(size=n).round(1 + n % 3))
    assert (_quantiles_of_sorted(values, _CUTS) == np.quantile(values, _CUTS)).all()
