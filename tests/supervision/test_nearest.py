"""Nearest references, against SciPy's own distances."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from fireassay.supervision import distance_scores as module
from fireassay.supervision.distance_scores import nearest

WORLDS = {
    "no direction stands out": np.ones(80),
    "few directions hold the spread": 1.0 / np.arange(1, 81) ** 1.5,
    "narrow": np.ones(3),
}


def _world(name, rows, seed, dtype=np.float32):
    scales = WORLDS[name]
    rng = np.random.default_rng(seed)
    return (5.0 + scales * rng.standard_normal((rows, len(scales)))).astype(dtype)


def _all_distances(points, references):
    return cdist(points.astype(np.float64), references.astype(np.float64))


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nearest_is_the_least_of_all_distances(name, dtype):
    points, references = _world(name, 700, 0, dtype), _world(name, 5_000, 1, dtype)
    index, distance = nearest(points, references, np.arange(700), np.arange(5_000))
    gaps = _all_distances(points, references)
    np.testing.assert_allclose(distance, gaps.min(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(index, gaps.argmin(axis=1))


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("n_groups", [2, 7, 900])
def test_no_reference_of_the_own_group_counts(name, n_groups):
    points, references = _world(name, 300, 0), _world(name, 4_500, 1)
    rng = np.random.default_rng(2)
    own, other = np.sort(rng.integers(0, n_groups, 300)), np.sort(rng.integers(0, n_groups, 4_500))
    distance = nearest(points, references, np.arange(300), np.arange(4_500), own, other)[1]
    gaps = np.where(own[:, None] == other, np.inf, _all_distances(points, references))
    np.testing.assert_allclose(distance, gaps.min(axis=1), rtol=1e-12)


def test_groups_need_not_be_sorted_and_rows_may_be_chosen():
    points, references = (
        _world("few directions hold the spread", 300, 0),
        _world("few directions hold the spread", 6_000, 1),
    )
    rng = np.random.default_rng(3)
    rows, chosen = rng.permutation(300)[:200], rng.permutation(6_000)[:5_000]
    own, other = rng.integers(0, 5, 200), rng.integers(0, 5, 5_000)
    index, distance = nearest(points, references, rows, chosen, own, other)
    gaps = _all_distances(points[rows], references[chosen])
    gaps[own[:, None] == other] = np.inf
    np.testing.assert_array_equal(index, gaps.argmin(axis=1))
    np.testing.assert_allclose(distance, gaps.min(axis=1), rtol=1e-12)


def test_equal_references_go_to_the_first_and_a_point_without_any_is_infinitely_far():
    references = np.repeat(_world("no direction stands out", 10, 0), 500, axis=0)
    rows = np.arange(0, 5_000, 50)
    index, distance = nearest(references, references, rows, np.arange(5_000))
    np.testing.assert_array_equal(index, rows // 500 * 500)
    assert (distance == 0).all()
    same = np.zeros(5_000, dtype=np.int64)
    distance = nearest(references, references, np.arange(9), np.arange(5_000), same[:9], same)[1]
    assert np.isinf(distance).all()


def test_a_first_look_is_kept_only_where_it_leaves_few_pairs():
    def directions(name):
        pool = module._Pool(_world(name, 5_000, 1), None)
        pool.nearest(_world(name, 300, 0), None)
        return pool.directions

    assert directions("few directions hold the spread") is not None
    assert directions("no direction stands out") is None
    assert directions("narrow") is None
