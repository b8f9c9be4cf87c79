"""What may be concluded: ratios, exact and sequential p-values, intervals that hold."""

import itertools

import numpy as np
import pytest
from scipy import stats

from fireassay import discovery
from fireassay.core.errors import DataError


def test_sdr_is_errors_over_expectation():
    ratio = discovery.sdr([0.9, 0.8, 0.7, 0.95], [True, False, True, False])
    assert ratio.value == pytest.approx(2 / 0.65)
    assert (ratio.errors, ratio.expected) == (2, pytest.approx(0.65))


def test_the_p_value_is_the_sum_over_all_outcomes():
    confidence = np.array([0.9, 0.8, 0.7, 0.95, 0.6])
    doubt = 1 - confidence
    total = sum(
        np.prod(np.where(outcome, doubt, 1 - doubt))
        for outcome in itertools.product([0, 1], repeat=5)
        if sum(outcome) >= 2
    )
    assert discovery.sdr(confidence, [1, 0, 1, 0, 0]).p_value == pytest.approx(total)


def test_the_interval_is_garwood_over_expectation():
    """R: poisson.test(7)$conf.int is 2.814363 14.422675."""
    ratio = discovery.sdr(np.full(20, 0.9), np.arange(20) < 7)
    np.testing.assert_allclose(ratio.interval, (2.814363 / 2, 14.422675 / 2), rtol=1e-6)


def test_edges_of_the_ratio():
    assert np.isnan(discovery.sdr([], []).value)
    assert discovery.sdr([1.0, 1.0], [True, False]).value == np.inf
    assert discovery.sdr([0.9], [False]).interval[0] == 0.0
    with pytest.raises(DataError, match=r"\[0, 1\]"):
        discovery.sdr([1.5], [True])
    with pytest.raises(DataError, match="booleans"):
        discovery.sdr([0.5], [3])


def test_the_e_process_by_hand():
    confidence, wrong = [0.9, 0.8], [True, False]
    by_hand = np.mean([min(s, 9.9) * (1 - min(s, 4.95) * 0.2) / 0.8 for s in (1.5, 2, 3, 4, 6)])
    assert discovery.e_process(confidence, wrong)[-1] == pytest.approx(by_hand)
    assert discovery.sequential_p_value(confidence, wrong) == pytest.approx(1 / 3.3)


def test_without_labels_nothing_is_concluded():
    assert discovery.sequential_p_value([], []) == 1.0
    assert discovery.sequential_interval([], []) == (0.0, np.inf)


def test_the_sequential_interval_closes_in_on_a_constant_ratio():
    rng = np.random.default_rng(0)
    doubt = rng.uniform(0.02, 0.3, 3000)
    wrong = rng.random(3000) < 2 * doubt
    low, high = discovery.sequential_interval(1 - doubt, wrong)
    assert 1.6 < low < 2.0 < high < 2.5


def _adaptive_run(rng, ratio, n=60):
    """Asks where the last errors were: two regions, one learns which one pays."""
    doubts = np.array([0.05, 0.3])
    confidence, wrong, wins = [], [], np.ones(2)
    for _ in range(n):
        region = int(rng.random() < wins[1] / wins.sum())
        error = rng.random() < ratio * doubts[region]
        confidence.append(1 - doubts[region])
        wrong.append(error)
        wins[region] += error
    return np.array(confidence), np.array(wrong)


@pytest.mark.slow
def test_sdr_interval_misses_no_more_often_than_it_may():
    rng = np.random.default_rng(1)
    misses = 0
    for _ in range(1000):
        doubt = rng.uniform(0.02, 0.35, 50)
        ratio = discovery.sdr(1 - doubt, rng.random(50) < doubt)
        misses += not ratio.interval[0] <= 1 <= ratio.interval[1]
    assert misses <= stats.binom.ppf(0.999, 1000, 0.05)


@pytest.mark.slow
def test_sequential_p_keeps_its_level_under_adaptive_search_and_peeking():
    """The fixed-sample p-value, looked at every few labels, does not: it is not used there."""
    rng = np.random.default_rng(2)
    sequential = fixed = 0
    for _ in range(1000):
        confidence, wrong = _adaptive_run(rng, 1.0)
        sequential += discovery.sequential_p_value(confidence, wrong) <= 0.05
        fixed += any(
            discovery.sdr(confidence[:t], wrong[:t]).p_value <= 0.05 for t in range(10, 61, 10)
        )
    assert sequential <= stats.binom.ppf(0.999, 1000, 0.05)
    assert fixed > stats.binom.ppf(0.999, 1000, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.5])
def test_the_sequential_interval_covers_at_every_step_at_once(ratio):
    rng = np.random.default_rng(3)
    misses = 0
    for _ in range(300):
        confidence, wrong = _adaptive_run(rng, ratio)
        bounds = [discovery.sequential_interval(confidence[:t], wrong[:t]) for t in (10, 30, 60)]
        misses += any(not low <= ratio <= high for low, high in bounds)
    assert misses <= stats.binom.ppf(0.999, 300, 0.05)


def test_matched_random_is_exact():
    """Two bins by confidence; the search took 2 of 10 and 1 of 10 rows with 3 and 1 errors."""
    confidence = np.concatenate([np.full(10, 0.7), np.full(10, 0.9)])
    wrong = np.zeros(20, dtype=bool)
    wrong[[0, 1, 2, 10]] = True
    test = discovery.matched_random_test(confidence, wrong, [0, 1, 11], n_bins=2)
    p_both = stats.hypergeom.pmf(2, 10, 3, 2)
    p_one = stats.hypergeom.pmf(1, 10, 3, 2)
    assert test.p_value == pytest.approx(p_both + p_one * 0.1)
    assert test.expected_random == pytest.approx(0.7)
    assert test.errors == 2


@pytest.mark.slow
def test_matched_random_does_not_call_luck_skill():
    rng = np.random.default_rng(4)
    calls = {"pool": 0, "arm": 0}
    for _ in range(600):
        doubt = rng.uniform(0.02, 0.4, 400)
        wrong = rng.random(400) < 2 * doubt
        # A search by confidence has no skill beyond confidence.
        queried = np.argsort(-doubt)[:40]
        test = discovery.matched_random_test(1 - doubt, wrong, queried)
        calls["pool"] += test.p_value <= 0.05
        rest = np.setdiff1d(np.arange(400), queried)
        near = rest[np.argsort(-doubt[rest])[:40]]
        arm = rng.choice(near, 10, replace=False)
        test = discovery.matched_arm_test(
            1 - doubt[queried], wrong[queried], 1 - doubt[arm], wrong[arm]
        )
        calls["arm"] += test.p_value <= 0.05
    assert max(calls.values()) <= stats.binom.ppf(0.999, 600, 0.05)


def test_matched_random_sees_skill():
    rng = np.random.default_rng(5)
    confidence = np.full(500, 0.9)
    wrong = rng.random(500) < 0.1
    queried = np.concatenate([np.flatnonzero(wrong)[:12], np.flatnonzero(~wrong)[:18]])
    assert discovery.matched_random_test(confidence, wrong, queried).p_value < 1e-4


@pytest.mark.slow
def test_errors_that_come_in_patients_keep_the_level():
    # Confidences are right on average, but a patient's ten rows are wrong together.
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(20), 10)
    rejected = {"rows": 0, "groups": 0}
    for _ in range(300):
        wrong = (rng.random(20) < 0.1)[patient]
        confidence = np.full(200, 0.9)
        rejected["rows"] += discovery.sdr(confidence, wrong).p_value < 0.05
        found = discovery.sdr(confidence, wrong, groups=patient)
        rejected["groups"] += found.p_value < 0.05
        assert found.low <= found.value <= found.high
    assert rejected["rows"] > 0.1 * 300
    assert rejected["groups"] <= 0.05 * 300 + 3 * np.sqrt(300 * 0.05 * 0.95)


def test_many_wrong_patients_are_seen():
    patient = np.repeat(np.arange(40), 5)
    wrong = (np.arange(40) % 2 == 0)[patient]
    found = discovery.sdr(np.full(200, 0.9), wrong, groups=patient)
    assert found.valid_as == "groups"
    assert found.p_value < 0.01
    assert 1.0 < found.low <= 5.0 <= found.high


def test_budget_not_fixed_gives_the_sequential_p():
    rng = np.random.default_rng(1)
    confidence, wrong = np.full(60, 0.9), rng.random(60) < 0.3
    free = discovery.sdr(confidence, wrong, fixed=False)
    assert free.valid_as == "sequential"
    assert free.p_value == discovery.sequential_p_value(confidence, wrong)
    assert free.p_value > discovery.sdr(confidence, wrong).p_value


def test_a_budget_chosen_by_looking_needs_the_sequential_value():
    fixed = sequential = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        stated = rng.uniform(0.7, 0.98, 120)
        wrong = rng.random(120) < 1 - stated
        looks = [discovery.sdr(stated[:n], wrong[:n]).p_value for n in range(10, 121, 10)]
        fixed += min(looks) <= 0.05
        sequential += discovery.sequential_p_value(stated, wrong) <= 0.05  # of its best moment
    assert sequential <= stats.binom.ppf(0.999, 300, 0.05)
    assert fixed > 30


def test_a_search_with_groups_concludes_by_groups():
    rng = np.random.default_rng(0)
    X = rng.random((200, 1)) * 0.3 + 0.69
    model = lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]])  # noqa: E731
    who = np.repeat(np.arange(20), 10)
    bad = np.repeat(rng.random(20) < 0.3, 10)
    given = {"model": model, "X": X, "budget": 80, "matched_share": 0.2}
    plain, grouped = (
        discovery.Search("low-confidence", groups=groups, **given).run(lambda i: int(not bad[i]))
        for groups in (None, who)
    )
    assert plain.valid_as == "fixed"
    assert grouped.valid_as == "groups"
    assert grouped.p_value > plain.p_value
    assert grouped.sdr == plain.sdr
    assert "t over groups" in grouped.matched_random.method
    found = grouped.evidence()
    assert "independent-groups" in found.estimates["sdr"].rests_on


def test_the_first_claim_is_about_raw_confidences_the_second_about_calibrated_ones():
    rng = np.random.default_rng(4)
    X = rng.random((900, 1))
    y = (rng.random(900) < 0.2).astype(int)  # it says .99, and is right on 80 %
    boaster = lambda rows: np.tile([0.99, 0.01], (len(rows), 1))  # noqa: E731
    honest = discovery.calibrate(boaster, X[:400], y[:400])
    search = discovery.Search("low-confidence", model=honest, X=X[400:], budget=100)
    for _ in range(100):
        row = search.ask()
        search.tell(row, int(y[400 + row]))
    found = search.result
    assert found.raw.expected == pytest.approx(1.0)
    assert found.expected == pytest.approx(20, abs=8)
    evidence = found.evidence()
    assert [claim.holds for claim in evidence.claims[:2]] == [True, False]
    assert "its own confidences" in evidence.claims[0].text
    assert "its calibrated confidences" in evidence.claims[1].text
    assert evidence.estimates["sdr"].value > 5 > evidence.estimates["sdr_calibrated"].value
