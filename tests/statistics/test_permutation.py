from itertools import combinations, permutations

import numpy as np
import pytest

from fireassay.core import DataError, ParameterError
from fireassay.statistics import permutation_test


def product(x, y):
    return float(x @ y)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_converges_to_the_full_enumeration(alternative):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=6), rng.normal(size=6)
    null = np.array([product(x, np.array(order)) for order in permutations(y)])
    greater, less = (null >= product(x, y) - 1e-12).mean(), (null <= product(x, y) + 1e-12).mean()
    exact = {"greater": greater, "less": less, "two-sided": min(1, 2 * min(greater, less))}
    ours = permutation_test(product, x, y, 20_000, alternative)
    assert ours == pytest.approx(exact[alternative], abs=0.015)


def test_smallest_p_values():
    x = np.arange(30.0)
    assert permutation_test(product, x, x, 999, "greater") == 1 / 1000
    assert permutation_test(product, x, x, 999) == 2 / 1000
    assert permutation_test(product, x, x, 999, "less") == 1.0


def test_a_null_that_is_not_centred_at_zero():
    """The mean of the positives is near 100 whatever the labels: no evidence."""
    x = 100 + np.random.default_rng(1).normal(size=40)
    y = np.arange(40) % 2
    assert permutation_test(lambda a, b: a[b == 1].mean(), x, y) > 0.05


def test_ties_by_rounding_count():
    x = np.full(12, 0.1)
    assert permutation_test(product, x, np.arange(12.0), 200) == 1.0


def test_constant_groups_exchange_their_label():
    """Six groups, three of each label: the p-value is over the 20 assignments of labels."""
    groups = np.repeat(np.arange(6), [1, 2, 3, 4, 5, 6])
    x = np.repeat([0.1, 0.3, 0.2, 1.2, 1.5, 1.1], [1, 2, 3, 4, 5, 6])
    label = np.array([0, 0, 0, 1, 1, 1])

    def difference(values, marks):
        return values[marks == 1].mean() - values[marks == 0].mean()

    null = []
    for chosen in combinations(range(6), 3):
        marks = np.isin(groups, chosen).astype(int)
        null.append(difference(x, marks))
    exact = np.mean(np.array(null) >= difference(x, label[groups]) - 1e-12)
    ours = permutation_test(difference, x, label[groups], 5000, "greater", groups=groups)
    assert ours == pytest.approx(exact, abs=0.015)
    assert permutation_test(difference, x, label[groups], 5000, "greater") < 0.005


def test_varying_groups_exchange_whole_blocks_of_equal_size():
    groups = np.array(["a", "b", "a", "b", "c", "c", "d"])
    y = np.array([1.0, 3, 2, 4, 5, 6, 7])
    seen = set()

    def record(_, shuffled):
        seen.add(tuple(shuffled))
        return 0.0

    permutation_test(record, np.zeros(7), y, 300, groups=groups)
    blocks = {(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)}
    for s in seen:
        assert {(s[0], s[2]), (s[1], s[3]), (s[4], s[5])} == blocks
        assert s[6] == 7
    assert len(seen) == 6


def test_same_seed_same_p():
    x, y = np.random.default_rng(2).normal(size=(2, 25))
    assert permutation_test(product, x, y, seed=3) == permutation_test(product, x, y, seed=3)


def test_bad_data_is_refused():
    with pytest.raises(DataError, match="same number of rows"):
        permutation_test(product, [1, 2, 3], [1, 2])
    with pytest.raises(DataError, match="two rows"):
        permutation_test(product, [], [])
    with pytest.raises(DataError, match="NaN"):
        permutation_test(product, [1, np.nan], [1.0, 2.0])
    with pytest.raises(DataError, match="finite"):
        permutation_test(lambda x, y: np.nan, [1, 2], [1, 2])
    with pytest.raises(DataError, match="two groups"):
        permutation_test(product, [1, 2], [1, 2], groups=[0, 0])
    with pytest.raises(DataError, match="equal size"):
        permutation_test(product, [1, 2, 3], [1, 2, 3], groups=[0, 0, 1])


def test_bad_parameters_are_refused():
    with pytest.raises(ParameterError, match="alternative"):
        permutation_test(product, [1, 2], [1, 2], alternative="upper")
    with pytest.raises(ParameterError, match="n_permutations"):
        permutation_test(product, [1, 2], [1, 2], 0)
