"""Near rows among many: the same count as from all distances."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from fireassay.statistics.near_rows import near_rows


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("limit", [0.0, 0.05, 0.6])
def test_the_count_is_that_of_all_distances(grouped, limit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    X[50:90] = X[:40] + rng.choice([0.0, 0.01, 0.2], (40, 1))
    groups = rng.integers(0, 60, 400) if grouped else np.arange(400)
    chosen = np.sort(rng.permutation(400)[:150])
    apart = cdist(X[chosen], X)
    apart[groups[chosen][:, None] == groups] = np.inf
    expected = int((apart.min(axis=1) <= limit).sum())
    assert expected or not limit
    found = near_rows(X, chosen, limit, rng, groups if grouped else None)
    assert found.sum() == expected


@pytest.mark.parametrize("kind", ["far away", "few values", "all alike"])
def test_odd_rows_are_counted_as_well(kind):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(700, 3))
    if kind == "far away":
        X[0] *= 1e12
    else:
        X = X.round(0 if kind == "all alike" else 1)
    chosen = np.arange(0, 700, 3)
    apart = cdist(X[chosen], X)
    apart[np.arange(len(chosen)), chosen] = np.inf
    for limit in (0.0, 1e-7, 0.31, 5.0):  # none that rounding decides
        expected = int((apart.min(axis=1) <= limit).sum())
        assert near_rows(X, chosen, limit, rng).sum() == expected, limit
