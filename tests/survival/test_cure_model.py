"""The share that never falls: its fit, and an interval that counts groups."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.stats import binom

from fireassay.survival.cure import CureLikelihood, fit_cure_model
from fireassay.survival.times import Times


def watched(rng, n, share, horizon, shape=1.5, width=0.0):
    """Times to failure, exact or known to a width, of which a share never falls."""
    fall = np.where(rng.random(n) < share, np.inf, 20 * rng.weibull(shape, n))
    seen = fall <= horizon
    if width:
        first = np.where(seen, np.floor(np.where(seen, fall, 0) / width) * width, horizon)
        return Times(first, np.where(seen, first + width, np.inf))
    return Times(np.minimum(fall, horizon), np.where(seen, fall, np.inf))


@pytest.mark.parametrize("width", [0.0, 5.0])
def test_slopes_are_those_of_the_likelihood(width):
    likelihood = CureLikelihood(watched(np.random.default_rng(0), 60, 0.3, 40.0, width=width))
    place = np.array([0.2, 3.0, 0.1])
    numeric = approx_fprime(place, lambda at: likelihood.rows(at)[0].sum(), 1e-7)
    assert likelihood.rows(place)[1].sum(axis=0) == pytest.approx(numeric, rel=1e-4)


def test_no_share_is_more_likely_than_the_one_found():
    # A flat likelihood: a search without slopes stopped at .19, where .15 is more likely.
    rng = np.random.default_rng(0)
    for k in range(10):
        times = watched(rng, 120, (0.33, 0.0, 0.6)[k % 3], (60, 30)[k % 2], (1.5, 0.7)[k % 2])
    found = fit_cure_model(times)

    def least(share):
        return minimize(CureLikelihood(times).loss, [4.0, 0.0], args=(share,), jac=True).fun

    grid = np.linspace(0.0, 0.6, 13)
    assert least(found.never_falls.value) <= min(map(least, grid)) + 1e-6


def shares_of_groups(rng, groups=10, size=20):
    """Groups of which nearly all samples fall, or hardly any."""
    parts = [watched(rng, size, share, 60.0) for share in rng.beta(0.5, 1.0, groups)]
    lower, upper = (np.concatenate([getattr(p, end) for p in parts]) for end in ("lower", "upper"))
    return Times(lower, upper), np.repeat(np.arange(groups), size)


def test_groups_are_counted_instead_of_rows():
    rng = np.random.default_rng(1)
    missed = {True: 0, False: 0}
    for _ in range(20):
        times, groups = shares_of_groups(rng)
        for aware in missed:
            found = fit_cure_model(times, groups=groups if aware else None).never_falls
            missed[aware] += not found.low <= 1 / 3 <= found.high
    allowed = binom.ppf(0.999, 20, 0.05)
    assert missed[True] <= allowed < missed[False]


def test_groups_of_one_row_say_what_rows_say():
    times = watched(np.random.default_rng(2), 150, 0.3, 60.0)
    rows = fit_cure_model(times).never_falls
    groups = fit_cure_model(times, groups=np.arange(150)).never_falls
    assert groups.value == pytest.approx(rows.value, abs=1e-3)
    assert rows.high - rows.low <= groups.high - groups.low <= 1.2 * (rows.high - rows.low)
    assert "flattened by 150 groups" in groups.method


def test_one_group_alone_says_nothing():
    times = watched(np.random.default_rng(3), 80, 0.3, 60.0)
    found = fit_cure_model(times, groups=np.zeros(80, dtype=int)).never_falls
    assert (found.low, found.high) == (0.0, 1.0)
