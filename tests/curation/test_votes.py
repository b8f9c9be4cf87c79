import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from fireassay.curation.votes import check_votes, one_hot, unique_patterns


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 60), m=st.integers(1, 70), k=st.integers(2, 5), seed=st.integers(0, 2**32 - 1)
)
def test_patterns_rebuild_the_votes(n, m, k, seed):
    votes = np.random.default_rng(seed).integers(-1, k, size=(n, m)).astype(np.int8)
    patterns = unique_patterns(votes, k)
    assert np.array_equal(patterns.votes[patterns.of_row], votes)
    expected, counts = np.unique(votes, axis=0, return_counts=True)
    assert np.array_equal(patterns.votes, expected)
    assert np.array_equal(patterns.counts, counts)


def test_more_than_127_classes():
    votes = np.array([[-1, 300], [299, 5], [-1, 300]])
    patterns = unique_patterns(votes, 301)
    assert np.array_equal(patterns.votes[patterns.of_row], votes)
    assert patterns.counts.tolist() == [2, 1]


@pytest.mark.parametrize("m", [3, 60])
def test_sparse_equals_dense(m):
    votes = np.random.default_rng(0).integers(-1, 3, size=(200, m))
    sparse = check_votes(scipy.sparse.csr_matrix(votes + 1))
    a, b = unique_patterns(votes, 3), unique_patterns(sparse, 3)
    assert np.array_equal(a.votes, b.votes)
    assert np.array_equal(a.of_row, b.of_row)


def test_one_hot_of_a_small_table():
    hot = one_hot(np.array([[0, -1], [1, 0]], dtype=np.int8), 2).toarray()
    assert hot.tolist() == [[1, 0, 0, 0], [0, 1, 1, 0]]
