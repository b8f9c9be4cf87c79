"""The interval of a weak label: where it is one, and where it is only a score."""

import pytest

from fireassay import curation
from fireassay.core import ParameterError


def test_votes_have_the_stated_accuracy_and_coverage():
    votes, y = curation.simulate_votes([0.6, 0.9], [0.5, 1.0], 40_000, 3, seed=0)
    voted = votes != -1
    assert voted.mean(axis=0) == pytest.approx([0.5, 1.0], abs=0.01)
    right = [(votes[:, j] == y)[voted[:, j]].mean() for j in range(2)]
    assert right == pytest.approx([0.6, 0.9], abs=0.01)


def test_the_papers_interval_misses_confident_samples():
    # Ten accurate functions: the truth is near 1, "paper" is centred at one half.
    found = curation.simulated_coverage([0.9] * 10, 1.0, interval="paper")
    assert found.covered.high < 0.95
    assert not found.is_confidence_interval
    assert found.name == "score"


def test_with_few_weak_votes_the_interval_is_wide_enough():
    found = curation.simulated_coverage([0.6] * 3, 0.6)
    assert found.is_confidence_interval
    assert found.by_votes["votes"].tolist() == [0, 1, 2, 3]
    assert found.by_votes["n"].sum() == 20_000


def test_truth_is_checked_against_frequencies():
    votes, y = curation.simulate_votes([0.8, 0.7, 0.6], 0.8, 200_000, seed=1)
    result = curation.curate(votes, labeler="one-coin", prune=None)
    for pattern in range(0, len(result.patterns.counts), 5):
        mine = result.patterns.of_row == pattern
        share = (y[mine] == result.labels[mine]).mean()
        assert share == pytest.approx(result.table.confidence[pattern], abs=0.06)


@pytest.mark.parametrize("accuracies", [[], [1.0], [0.0, 0.5]])
def test_bad_accuracies(accuracies):
    with pytest.raises(ParameterError):
        curation.simulate_votes(accuracies, 0.5, 10)
