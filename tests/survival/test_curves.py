"""Curves without a family, against lifelines, closed forms and brute force."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fireassay import survival
from fireassay.survival.fit_numbers import concordance
from fireassay.survival.times import Times, TurnbullSupport, intervals_overlap, read_times


def test_curve_band_median_and_rmst_are_those_of_lifelines(lung, oracle):
    theirs = oracle["lung"]["curve"]
    curve = survival.kaplan_meier(lung)
    for time, value, low, high in zip(
        theirs["times"], theirs["survival"], theirs["low"], theirs["high"], strict=True
    ):
        found = curve.at(time)
        assert (found.value, found.low, found.high) == pytest.approx((value, low, high), abs=1e-9)
    assert curve.medians.at["all", "median"] == theirs["median"]
    assert survival.rmst(lung, horizon=500).estimate().value == pytest.approx(theirs["rmst_500"])
    assert survival.log_rank(lung, "sex").statistic == pytest.approx(theirs["log_rank_sex"])


def turnbull(times):
    """Times and survival just after them, by self-consistency on the innermost intervals."""
    support = TurnbullSupport.of(times)
    return support.curve(support.mass(np.ones(len(times)), tolerance=1e-8, max_iterations=20_000))


def test_turnbull_is_that_of_lifelines(oracle):
    theirs = oracle["turnbull"]
    rows = Times(np.array(theirs["lower"]), np.array(theirs["upper"]))
    times, survived = turnbull(rows)
    for time, (low, high) in zip(theirs["times"], theirs["survival"], strict=True):
        found = np.append(1.0, survived)[np.searchsorted(times, time, side="right")]
        assert low - 2e-3 <= found <= high + 2e-3


def test_no_other_mass_has_a_higher_likelihood_than_turnbulls(oracle):
    lower, upper = (np.array(oracle["turnbull"][name]) for name in ("lower", "upper"))
    times, survived = turnbull(Times(lower, upper))
    mass = -np.diff(np.append(1.0, survived))
    inside = (times[None, :] > lower[:, None]) & (times[None, :] <= upper[:, None])
    gradient = (inside / (inside @ mass)[:, None]).sum(axis=0)
    # Karush-Kuhn-Tucker: n where there is mass, no more than n elsewhere.
    assert gradient.max() <= len(lower) * (1 + 1e-3)
    np.testing.assert_allclose(gradient[mass > 1e-3], len(lower), rtol=1e-3)


def test_turnbull_on_exact_and_right_censored_rows_is_kaplan_meier(lung):
    times, survived = turnbull(read_times(lung))
    curve = survival.kaplan_meier(lung)
    for time in (50, 150, 310, 600):
        found = np.append(1.0, survived)[np.searchsorted(times, time, side="right")]
        assert found == pytest.approx(curve.at(time).value, abs=1e-6)


def test_overlap_is_seen():
    def times(*pairs):
        return Times(*np.array(pairs, dtype=float).T)

    assert not intervals_overlap(times((0, 2), (2, 4), (4, np.inf), (2, 4)))
    assert intervals_overlap(times((0, 2), (1, 3)))
    assert intervals_overlap(times((0, 2), (1, np.inf)))
    assert intervals_overlap(times((0, 2), (1, 1)))


def test_checks_on_a_common_grid_give_the_share_still_standing():
    frame = pd.DataFrame({"lower": [0.0, 0, 2, 2, 4, 4], "upper": [2.0, 2, 4, 4, np.inf, np.inf]})
    curve = survival.kaplan_meier(frame)
    assert [curve.at(t).value for t in (1, 2, 4)] == pytest.approx([1, 4 / 6, 2 / 6])
    assert survival.rmst(frame, horizon=4).estimate().value == pytest.approx(2 + 2 * 4 / 6)


def test_all_censored_is_a_bound_and_a_median_that_was_not_reached():
    frame = pd.DataFrame({"lower": np.full(40, 5.0), "upper": np.full(40, np.inf)})
    curve = survival.kaplan_meier(frame)
    assert curve.at(5).value == 1.0
    assert curve.at(5).low == pytest.approx(0.025 ** (1 / 40), rel=1e-6)
    assert "not reached" in curve.evidence().headline
    assert survival.rmst(frame).estimate().low < 5.0


def test_grouped_band_is_wider_when_groups_differ():
    rng = np.random.default_rng(0)
    model = np.repeat(np.arange(10), 50)
    time = np.exp(rng.normal(size=10)[model] + 0.3 * rng.normal(size=500))
    frame = pd.DataFrame({"duration": time, "event": 1, "model_id": model})
    plain = survival.rmst(frame, horizon=2.0).estimate()
    grouped = survival.rmst(frame, horizon=2.0, groups="model_id").estimate()
    assert grouped.value == pytest.approx(plain.value)
    assert grouped.high - grouped.low > 2.5 * (plain.high - plain.low)


def test_rmst_refuses_to_look_beyond_the_data(lung):
    with pytest.raises(ValueError, match="horizon"):
        survival.rmst(lung, horizon=5000)


def test_concordance_is_that_of_lifelines(oracle):
    rows = oracle["concordance"]
    times = read_times(pd.DataFrame({k: rows[k] for k in ("duration", "event")}))
    assert concordance(times, np.array(rows["score"], float)) == pytest.approx(rows["value"])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 4), st.booleans(), st.integers(0, 4)),
        min_size=2,
        max_size=30,
    )
)
def test_concordance_is_that_of_all_pairs(rows):
    lower = np.array([r[0] for r in rows], float)
    upper = np.array([np.inf if r[2] else r[0] + r[1] for r in rows], float)
    score = np.array([r[3] for r in rows], float)
    good = total = 0.0
    for i in range(len(rows)):
        for j in range(len(rows)):
            strictly_later = lower[j] != upper[j] or upper[i] < lower[j]
            if np.isfinite(upper[i]) and upper[i] <= lower[j] and strictly_later and i != j:
                total += 1
                good += (score[j] > score[i]) + 0.5 * (score[j] == score[i])
    times = Times(lower, upper)
    if total == 0:
        with pytest.raises(ValueError, match="pair"):
            concordance(times, score)
    else:
        assert concordance(times, score) == pytest.approx(good / total)


def censored_early(seed, n=400):
    """Most rows are only watched for a while; failures come late."""
    rng = np.random.default_rng(seed)
    time = 20 * rng.weibull(4.0, size=n)
    watched = np.where(np.arange(n) < n - 4, 3.0, 30.0)
    watched[n - 4 :] = [8.0, 9.0, 10.0, 11.0]
    return pd.DataFrame({"duration": np.minimum(time, watched), "event": time <= watched})


def test_band_at_one_counts_those_at_risk():
    frame = pd.DataFrame({"duration": [1.0] * 96 + [8.0] * 4, "event": 0})
    last = survival.kaplan_meier(frame).frame().iloc[-1]
    assert last["survival"] == 1.0
    # Four rows that stood say S >= .025 ** (1 / 4), whatever the 96 did before.
    assert last["low"] == pytest.approx(0.025 ** (1 / 4))


def test_band_at_zero_counts_those_at_risk():
    frame = pd.DataFrame({"duration": [1.0] * 97 + [2.0, 3.0, 4.0], "event": [0] * 97 + [1] * 3})
    last = survival.kaplan_meier(frame).frame().iloc[-1]
    assert last["survival"] == 0.0
    assert last["high"] == pytest.approx(0.975)


def test_band_at_one_covers_when_most_rows_leave_early():
    # S(10) is .939. With all 400 rows counted the band at 1 is [.991, 1]; with two it is [.16, 1].
    truth = np.exp(-((10 / 20) ** 4))
    found = [survival.kaplan_meier(censored_early(seed)).at(10.0) for seed in range(200)]
    still_one = [e for e in found if e.value == 1.0]
    assert len(still_one) > 100
    assert all(e.low <= truth for e in still_one)


def test_groups_at_risk_are_counted_not_rows():
    frame = pd.DataFrame(
        {"duration": [1.0] * 60 + [8.0] * 40, "event": 0, "model": [i % 10 for i in range(60)]
         + [i % 2 for i in range(40)]}
    )  # fmt: skip
    last = survival.kaplan_meier(frame, groups="model").frame().iloc[-1]
    assert last["low"] == pytest.approx(0.025 ** (1 / 2))


def test_beyond_follow_up_is_said():
    frame = pd.DataFrame({"duration": [1.0, 2.0, 3.0, 5.0], "event": [1, 0, 1, 0]})
    curve = survival.kaplan_meier(frame)
    inside, beyond = curve.at(5.0), curve.at(6.0)
    assert beyond.low == 0.0
    assert beyond.high == inside.high
    assert inside.low > 0.0
    assert "beyond follow-up, which ended at 5" in beyond.method
    assert "beyond" not in inside.method
    assert curve.at(0.5).low == pytest.approx(0.025 ** (1 / 4))


def test_three_and_three_models_cannot_be_significant():
    rows = [
        {"duration": (1.0 if arm else 50.0) + 0.1 * k, "event": 1, "model": m, "arm": arm}
        for m in range(6)
        for arm in [int(m < 3)]
        for k in range(20)
    ]
    found = survival.log_rank(pd.DataFrame(rows), "arm", groups="model")
    assert found.smallest_p == pytest.approx(2 / 20)
    assert found.p > 0.05
    assert "too few to be significant: p is at least 0.1" in found.summary()
    more = [{**row, "model": row["model"] + 6 * j} for j in (0, 1) for row in rows]
    larger = survival.log_rank(pd.DataFrame(more), "arm", groups="model")
    assert larger.smallest_p == pytest.approx(2 / 924)
    assert larger.p < 0.05
    assert "too few" not in larger.summary()
