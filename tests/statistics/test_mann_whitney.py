import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu
from sklearn.metrics import roc_auc_score

from fireassay.core import DataError, ParameterError
from fireassay.statistics import mann_whitney_auc


def rated(seed, n=60, levels=6):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    return rng.integers(0, levels, n) + positive, positive


@pytest.mark.parametrize("seed", range(5))
def test_auc_and_p_value_equal_peers_with_ties(seed):
    scores, positive = rated(seed)
    found = mann_whitney_auc(scores, positive)
    assert found.auc == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)
    theirs = mannwhitneyu(scores[positive], scores[~positive], method="asymptotic")
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-12)
    assert (found.n_positive, found.n_negative) == (positive.sum(), (~positive).sum())
    assert found.low < found.auc < found.high


def test_small_samples_without_ties_have_the_exact_p_value():
    # 3 against 3, perfectly ordered: 1 of 20 arrangements on each side.
    assert mann_whitney_auc([1, 2, 3, 4, 5, 6], [0, 0, 0, 1, 1, 1]).p_value == pytest.approx(0.1)


def test_ties_correct_the_variance_as_in_the_textbook():
    # Without continuity, sigma² = mn/12 (N + 1 - sum(t³ - t) / (N (N - 1))).
    scores = np.array([1, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 1, 2, 2, 3, 4, 4, 4, 4.0])
    positive = np.arange(20) >= 12
    u = sum((p > q) + 0.5 * (p == q) for p in scores[positive] for q in scores[~positive])
    _, t = np.unique(scores, return_counts=True)
    variance = 12 * 8 / 12 * (21 - (t**3 - t).sum() / (20 * 19))
    from scipy.stats import norm

    expected = 2 * norm.sf((abs(u - 48) - 0.5) / np.sqrt(variance))
    assert mann_whitney_auc(scores, positive).p_value == pytest.approx(expected, rel=1e-12)


def test_interval_solves_the_score_equation_of_hanley_and_mcneil():
    scores, positive = rated(1)
    found = mann_whitney_auc(scores, positive, 0.9)
    m, n = found.n_positive, found.n_negative
    for theta in (found.low, found.high):
        q1, q2 = theta / (2 - theta), 2 * theta**2 / (1 + theta)
        # Newcombe's method 5: both sample sizes less one are replaced by their mean.
        half = (m + n) / 2 - 1
        variance = theta * (1 - theta) + half * (q1 - theta**2) + half * (q2 - theta**2)
        assert abs(found.auc - theta) == pytest.approx(
            1.6448536269514722 * np.sqrt(variance / (m * n)), rel=1e-9
        )


def test_perfect_separation_is_not_certainty():
    few = mann_whitney_auc(np.arange(10), np.arange(10) >= 5)
    many = mann_whitney_auc(np.arange(1000), np.arange(1000) >= 500)
    assert few.auc == few.high == many.auc == 1.0
    assert few.low < 0.8 < 0.98 < many.low < 1


def test_constant_scores_are_chance():
    found = mann_whitney_auc(np.zeros(20), np.arange(20) < 10)
    assert (found.auc, found.p_value) == (0.5, 1.0)
    assert found.low < 0.5 < found.high


def test_few_against_very_many_is_fast():
    rng = np.random.default_rng(0)
    found = mann_whitney_auc(rng.normal(size=100_000), np.arange(100_000) < 3)
    assert 0 < found.p_value <= 1


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=4, max_size=40), st.randoms())
def test_rows_may_be_shuffled_and_scores_stretched(values, random):
    scores = np.array(values, dtype=float)
    positive = np.arange(len(scores)) % 3 == 0
    found = mann_whitney_auc(scores, positive)
    order = list(range(len(scores)))
    random.shuffle(order)
    shuffled = mann_whitney_auc(np.exp(scores[order]), positive[order])
    assert shuffled.auc == pytest.approx(found.auc, abs=1e-12)
    assert shuffled.p_value == pytest.approx(found.p_value, rel=1e-9)
    mirrored = mann_whitney_auc(-scores, positive)
    assert mirrored.auc == pytest.approx(1 - found.auc, abs=1e-12)
    assert mirrored.low == pytest.approx(1 - found.high, abs=1e-9)
    assert 0 <= found.low <= found.auc <= found.high <= 1


@pytest.mark.parametrize(
    ("scores", "positive", "message"),
    [
        ([1.0, 2.0], [1, 1], "both classes"),
        ([1.0, 2.0], [False, False], "both classes"),
        ([1.0, np.nan], [0, 1], "finite"),
        ([1.0, 2.0, 3.0], [0, 1], "one value per score"),
        ([1.0, 2.0], [0, 2], "True/False"),
        ([1.0, 2.0], ["no", "yes"], "True/False"),
        ([], [], "at least"),
    ],
)
def test_bad_data_is_refused(scores, positive, message):
    with pytest.raises(DataError, match=message):
        mann_whitney_auc(scores, positive)


def test_bad_confidence_is_refused():
    with pytest.raises(ParameterError, match="confidence"):
        mann_whitney_auc([1, 2], [0, 1], 0)
