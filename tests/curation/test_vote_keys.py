"""Keys of vote rows against Python's own whole numbers."""

import numpy as np
import pytest

from fireassay.curation.votes import LARGEST_KEY, digits_below, key_votes, row_keys


@pytest.mark.parametrize(("n_classes", "m"), [(2, 39), (2, 1), (3, 31), (100, 9), (32_000, 4)])
def test_a_key_is_the_row_read_as_a_number(n_classes, m):
    assert (n_classes + 1) ** m <= LARGEST_KEY
    rng = np.random.default_rng(0)
    dtype = np.int8 if n_classes <= 127 else np.int16
    votes = rng.integers(-1, n_classes, (9_000, m)).astype(dtype)
    votes[0], votes[1] = n_classes - 1, -1  # the largest and the smallest key
    expected = []
    for row in votes.tolist():
        key = 0
        for vote in row:
            key = key * (n_classes + 1) + vote + 1
        expected.append(key)
    keys = row_keys(votes, n_classes, np.int64)
    assert keys.tolist() == expected
    np.testing.assert_array_equal(key_votes(keys, n_classes, m), votes)


@pytest.mark.parametrize("base", [2, 3, 4, 8, 127, 4_096, 4_097])
def test_digits_fill_a_limit_and_never_pass_it(base):
    digits = digits_below(1 << 24, base)
    assert base**digits <= 1 << 24 < base ** (digits + 1)
