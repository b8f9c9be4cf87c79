"""The snorkel-compatible labeler against posteriors made by snorkel 0.10.0 (oracles/)."""

from pathlib import Path

import numpy as np
import pytest

from fireassay import curation
from fireassay.core import DataError
from fireassay.curation.labelers import Snorkel
from fireassay.curation.labelers.snorkel import vote_moments
from fireassay.curation.votes import VotePatterns, one_hot, summed_evidence, unique_patterns

ORACLE = Path(__file__).parent / "oracles" / "snorkel.npz"


@pytest.mark.parametrize("seed", [0, 1234567])
@pytest.mark.parametrize(("case", "k"), [("binary", 2), ("three", 3), ("many", 2)])
def test_posteriors_equal_snorkel(case, k, seed):
    with np.load(ORACLE) as oracle:
        votes, expected = oracle[f"{case}_votes"], oracle[f"{case}_{seed}"]
    patterns = unique_patterns(votes, k)
    posterior = Snorkel().fit(patterns, seed).posterior(patterns.votes)[patterns.of_row]
    assert np.abs(posterior - expected).max() < 1e-5


def test_curate_passes_the_seed_on():
    with np.load(ORACLE) as oracle:
        votes, expected = oracle["binary_votes"], oracle["binary_1234567"]
    result = curation.curate(votes, labeler="snorkel", prune=None, seed=1234567)
    assert np.abs(result.posterior - expected).max() < 1e-5
    assert np.array_equal(result.labels, expected.argmax(axis=1))


def test_divergence_is_an_error_not_nan():
    votes = np.ones((50, 40), dtype=np.int8)
    votes[::2] = 0
    patterns = unique_patterns(votes, 2)
    with pytest.raises(DataError, match="learning_rate"):
        Snorkel(learning_rate=50.0).fit(patterns)


@pytest.mark.parametrize(("n_classes", "most"), [(2, 1), (4, 3), (2, 40_000_000)])
def test_moments_and_evidence_of_dense_blocks_are_those_of_sparse_matrices(
    monkeypatch, n_classes, most
):
    rng = np.random.default_rng(0)
    votes = rng.integers(-1, n_classes, (9_000, 12)).astype(np.int8)
    counts = rng.integers(1, most + 1, len(votes))
    patterns = VotePatterns(votes, counts, np.zeros(0, np.int32), n_classes)
    dense = vote_moments(patterns)
    monkeypatch.setattr("fireassay.curation.labelers.snorkel._MOST_DENSE_COLUMNS", 0)
    np.testing.assert_array_equal(dense, vote_moments(patterns))
    logs = np.log(rng.random((12 * n_classes, n_classes)))
    expected = one_hot(votes, n_classes) @ logs
    np.testing.assert_allclose(summed_evidence(votes, logs), expected, rtol=1e-14)
