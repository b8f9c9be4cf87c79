"""Distances to the nearest rows: the same whether all are computed or candidates alone."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from fireassay.statistics import nearest_distances as module
from fireassay.statistics.nearest_distances import nearest_distances


@pytest.mark.parametrize("many_pairs", [0, 10**9])
def test_the_distances_are_those_of_all_pairs(monkeypatch, many_pairs):
    monkeypatch.setattr(module, "_MANY_PAIRS", many_pairs)
    rng = np.random.default_rng(0)
    X = 1e6 + rng.normal(size=(300, 5))  # far from 0, where products of rows are rounded
    X[10:14] = X[0]
    chosen = np.array([0, 11, 12, 50, 299])
    apart = cdist(X[chosen], X)
    apart[np.arange(5), chosen] = np.inf
    found = nearest_distances(X - X.mean(axis=0), chosen, 7)
    np.testing.assert_allclose(found, np.sort(apart, axis=1)[:, :7], rtol=1e-8)
    assert (found[:3, :4] == 0).all()


@pytest.mark.parametrize(("furthest", "kind"), [(1.0, np.float32), (1e5, np.float64)])
def test_float32_products_are_used_where_they_tell_rows_apart(monkeypatch, furthest, kind):
    monkeypatch.setattr(module, "_MANY_PAIRS", 0)
    X = np.random.default_rng(0).normal(size=(2000, 8))
    X[7] *= furthest
    assert module._with_lengths(X)[0].dtype == kind
    chosen = np.arange(0, 2000, 40)
    apart = cdist(X[chosen], X)
    apart[np.arange(50), chosen] = np.inf
    expected = np.sort(apart, axis=1)[:, :31]
    np.testing.assert_allclose(nearest_distances(X, chosen, 31), expected, rtol=1e-12)
    turned = np.asfortranarray(X)
    assert (nearest_distances(turned, chosen, 31) == nearest_distances(X, chosen, 31)).all()
