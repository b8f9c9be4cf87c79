"""The cost ratio and the planning of comparisons."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fireassay import survival
from fireassay.core.errors import ParameterError


@pytest.fixture(scope="module")
def queries():
    rng = np.random.default_rng(0)
    time = 20 * rng.exponential(size=400)
    return pd.DataFrame(
        {"lower": np.minimum(time, 60.0), "upper": np.where(time > 60, np.inf, time)}
    )


@pytest.fixture(scope="module")
def fallen():
    return pd.DataFrame({"duration": 20 * np.random.default_rng(0).exponential(size=400)}).assign(
        event=1
    )


def test_ratio_is_training_over_restricted_mean(queries):
    fit = survival.fit(queries, "exponential")
    mean = math.exp(fit.coefficients.at["Intercept", "coef"])
    restricted = mean * (1 - math.exp(-60 / mean))
    found = survival.trash(fit, 0.5, {"seconds_per_query": 0.01}, horizon=60.0)
    assert found.value == pytest.approx(0.5 / (restricted * 0.01), rel=1e-6)
    assert found.low < found.value < found.high
    assert found.survival_at_horizon == pytest.approx(math.exp(-60 / mean), rel=1e-6)
    # Delta method: the relative error of an exponential mean is 1/sqrt(events), less restricted.
    reach = math.log(found.high / found.value) / stats.norm.ppf(0.975)
    assert 0.5 / math.sqrt(fit.n_events) < reach < 1.05 / math.sqrt(fit.n_events)


def half_fall(seed, never=False):
    """54 % fall after 10 queries on average, the others after 11,000 (or never); budget 48."""
    rng = np.random.default_rng(seed)
    quick = rng.random(1500) < 0.54
    time = np.where(quick, 10 * rng.exponential(size=1500), 11_000 * rng.exponential(size=1500))
    time = np.where(~quick & never, np.inf, time)
    return pd.DataFrame(
        {"lower": np.minimum(time, 48.0), "upper": np.where(time > 48, np.inf, time)}
    )


def test_standing_samples_never_prove_that_breaking_is_cheaper():
    # The true ratio is .011; training over the true restricted mean is 55.7 / 27.4 = 2.03.
    train, truth = 55.7, 55.7 / (0.54 * 10 + 0.46 * 11_000)
    found = survival.trash(survival.fit(half_fall(0), "weibull"), train)
    assert truth == pytest.approx(0.011, abs=1e-4)
    assert found.value > 1.8
    assert found.high > 2.03
    assert found.low <= truth <= found.high
    assert found.low == 0.0
    assert found.probability_above_one is None
    evidence = found.evidence()
    assert [claim.holds for claim in evidence.claims] == [None]
    assert evidence.estimates["trash"].kind == "interval"
    assert evidence.assumptions[0].status == "contradicted"
    assert "at most" in evidence.headline
    assert "P(> 1)" not in evidence.headline


def test_standing_samples_can_prove_that_breaking_is_dearer():
    found = survival.trash(survival.fit(half_fall(0), "weibull"), 0.5)
    assert found.high < 1
    assert found.evidence().claims[0].holds is True


def test_extrapolation_does_not_decide_either():
    fit = survival.fit(half_fall(0), "weibull")
    found = survival.trash(fit, 1000.0, horizon=math.inf)
    restricted = survival.trash(fit, 1000.0)
    assert found.low == 0.0
    assert found.high == pytest.approx(restricted.high)
    assert found.value < restricted.value
    assert found.evidence().claims[0].holds is None


def test_share_that_never_falls_is_found():
    shares = [
        survival.trash(survival.fit(half_fall(seed, never=True), "weibull"), 1.0).never_falls
        for seed in range(5)
    ]
    assert sum(share.low <= 0.46 <= share.high for share in shares) >= 4
    assert np.mean([share.value for share in shares]) == pytest.approx(0.46, abs=0.02)


def test_nothing_never_falls_in_a_weibull_world(queries):
    # Exponential times cut at three means: what stands is what the law leaves standing.
    found = survival.trash(survival.fit(queries, "exponential"), 1.0)
    assert found.never_falls.low < 0.02
    assert found.never_falls.value <= found.standing


def test_ratio_of_those_that_fall():
    fit = survival.fit(half_fall(3, never=True), "weibull")
    found = survival.trash(fit, 20.0)
    assert found.value_among_falling == pytest.approx(20.0 / 10.0, rel=0.1)


def test_unrestricted_mean_is_only_taken_when_asked(queries):
    fit = survival.fit(queries, "exponential")
    mean = math.exp(fit.coefficients.at["Intercept", "coef"])
    found = survival.trash(fit, 1.0, horizon=math.inf)
    assert found.mean_time.value == pytest.approx(mean, rel=1e-9)
    assert survival.trash(fit, 1.0).mean_time.value < mean


def test_units_follow_prices(queries):
    fit = survival.fit(queries, "weibull")
    cost = survival.Cost(
        seconds_per_query=0.02,
        training_price_per_hour=3.0,
        attack_price_per_hour=1.0,
        training_watts=300.0,
        attack_watts=100.0,
    )
    table = survival.trash(fit, 0.5, cost).frame()
    assert list(table.index) == ["queries", "seconds", "money", "joules"]
    seconds = table.at["seconds", "ratio"]
    assert table.at["queries", "ratio"] == pytest.approx(seconds)
    assert table.at["money", "ratio"] == pytest.approx(3 * seconds)
    assert table.at["joules", "training"] == pytest.approx(150.0)
    assert list(survival.trash(fit, 0.5).frame().index) == ["seconds"]


def test_verdict_follows_the_interval(fallen):
    fit = survival.fit(fallen, "weibull")
    broken = survival.trash(fit, 1e3, {"seconds_per_query": 0.01})
    assert broken.standing == 0.0
    assert broken.probability_above_one > 0.999
    assert broken.evidence().claims[0].holds is False
    cheap = survival.trash(fit, 1e-6, {"seconds_per_query": 0.01})
    assert cheap.probability_above_one < 0.001
    assert cheap.evidence().claims[0].holds is True
    even = survival.trash(fit, float(fit.expected_time(fallen).mean()))
    assert even.probability_above_one == pytest.approx(0.5, abs=1e-6)
    assert even.evidence().claims[0].holds is None


def test_cox_has_no_cost_ratio(queries):
    fit = survival.fit(queries.assign(x=np.arange(400) % 5), "cox", ["x"])
    with pytest.raises(ParameterError, match="parametric"):
        survival.trash(fit, 1.0)


@pytest.mark.slow
def test_interval_of_the_ratio_covers():
    rng = np.random.default_rng(1)
    truth = 1.0 / (10 * (1 - math.exp(-3.0)))
    covered = 0
    for _ in range(150):
        time = 10 * rng.exponential(size=80)
        frame = pd.DataFrame(
            {"lower": np.minimum(time, 30), "upper": np.where(time > 30, np.inf, time)}
        )
        found = survival.trash(survival.fit(frame, "exponential"), 1.0, horizon=30.0)
        covered += found.low <= truth <= found.high
    assert covered / 150 >= 0.92


def test_plan_of_an_exponential_is_the_textbook_formula():
    # All samples fail: variance of the log ratio is 2/n.
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    found = survival.plan(1.5, 0.8, failure_share=0.999999)
    assert found.samples == pytest.approx(2 * z**2 / math.log(1.5) ** 2, rel=0.01)


def test_survival_saves_most_where_most_samples_fall():
    few = survival.plan(1.2, failure_share=0.2)
    most = survival.plan(1.2, failure_share=0.95)
    assert 1.0 <= few.saving < 1.1
    assert most.saving > 1.5


def test_models_cannot_be_replaced_by_samples():
    one = survival.plan(1.2, between_model_sd=0.3, samples_per_model=100)
    many = survival.plan(1.2, between_model_sd=0.3, samples_per_model=100_000)
    assert many.models > 30
    assert one.models < 1.5 * many.models


def test_benign_accuracy_needs_more():
    found = survival.plan(1.5, failure_share=0.6, benign_accuracies=(0.95, 0.94))
    assert found.samples_by_benign_accuracy > 10 * found.samples
    with pytest.raises(ParameterError, match="time_ratio"):
        survival.plan(1.0)


@pytest.mark.slow
def test_planned_samples_give_the_planned_power():
    plan = survival.plan(1.6, 0.8, scale=0.8, failure_share=0.7)
    rng = np.random.default_rng(5)
    budget = (-math.log(0.3)) ** 0.8
    seen = []
    for _ in range(300):
        arm = np.repeat([0, 1], plan.samples)
        time = np.exp(math.log(1.6) * arm) * rng.exponential(size=len(arm)) ** 0.8
        frame = pd.DataFrame(
            {"lower": np.minimum(time, budget), "upper": np.where(time > budget, np.inf, time)}
        ).assign(arm=arm)
        seen.append(survival.fit(frame, "weibull", ["arm"]).coefficients.at["arm", "p"] < 0.05)
    assert np.mean(seen) == pytest.approx(0.8, abs=0.07)
