import numpy as np
import pytest

from fireassay.curation.labelling import (
    effective_votes,
    error_correlation,
    prune,
    vote_correlation,
)
from fireassay.curation.votes import VotePatterns, unique_patterns


def patterns_of(votes, k=2):
    return unique_patterns(np.asarray(votes), k)


def random_votes(n=300, m=6, k=2, seed=0):
    return np.random.default_rng(seed).integers(-1, k, size=(n, m))


def test_correlation_equals_numpy():
    votes = random_votes()
    assert vote_correlation(patterns_of(votes)) == pytest.approx(np.corrcoef(votes.T), abs=1e-12)


def test_a_correlation_of_exactly_the_threshold_is_no_edge():
    a = np.array([0, 0, 1, 1, 0, 1])
    b = np.array([0, 0, 1, 1, 1, 0])
    votes = np.column_stack([a, b, np.zeros(6, dtype=int)])
    exact = np.corrcoef(a, b)[0, 1]
    assert exact == pytest.approx(1 / 3)
    found = vote_correlation(patterns_of(votes))[0, 1]
    assert prune(patterns_of(votes), found).kept.tolist() == [0, 1, 2]
    assert prune(patterns_of(votes), np.nextafter(found, 0)).kept.tolist() == [0, 2]


def test_ranking_by_cliques_then_coverage_then_index():
    # A chain 0-1-2: the middle one is in two maximal cliques, stays, and removes both ends.
    correlation = np.eye(3)
    correlation[0, 1] = correlation[1, 0] = correlation[1, 2] = correlation[2, 1] = 0.9
    votes = np.array([[0, 0, 0], [1, 1, 1], [0, -1, 1]])
    found = prune(patterns_of(votes), 0.5, correlation=correlation)
    assert found.kept.tolist() == [1]
    assert found.removed_by.tolist() == [1, -1, 1]
    # A pair: the one with more coverage stays; with equal coverage the first.
    pair = np.array([[1, 0.9], [0.9, 1]])
    assert prune(patterns_of([[-1, 0], [1, 1]]), 0.5, correlation=pair).kept.tolist() == [1]
    assert prune(patterns_of([[0, 0], [1, 1]]), 0.5, correlation=pair).kept.tolist() == [0]


def test_silent_functions_are_dropped_or_kept():
    votes = random_votes()
    votes[:, 2] = -1
    assert 2 not in prune(patterns_of(votes), 0.5).kept
    paper = prune(patterns_of(votes), 0.5, drop_silent=False)
    assert 2 in paper.kept
    assert paper.silent.tolist() == [2]


def test_identical_and_opposite_functions_are_one():
    a = np.random.default_rng(1).integers(0, 2, size=100)
    votes = np.column_stack([a, a, 1 - a])
    assert prune(patterns_of(votes), 0.5).kept.tolist() == [0]


def test_error_correlation_of_known_truth_equals_the_correlation_of_errors():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, size=4000)
    shared = rng.random(4000) < 0.2
    votes = np.empty((4000, 3), dtype=int)
    for j in range(3):
        wrong = shared if j < 2 else rng.random(4000) < 0.2
        votes[:, j] = np.where(wrong, (y + 1) % 3, y)
    rows = VotePatterns(votes.astype(np.int8), np.ones(4000, int), np.arange(4000), 3)
    found = error_correlation(rows, np.eye(3)[y])
    expected = np.corrcoef((votes != y[:, None]).T.astype(float))
    assert found == pytest.approx(expected, abs=1e-9)


def test_error_correlation_looks_only_where_both_vote():
    y = np.array([0, 0, 1, 1, 0, 1])
    votes = np.array([[0, 0], [1, 1], [1, 1], [1, 1], [0, -1], [-1, 0]])
    rows = VotePatterns(votes.astype(np.int8), np.ones(6, int), np.arange(6), 2)
    assert error_correlation(rows, np.eye(2)[y])[0, 1] == pytest.approx(1.0)


def test_effective_votes_between_one_and_all():
    votes = np.array([[0, 0, 0], [0, 0, -1], [-1, -1, -1], [1, -1, -1]])
    patterns = patterns_of(votes)
    n = (patterns.votes != -1).sum(axis=1)
    assert effective_votes(patterns, np.eye(3)) == pytest.approx(n)
    worth = effective_votes(patterns, np.ones((3, 3)))
    assert worth == pytest.approx(np.minimum(n, 1))
