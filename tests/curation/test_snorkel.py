"""The snorkel-compatible labeler against posteriors made by snorkel 0.10.0 (oracles/)."""

from pathlib import Path

import numpy as np
import pytest

from fireassay import curation
from fireassay.core import DataError
from fireassay.curation.labelers import Snorkel
from fireassay.curation.votes import unique_patterns

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
