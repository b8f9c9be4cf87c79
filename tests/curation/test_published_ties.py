import hashlib

import numpy as np
import pytest

from fireassay.curation.order import old_numpy_order

# Made with NumPy 1.24.4: sha256 of np.argsort(values(n, levels)).astype(np.int64).tobytes().
NUMPY_1_24 = {
    (17, 2): "528480235f0990dc",
    (40, 3): "3a1b259612c7618a",
    (333, 5): "df6052d44401e842",
    (2000, 7): "a010ad8bc3283a43",
    (50000, 4): "91a0e33c7e5d9993",
    (50000, 100): "14aa12f0586b61b1",
}


def values(n, levels):
    i = np.arange(n)
    return ((7 * i * i + 3 * i) % levels).astype(float)


@pytest.mark.parametrize(("n", "levels"), NUMPY_1_24)
def test_ties_as_the_old_numpy_left_them(n, levels):
    order = old_numpy_order(values(n, levels))
    assert hashlib.sha256(order.tobytes()).hexdigest()[:16] == NUMPY_1_24[n, levels]


@pytest.mark.parametrize("n", [0, 1, 2, 16, 17, 18, 40, 333])
@pytest.mark.parametrize("levels", [1, 2, 3, 10, 1000])
def test_it_sorts(n, levels):
    drawn = np.random.default_rng(n * levels).integers(0, levels, n).astype(float)
    order = old_numpy_order(drawn)
    assert sorted(order.tolist()) == list(range(n))
    assert (np.diff(drawn[order]) >= 0).all()


def test_distinct_values_have_one_order():
    drawn = np.random.default_rng(0).permutation(5000).astype(float)
    assert np.array_equal(old_numpy_order(drawn), np.argsort(drawn))
