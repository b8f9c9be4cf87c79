import numpy as np
import pytest

from fireassay.core import DataError, ParameterError
from fireassay.reliability import DESIGNS, importance_design, plan
from fireassay.statistics import clopper_pearson


def pool(n, rng):
    """A tenth of the pool holds most of the errors, and the risk guess roughly knows it."""
    risky = rng.random(n) < 0.1
    wrong = rng.random(n) < np.where(risky, 0.3, 0.005)
    return np.where(risky, 0.3, 0.005) * rng.uniform(0.5, 2, n), wrong.astype(float)


@pytest.mark.parametrize("kind", DESIGNS)
def test_estimates_are_unbiased_and_sharper_than_plain_sampling(kind):
    rng = np.random.default_rng(0)
    risk, wrong = pool(20_000, rng)
    found = []
    for seed in range(150):
        design = DESIGNS[kind].draw(risk, 400, seed=seed)
        assert len(design.rows) == 400
        found.append(design.estimate(wrong[design.rows]))
    rates = np.array([f.pmi for f in found])
    plain = np.sqrt(wrong.mean() * (1 - wrong.mean()) / 400)
    assert rates.mean() == pytest.approx(wrong.mean(), abs=4 * plain / np.sqrt(150))
    assert rates.std() < 0.8 * plain
    assert np.mean([f.std for f in found]) == pytest.approx(rates.std(), rel=0.25)


@pytest.mark.parametrize("kind", DESIGNS)
def test_bounds_hold_for_the_pool_and_for_the_profile(kind):
    rng = np.random.default_rng(1)
    missed = missed_pool = 0
    for seed in range(120):
        risk, wrong = pool(3000, rng)
        design = DESIGNS[kind].draw(risk, 300, seed=seed)
        found = design.estimate(wrong[design.rows], confidence=0.9)
        missed += found.pmi_upper < 0.0345
        missed_pool += found.pool_upper < wrong.mean()
        assert found.pmi_upper >= found.pool_upper
    assert missed <= 20
    assert missed_pool <= 20


def test_a_misleading_risk_costs_width_not_validity():
    rng = np.random.default_rng(2)
    risk, wrong = pool(5000, rng)
    misled = importance_design(1 / (risk + 0.01), 400).estimate(
        wrong[importance_design(1 / (risk + 0.01), 400).rows]
    )
    assert misled.pmi_upper > 0.0345


def test_bad_designs_are_refused():
    with pytest.raises(ParameterError, match="budget"):
        importance_design(np.ones(10), 0)
    with pytest.raises(DataError, match="risk"):
        importance_design([np.nan], 1)
    with pytest.raises(DataError, match="0 or 1"):
        importance_design(np.ones(10), 5).estimate([2, 0, 0, 0, 0])
    same = importance_design(np.zeros(50), 10)
    assert same.estimate(np.zeros(10)).pmi == 0


def test_plan_is_the_smallest_number_that_works():
    needed = plan(target=1e-3, confidence=0.975)
    assert needed.labels == int(needed) == 3688
    assert clopper_pearson(0, 3688, 0.975, "upper")[1] <= 1e-3
    assert clopper_pearson(0, 3687, 0.975, "upper")[1] > 1e-3
    assert clopper_pearson(0, needed.labels_with_operational, 1 - 0.9 * 0.025, "upper")[1] <= 1e-3
    for row in needed.frame().itertuples():
        assert row.power >= 0.8
        upper = clopper_pearson(row.errors_allowed, row.labels, 0.975, "upper")[1]
        assert upper <= 1e-3 * (1 + 1e-9)
        more = clopper_pearson(row.errors_allowed + 1, row.labels, 0.975, "upper")[1]
        assert more > 1e-3
    assert needed.frame()["labels"].is_monotonic_increasing


@pytest.mark.parametrize(
    "bad", [{"target": 0}, {"target": 1}, {"confidence": 0}, {"confidence": 1}]
)
def test_impossible_plans_are_refused(bad):
    with pytest.raises(ParameterError):
        plan(**bad)
