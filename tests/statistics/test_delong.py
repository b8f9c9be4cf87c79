import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom, brunnermunzel, norm, t
from sklearn.metrics import roc_auc_score

from fireassay.core import DataError, ParameterError
from fireassay.statistics import delong, delong_interval, delong_test, mann_whitney_auc


def by_pairs(scores, positive):
    """The 1988 definition: the kernel of every pair, structural components, S10/m + S01/n."""
    m, n = int(positive.sum()), int((~positive).sum())
    v10, v01 = np.zeros((len(scores), m)), np.zeros((len(scores), n))
    for r, row in enumerate(scores):
        for i, x in enumerate(row[positive]):
            for j, y in enumerate(row[~positive]):
                kernel = 1.0 if x > y else 0.5 if x == y else 0.0
                v10[r, i] += kernel / n
                v01[r, j] += kernel / m
    aucs = v10.mean(axis=1)
    s10 = (v10 - aucs[:, None]) @ (v10 - aucs[:, None]).T / (m - 1)
    s01 = (v01 - aucs[:, None]) @ (v01 - aucs[:, None]).T / (n - 1)
    return aucs, s10 / m + s01 / n


def degrees(found):
    """Degrees of freedom behind scipy's Brunner–Munzel p-value."""
    return brentq(lambda df: 2 * t.sf(abs(found.statistic), df) - found.pvalue, 1, 1000)


@pytest.mark.parametrize("seed", range(6))
def test_equals_the_definition_by_pairs_with_ties(seed):
    rng = np.random.default_rng(seed)
    positive = np.arange(45) < rng.integers(2, 40)
    scores = np.round(rng.normal(size=(3, 45)) + positive, 1 if seed % 2 else 9)
    ours, theirs = delong(scores, positive), by_pairs(scores, positive)
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-12)
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-14)
    np.testing.assert_allclose(ours[0], [roc_auc_score(positive, row) for row in scores])


def freedom(scores, positive):
    """Welch's degrees of freedom of the difference, from the placements pair by pair."""
    gaps = []
    for rows, others in ((positive, ~positive), (~positive, positive)):
        won = [
            np.array(
                [
                    np.mean((s[i] > s[others]) + 0.5 * (s[i] == s[others]))
                    for i in np.flatnonzero(rows)
                ]
            )
            for s in scores
        ]
        gaps.append(won[0] - won[1])
    parts = [gap.var(ddof=1) / len(gap) for gap in gaps]
    own = [part**2 / (len(gap) - 1) for part, gap in zip(parts, gaps, strict=True)]
    return sum(parts) ** 2 / sum(own)


def test_worked_example_by_hand():
    # Positives 3, 5, 6 against negatives 1, 4: kernels (1, 0), (1, 1), (1, 1).
    # V10 = (0.5, 1, 1), V01 = (1, 2/3): variance = (1/12)/3 + (1/18)/2 = 1/18.
    aucs, covariance = delong([3.0, 5, 6, 1, 4], [1, 1, 1, 0, 0])
    assert aucs[0] == pytest.approx(5 / 6)
    assert covariance[0, 0] == pytest.approx(1 / 18)


def test_equals_rs_proc():
    # R 4.2.2, pROC 1.18.0: i <- 0:59; pos <- (i*7) %% 5 < 2; a <- (i*37) %% 23 + 6*pos;
    # b <- (i*29) %% 31 + 3*pos; ra <- roc(pos, a, direction = "<"), rb likewise;
    # auc(ra), auc(rb), var(ra), var(rb), cov(ra, rb); roc.test(ra, rb, method = "delong")
    i = np.arange(60)
    positive = (i * 7) % 5 < 2
    a, b = (i * 37) % 23 + 6 * positive, (i * 29) % 31 + 3 * positive
    aucs, covariance = delong(np.array([a, b]), positive)
    np.testing.assert_allclose(aucs, [0.434606481481, 0.536458333333], rtol=1e-11)
    expected = [0.00628820166659, 0.000510996069288, 0.00598061472392]
    np.testing.assert_allclose(covariance[np.triu_indices(2)], expected, rtol=1e-11)
    # roc.test says 0.336851908904 with the normal quantile; ours has Student's.
    z = norm.isf(0.336851908904 / 2)
    expected_p = 2 * t.sf(z, freedom(np.array([a, b]), positive))
    assert delong_test(a, b, positive) == pytest.approx(expected_p, rel=1e-9)
    # wilcox.test(a[pos], a[!pos], exact = FALSE)
    assert mann_whitney_auc(a, positive).p_value == pytest.approx(0.397493633915, rel=1e-10)


def test_the_variance_is_that_of_the_auc_over_samples():
    rng = np.random.default_rng(0)
    positive = np.arange(200) < 80
    draws = [delong(rng.normal(size=200) + positive, positive) for _ in range(1500)]
    measured = np.var([aucs[0] for aucs, _ in draws])
    assert np.mean([covariance[0, 0] for _, covariance in draws]) == pytest.approx(
        measured, rel=0.15
    )


def test_interval_is_wald_on_the_logit_scale():
    rng = np.random.default_rng(1)
    positive = np.arange(60) < 25
    scores = rng.normal(size=60) + positive
    found = delong_interval(scores, positive, 0.9)
    aucs, covariance = by_pairs(scores[None], positive)
    a, se = aucs[0], np.sqrt(covariance[0, 0])
    # The degrees of freedom are those of Welch's test of the two groups' ranks (Brunner-Munzel).
    theirs = brunnermunzel(scores[~positive], scores[positive])
    centre, half = np.log(a / (1 - a)), t.ppf(0.95, degrees(theirs)) * se / (a * (1 - a))
    assert found.low == pytest.approx(1 / (1 + np.exp(half - centre)))
    assert found.high == pytest.approx(1 / (1 + np.exp(-half - centre)))
    assert (found.value, found.n, found.confidence) == (pytest.approx(a), 60, 0.9)
    assert found.method == "DeLong, logit scale, t quantile"


@pytest.mark.parametrize(
    ("scores", "positive"),
    [
        (np.arange(20.0), np.arange(20) >= 10),
        (-np.arange(20.0), np.arange(20) >= 10),
        (np.zeros(20), np.arange(20) >= 10),
        (np.array([1.0, 3.0, 2.0]), np.array([False, False, True])),
    ],
    ids=["perfect", "reversed", "constant", "one positive"],
)
def test_degenerate_variance_is_not_certainty(scores, positive):
    found = delong_interval(scores, positive)
    score = mann_whitney_auc(scores, positive)
    assert "Newcombe" in found.method
    assert (found.low, found.high) == (pytest.approx(score.low), pytest.approx(score.high))
    assert found.high - found.low > 0.1


def test_an_auc_resting_on_few_misordered_rows_is_widened():
    scores = np.r_[np.arange(20.0), np.arange(20, 40)]
    scores[[19, 20]] = scores[[20, 19]]
    positive = np.arange(40) >= 20
    found = delong_interval(scores, positive)
    assert "few misordered rows" in found.method
    assert found.low <= mann_whitney_auc(scores, positive).low


def test_paired_test_equals_the_z_test_of_the_definition():
    rng = np.random.default_rng(2)
    positive = np.arange(70) < 30
    scores = rng.normal(size=(2, 70)) + np.outer([1.0, 0.3], positive)
    aucs, c = by_pairs(scores, positive)
    z = (aucs[0] - aucs[1]) / np.sqrt(c[0, 0] + c[1, 1] - 2 * c[0, 1])
    p_value = 2 * t.sf(abs(z), freedom(scores, positive))
    assert delong_test(*scores, positive) == pytest.approx(p_value, rel=1e-9)
    assert p_value > 2 * norm.sf(abs(z))


def test_few_positives_do_not_reject_more_often_than_promised():
    rng = np.random.default_rng(8)
    runs, rejected = 300, 0
    positive = np.arange(212) < 12
    for _ in range(runs):
        common = rng.normal(size=212) + 1.2 * positive
        rejected += delong_test(*(common + 0.7 * rng.normal(size=(2, 212))), positive) < 0.05
    assert rejected <= binom.ppf(0.999, runs, 0.05)


def test_paired_test_without_variance():
    positive = np.arange(40) < 20
    perfect = positive.astype(float)
    assert delong_test(perfect, perfect * 3 + 1, positive) == 1.0
    assert delong_test(perfect, np.zeros(40), positive) < 0.001
    few = np.arange(4) < 2
    assert delong_test(few.astype(float), np.zeros(4), few) > 0.05


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=6, max_size=30), st.randoms())
def test_rows_may_be_shuffled(values, random):
    scores = np.array(values, dtype=float)
    positive = np.arange(len(scores)) % 3 == 0
    order = list(range(len(scores)))
    random.shuffle(order)
    for ours, theirs in zip(
        delong(scores, positive), delong(scores[order], positive[order]), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    found = delong_interval(scores, positive)
    assert 0 <= found.low < found.high <= 1
    assert delong_interval(scores, positive, 0.99).low <= found.low


def test_a_hundred_thousand_rows_are_fast():
    rng = np.random.default_rng(0)
    started = time.process_time()
    delong(rng.normal(size=(2, 100_000)), np.arange(100_000) < 30_000)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("scores", "positive", "message"),
    [
        ([1.0, 2.0, 3.0], [1, 1, 1], "both classes"),
        ([1.0, 2.0, 3.0], [0, 1, 1], "at least two"),
        ([1.0, np.inf, 3.0], [0, 1, 1], "finite"),
        ([[1.0, 2.0]] * 2, [0, 1, 1], "one value per score"),
        (np.zeros((2, 2, 2)), [0, 1], "shape"),
        (np.zeros((0, 4)), [0, 1, 0, 1], "shape"),
    ],
)
def test_bad_data_is_refused(scores, positive, message):
    with pytest.raises(DataError, match=message):
        delong(scores, positive)


def test_bad_pairs_and_confidence_are_refused():
    with pytest.raises(DataError, match="same number of rows"):
        delong_test([1, 2, 3, 4], [1, 2, 3], [0, 1, 0, 1])
    with pytest.raises(ParameterError, match="confidence"):
        delong_interval([1, 2], [0, 1], 1)
