"""Labels drawn by suspicion: the bound holds whether the suspicion is right or not."""

import numpy as np
import pytest
from scipy.stats import binom

from fireassay.core import DataError, ParameterError
from fireassay.statistics import clopper_pearson, thinned_upper, thinning


def risks(rng, p, n):
    return rng.beta(0.3, 0.3 * (1 - p) / p, n)


SUSPICIONS = {
    "right": lambda risk, p: risk,
    "flat": lambda risk, p: np.full(len(risk), p),
    "overrated": lambda risk, p: np.minimum(1.0, 5 * risk),
    "inverted": lambda risk, p: 2 * p * (1 - risk),
}


@pytest.mark.parametrize("kind", SUSPICIONS)
def test_misses_stay_within_chance_and_good_suspicion_costs_nothing(kind):
    rng = np.random.default_rng(list(SUSPICIONS).index(kind))
    p, pool, labels, runs = 0.05, 3000, 1100, 150
    missed, excess, plain = 0, 0.0, 0.0
    for _ in range(runs):
        risk = risks(rng, p, pool)
        wrong = rng.random(pool) < risk
        outside = SUSPICIONS[kind](risks(rng, p, 1000), p)
        plan = thinning(SUSPICIONS[kind](risk, p), outside, labels)
        upper = thinned_upper(plan, plan.draw(rng), wrong)
        missed += upper < p
        excess += upper - p
        alike = rng.random(pool) < labels / pool
        plain += (
            clopper_pearson(int((alike & wrong).sum()), int(alike.sum()), 0.975, "upper")[1] - p
        )
    assert missed <= binom.ppf(0.999, runs, 0.025)
    if kind == "right":
        assert excess < plain


def test_few_expected_errors_are_drawn_alike_and_bounded_exactly():
    plan = thinning(np.full(1000, 0.01), np.full(100, 0.01), labels=400)
    assert plan.even == 1.0
    drawn = np.arange(1000) < 400
    wrong = np.arange(1000) < 3
    assert thinned_upper(plan, drawn, wrong) == clopper_pearson(3, 400, 0.975, "upper")[1]


def test_what_was_not_drawn_is_not_looked_at():
    rng = np.random.default_rng(5)
    risk = risks(rng, 0.1, 2000)
    plan = thinning(risk, risks(rng, 0.1, 500), labels=800)
    drawn, wrong = plan.draw(rng), rng.random(2000) < risk
    assert thinned_upper(plan, drawn, wrong) == thinned_upper(plan, drawn, wrong | ~drawn)


def test_bad_inputs_are_refused():
    with pytest.raises(DataError, match="probability"):
        thinning([0.1, 1.2], [0.1], labels=1)
    with pytest.raises(ParameterError, match="pool"):
        thinning([0.1, 0.2], [0.1], labels=3)
