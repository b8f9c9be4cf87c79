import numpy as np
from scipy.stats import chisquare

from fireassay.curation.order import adversarial_order, dataset_sizes, shuffled_ranks


def permutation(size, seed, key=0):
    sizes = np.full(size, size)
    return shuffled_ranks(np.arange(size), sizes, np.full(size, key), seed)


def test_every_size_is_permuted():
    for size in (*range(1, 40), 255, 256, 257, 1000):
        assert sorted(permutation(size, seed=3).tolist()) == list(range(size))


def test_seed_and_group_change_the_permutation():
    assert (permutation(100, 0) != permutation(100, 1)).any()
    assert (permutation(100, 0, key=0) != permutation(100, 0, key=1)).any()


def test_positions_are_uniform_over_seeds():
    where = np.array([permutation(12, seed)[[0, 7]] for seed in range(3000)])
    for column in where.T:
        assert chisquare(np.bincount(column, minlength=12)).pvalue > 1e-4
    pairs = np.bincount(where[:, 0] * 12 + where[:, 1], minlength=144).reshape(12, 12)
    assert (np.diag(pairs) == 0).all()
    assert chisquare(pairs[~np.eye(12, dtype=bool)]).pvalue > 1e-4


def test_order_keeps_levels_and_holds_every_row_once():
    level = np.random.default_rng(0).integers(0, 7, size=5000)
    order = adversarial_order(level, 7, seed=0)
    assert (np.diff(level[order]) >= 0).all()
    assert sorted(order.tolist()) == list(range(5000))


def test_a_row_alone_in_its_level_has_its_place():
    assert adversarial_order(np.array([2, 0, 1]), 3, seed=9).tolist() == [1, 2, 0]


def test_sizes_round_half_to_even_and_end_with_all():
    assert dataset_sizes(5, 10).tolist() == [0, 1, 2, 2, 2, 3, 4, 4, 4, 5]
    assert dataset_sizes(1315, 10)[-1] == 1315
