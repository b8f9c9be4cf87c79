"""The trend tests: expectation over ties, permutation p, words, level and power."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import spearmanr

from fireassay import curation
from fireassay.core import DataError, ParameterError
from fireassay.curation.order import ScoreTable, direction, order_test
from fireassay.curation.trend import (
    definition_2,
    nested_correlations,
    paper_interval,
    permutation_p_value,
)


def table(scores, correct):
    return ScoreTable.of(np.asarray(scores, float), np.asarray(correct, bool))


def test_accuracy_is_the_mean_over_all_tie_breaks():
    scores = np.array([3, 2, 2, 2, 1, 1])
    correct = np.array([1, 0, 1, 1, 0, 1], dtype=bool)
    sizes = np.array([1, 2, 3, 5, 6])
    every = []
    for order in permutations(range(6)):
        order = np.array(order)
        if (np.diff(scores[order]) <= 0).all():
            every.append(np.cumsum(correct[order])[sizes - 1] / sizes)
    assert len(every) == 12
    expected = np.mean(every, axis=0)
    assert table(scores, correct).accuracies(sizes) == pytest.approx(expected, abs=1e-12)


def test_scores_equal_to_nine_decimals_are_tied():
    assert len(table([0.5, 0.5 + 1e-11, 0.4], [1, 0, 1]).counts) == 2


def test_nested_correlations_equal_scipy():
    accuracy = np.round(np.random.default_rng(0).random((50, 10)), 1)
    found = nested_correlations(accuracy)
    expected = [spearmanr(np.arange(10), row).statistic for row in accuracy]
    assert found == pytest.approx(expected, abs=1e-12)


def test_permutation_p_equals_full_enumeration():
    scores = np.array([4, 4, 3, 2, 2, 1])
    correct = np.array([1, 1, 1, 0, 1, 0], dtype=bool)
    sizes = np.array([2, 3, 5, 6])
    rho = definition_2(table(scores, correct).accuracies(sizes))[0]
    null = []
    for order in permutations(range(6)):
        accuracy = table(scores, correct[list(order)]).accuracies(sizes)
        null.append(definition_2(accuracy)[0])
    null = np.array(null)
    exact = min(1.0, 2 * min((null <= rho + 1e-9).mean(), (null >= rho - 1e-9).mean()))
    found = permutation_p_value(table(scores, correct), sizes, rho, 20_000, seed=0)
    assert found == pytest.approx(exact, abs=0.015)


def test_the_papers_interval():
    ends = paper_interval(np.array([0.8]), np.array([100]))
    assert ends[0] == pytest.approx([0.8 - 1.64 * 0.04, 0.8 + 1.64 * 0.04])


def informative(seed, n=400):
    return curation.simulate_votes([0.7] * 8, 0.6, n, seed=seed)


def test_stable_ties_follow_the_datasets():
    votes, y = informative(0)
    result = curation.curate(votes, prune=None)
    trend = result.validate(y, ties="stable")
    shares = [(result.labels[d] == y[d]).mean() for d in result.datasets]
    assert trend.accuracy == pytest.approx(shares, abs=1e-12)
    assert trend.auc == result.validate(y).auc


def test_all_right_is_no_verdict():
    votes, _ = informative(1)
    result = curation.curate(votes, prune=None)
    trend = result.validate(result.labels)
    assert (trend.verdict, trend.auc, trend.auc_p_value) == ("none", 0.5, 1.0)
    assert "Nothing can be said" in trend.in_words()


def test_reversed_order_is_increasing():
    votes, _ = informative(2, 2000)
    result = curation.curate(votes, prune=None)
    wrong_when_sure = np.where(
        result.score > np.median(result.score), 1 - result.labels, result.labels
    )
    assert result.validate(wrong_when_sure).verdict == "increasing"


def test_bad_arguments_are_named():
    votes, y = informative(3)
    result = curation.curate(votes)
    with pytest.raises(ParameterError, match="gamma"):
        result.validate(y, gamma=1.5)
    with pytest.raises(ParameterError, match="ties"):
        result.validate(y, ties="random")
    with pytest.raises(DataError, match="same number of rows"):
        result.validate(y[:-1])
    with pytest.raises(DataError, match="same number of rows"):
        result.validate(y, groups=np.zeros(3))


def disagreeing(definition_3, verdict):
    votes, y = informative(4)
    trend = curation.curate(votes, prune=None).validate(y)
    fields = {name: getattr(trend, name) for name in trend.__dataclass_fields__}
    return type(trend)(**fields | {"definition_3": definition_3, "verdict": verdict})


def test_words_when_the_published_rule_disagrees():
    passes = disagreeing("decreasing", "none").in_words()
    assert "counted again" in passes
    assert "Treat the order as not proven" in passes
    assert "opposite" in disagreeing("increasing", "decreasing").in_words()
    assert "does not see this" in disagreeing("none", "decreasing").in_words()
    assert "says the same" in disagreeing("decreasing", "decreasing").in_words()


def test_groups_take_back_what_repeated_patients_fake():
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(12), 40)
    score = rng.random(12)[patient] + 0.01 * rng.random(480)
    correct = rng.random(480) < (0.2 + 0.6 * rng.random(12))[patient]
    plain, clustered = (order_test(score, correct, g) for g in (None, patient))
    assert plain.auc == pytest.approx(clustered.auc)
    assert clustered.high - clustered.low > 2 * (plain.high - plain.low)


@pytest.mark.slow
def test_level_of_the_verdict_on_random_orders():
    votes, _ = informative(0)
    result = curation.curate(votes, prune=None)
    score = result.score
    rng = np.random.default_rng(1)
    calibrated, published = 0, []
    for _ in range(1000):
        correct = rng.permutation(400) < 280
        calibrated += order_test(score, correct).verdict(0.05) != "none"
        rho, p = definition_2(table(score, correct).accuracies(result.sizes))
        published.append(direction(rho, p, 0.05))
    assert calibrated <= 73
    # The published rule at the same nominal level: the reason for the calibrated one.
    assert published.count("decreasing") > 150
    assert published.count("increasing") > 150


@pytest.mark.slow
def test_power_of_the_verdict_with_informative_votes():
    found = 0
    for seed in range(100):
        votes, y = informative(seed)
        result = curation.curate(votes)
        found += result.validate(y, n_permutations=1).verdict == "decreasing"
    assert found >= 95


@pytest.mark.slow
def test_level_with_twenty_patients():
    rng = np.random.default_rng(2)
    patient = np.repeat(np.arange(20), 20)
    plain = clustered = 0
    for _ in range(600):
        score = np.round(rng.random(20)[patient] + 0.5 * rng.random(400), 2)
        correct = rng.random(400) < np.clip(0.7 + 0.15 * rng.normal(size=20), 0, 1)[patient]
        plain += order_test(score, correct).verdict(0.05) != "none"
        clustered += order_test(score, correct, patient).verdict(0.05) != "none"
    assert plain > 0.12 * 600
    # 0.05 + 3 binomial standard errors of 600 draws is 0.077.
    assert clustered <= 0.077 * 600


@pytest.mark.parametrize("truth", ["classes", "others too"])
def test_counting_by_pattern_gives_the_verdict_of_counting_rows(monkeypatch, truth):
    votes, y = curation.simulate_votes([0.6, 0.8, 0.7], coverage=0.7, n=3_000, seed=0)
    if truth == "others too":
        y = np.where(np.arange(len(y)) % 7 == 0, 5, y)
    rows = curation.curate(votes).validate(y)
    monkeypatch.setattr("fireassay.curation.trend._MANY_ROWS", 1)
    counted = curation.curate(votes).validate(y)
    np.testing.assert_array_equal(counted.accuracy, rows.accuracy)
    assert counted.verdict == rows.verdict
    assert counted.n_correct == rows.n_correct
    assert counted.permutation_p == rows.permutation_p
    np.testing.assert_allclose(
        [counted.auc, *counted.auc_interval, counted.auc_p_value],
        [rows.auc, *rows.auc_interval, rows.auc_p_value],
        rtol=1e-9,
    )


def test_the_rows_that_each_dataset_adds_are_counted_once():
    """One bad tenth in the middle: the nested sets hide it, the added rows show it."""
    votes, y = curation.simulate_votes(np.linspace(0.6, 0.9, 12), coverage=0.7, n=2000, seed=3)
    result = curation.curate(votes, labeler="dawid-skene")
    trend = result.validate(y)
    sizes, accuracy, ends = trend.added
    assert sizes.sum() == trend.sizes[-1]
    assert (sizes @ accuracy) / sizes.sum() == pytest.approx(trend.accuracy[-1])
    right = result.labels == y
    for rows, own in zip(result.added_rows, accuracy, strict=True):
        # Equal scores count in part on both sides of a border.
        assert own == pytest.approx(right[rows].mean(), abs=0.1)
    assert ((ends[:, 0] <= accuracy) & (accuracy <= ends[:, 1])).all()
    bad = result.added_rows[4]
    turned = y.copy()
    turned[bad] = np.where(np.arange(len(bad)) % 2 == 0, 1 - result.labels[bad], result.labels[bad])
    shown = result.validate(turned)
    assert shown.added[1][4] < shown.added[1][3] - 0.2
    assert "accuracy_added" in shown.frame()
