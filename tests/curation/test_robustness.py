import numpy as np
import pandas as pd
import pytest

from fireassay import curation
from fireassay.core import DataError, ParameterError


@pytest.fixture(scope="module")
def world():
    votes, y = curation.simulate_votes([0.7] * 8, 0.6, 3000, seed=0)
    result = curation.curate(votes)
    return result, y, result.validate(y)


def test_a_model_that_knows_the_truth_is_robust(world):
    result, y, trend = world
    found = result.robustness(y, validity=trend)
    assert (found.verdict, found.trend) == ("robust", "decreasing")
    assert found.agreement == pytest.approx(trend.accuracy)
    assert found.auc == pytest.approx(trend.auc)


def test_a_model_that_learnt_the_weak_labels_by_heart_is_not(world):
    result, _, trend = world
    rng = np.random.default_rng(0)
    parrot = np.where(rng.random(3000) < 0.95, result.labels, 1 - result.labels)
    assert result.robustness(parrot, validity=trend).verdict == "not robust"
    hard = result.score < np.median(result.score)
    backwards = np.where(hard | (rng.random(3000) < 0.6), result.labels, 1 - result.labels)
    found = result.robustness(backwards, validity=trend)
    assert (found.verdict, found.trend) == ("not robust", "increasing")


def test_without_a_valid_order_nothing_is_claimed(world):
    result, y, _ = world
    assert result.robustness(y).verdict == "not enough evidence"
    flat = result.validate(np.random.default_rng(0).permutation(y))
    if flat.verdict != "decreasing":
        assert result.robustness(y, validity=flat).verdict == "not enough evidence"
    rows = result.audit_rows(600)
    assert result.robustness(y, validity=result.audit(rows, y[rows])).verdict == "robust"
    with pytest.raises(ParameterError, match="validity"):
        result.robustness(y, validity=3)


def test_a_subgroup_with_worse_agreement_is_found_and_others_are_not(world):
    result, y, trend = world
    rng = np.random.default_rng(1)
    by = rng.choice(["A", "B", "=cmd()"], size=3000)
    model = np.where((by == "B") & (rng.random(3000) < 0.3), 1 - y, y)
    table = result.robustness(model, by, validity=trend).subgroups.set_index("subgroup")
    assert table.loc["B", "differs"]
    assert table.loc["B", "difference_high"] < 0
    assert table["n"].sum() == 3000
    assert isinstance(table, pd.DataFrame)
    with pytest.raises(DataError, match="same number"):
        result.robustness(model, by[:-1])


@pytest.mark.slow
def test_subgroup_differences_have_their_level(world):
    result, y, trend = world
    rng = np.random.default_rng(2)
    flagged = 0
    for _ in range(200):
        by = rng.integers(0, 4, size=3000)
        flagged += result.robustness(y, by, validity=trend).subgroups["differs"].any()
    assert flagged <= 0.05 * 200 + 3 * np.sqrt(0.05 * 0.95 * 200)
