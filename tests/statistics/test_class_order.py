import numpy as np
import pytest
from scipy.stats import hypergeom
from sklearn.metrics import balanced_accuracy_score

from fireassay.core import DataError
from fireassay.statistics.label_checks import class_order


def answers(rng, y, k, accuracy):
    """Right with this probability, else any other class."""
    other = (y + rng.integers(1, k, len(y))) % k
    return np.where(rng.random(len(y)) < accuracy, y, other)


def test_columns_in_another_order_are_put_right():
    rng = np.random.default_rng(0)
    order = np.array([3, 0, 4, 1, 2])  # column i is class order[i]
    y = rng.integers(0, 5, 400)
    said = np.argsort(order)[answers(rng, y, 5, 0.97)]
    found = class_order(y, said, 5)
    assert found.order == tuple(order)
    assert found.agreement == (y == said).mean()
    assert found.agreement_in_order == (y == order[said]).mean() > 0.94
    assert found.is_wrong
    assert not found.is_verified
    assert found.balanced == pytest.approx(balanced_accuracy_score(y, said))


def test_a_good_order_is_verified_and_a_constant_answer_is_nothing():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 200)
    good = class_order(y, answers(rng, y, 3, 0.8), 3)
    assert good.is_verified
    assert not good.is_below_chance
    constant = class_order(y, np.zeros_like(y), 3)
    assert not (constant.is_wrong)
    assert not (constant.is_below_chance)
    assert not (constant.is_verified)
    assert constant.by_chance == pytest.approx(1 / 3)


def test_the_p_value_is_fishers_for_two_classes():
    # 30 of each class; of 30 answers "1", 9 are on rows of class 1: hypergeometric.
    y = np.repeat([0, 1], 30)
    said = np.zeros(60, dtype=int)
    said[:21] = 1
    said[30:39] = 1
    found = class_order(y, said, 2)
    exact = hypergeom.cdf(9, 60, 30, 30)
    assert found.p_below == pytest.approx(exact, abs=4 * np.sqrt(exact / 1999) + 1e-3)


def test_few_rows_and_rows_of_one_group_prove_nothing():
    y = np.tile([0, 1], 5)
    assert not class_order(y, 1 - y, 2).is_wrong
    many = np.tile([0, 1], 200)
    assert class_order(many, 1 - many, 2).is_wrong
    one_device = class_order(many, 1 - many, 2, groups=np.zeros(400, dtype=int))
    assert not (one_device.is_wrong)
    assert not (one_device.is_below_chance)
    with pytest.raises(DataError, match="at least one"):
        class_order([], [], 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recall", "specificity", "prior"),
    [(0.55, 0.55, 0.5), (0.5, 0.5, 0.5), (0.95, 0.35, 0.05), (0.99, 0.1, 0.1), (0.9, 0.4, 0.02)],
)
def test_weak_and_screening_models_are_not_refused(recall, specificity, prior):
    refused = 0
    worlds = 0
    for n, times in ((40, 150), (200, 60), (1000, 12)):
        for world in range(times):
            rng = np.random.default_rng([n, world])
            y = (rng.random(n) < prior).astype(int)
            right = rng.random(n) < np.where(y == 1, recall, specificity)
            found = class_order(y, np.where(right, y, 1 - y), 2, seed=world)
            refused += found.is_wrong or found.is_below_chance
            worlds += 1
    assert refused <= 0.01 * worlds + 1  # 2.2 of 222
