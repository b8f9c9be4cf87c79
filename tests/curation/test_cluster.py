"""Votes and pattern counts on a Dask cluster: two worker processes on loopback."""

import sys

import cloudpickle
import numpy as np
import pytest

from fireassay import curation

pytestmark = [pytest.mark.slow, pytest.mark.extras, pytest.mark.filterwarnings("default")]
distributed = pytest.importorskip("distributed")
cloudpickle.register_pickle_by_value(sys.modules[__name__])


def above(row):
    return 1 if row[0] > 0.5 else -1


def fails(row):
    return 1 // int(row[0] * 0)


def test_apply_and_stream_give_the_same_on_a_cluster(tmp_path, two_workers):
    X = np.random.default_rng(0).random((3000, 2))
    votes, _ = curation.simulate_votes([0.7] * 6, 0.7, 3000, seed=0)
    np.save(tmp_path / "votes.npy", votes)
    here = curation.curate_stream(tmp_path / "votes.npy", tmp_path / "here")
    with two_workers() as cluster:
        address = cluster.scheduler_address
        assert np.array_equal(
            curation.apply([above], X, cluster=address), curation.apply([above], X)
        )
        with pytest.raises(curation.LabellingError, match="'fails' on row 0"):
            curation.apply([above, fails], X, cluster=address)
        there = curation.curate_stream(tmp_path / "votes.npy", tmp_path / "there", cluster=address)
    assert here.frame().equals(there.frame())
    for name in ("pattern", "label", "dataset"):
        a, b = (np.load(tmp_path / where / f"{name}.npy") for where in ("here", "there"))
        assert np.array_equal(a, b)
