"""The label among the columns: copies and recodings are seen, strong features are not."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from fireassay.statistics.label_checks import label_columns

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 600)
OTHERS = [
    RNG.normal(size=600),
    RNG.integers(0, 9, 600),
    np.arange(600),
    np.array(["a", "b"])[Y % 2],
]


@pytest.mark.parametrize(
    "column",
    [
        Y,
        Y.astype(float) / 7 - 0.3,
        np.array(["north", "east", "south"])[Y],
        np.array(["north", "east", None], dtype=object)[Y],
        10 * Y + RNG.integers(0, 10, 600),  # a finer code of the same
        np.where(RNG.random(600) < 0.004, (Y + 1) % 3, Y),
    ],
    ids=["copy", "scaled", "named", "with holes", "finer", "with slips"],
)
def test_the_label_under_another_name_is_seen(column):
    found = label_columns([*OTHERS, column], Y)
    assert found.columns == (4,)
    assert found.share > 0.99


def test_one_indicator_for_each_class_is_seen():
    found = label_columns([*OTHERS[:3], *np.eye(3)[Y].T], Y)
    assert found.columns == (3, 4, 5)
    assert found.share == 1.0


def test_the_label_itself_is_seen_in_few_rows_and_a_rare_class():
    rare = np.array([0] * 2000 + [1, 1])
    assert label_columns([rare.astype(float)], rare).found
    assert label_columns([np.array(["no", "yes"])[rare]], np.array(["no", "yes"])[rare]).found
    assert not label_columns([1 - rare], rare).found  # two rows show no recoding
    assert not label_columns([rare], rare * 0).found


def test_strong_features_are_no_labels():
    strong = np.where(RNG.random(600) < 0.03, (Y + 1) % 3, Y)
    measured = Y + RNG.normal(0, 0.05, 600)  # tells the label, too, but is a measurement
    only_one = Y == 1  # a feature that one class alone has
    assert not label_columns([*OTHERS, strong, measured, only_one], Y).found


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits, load_iris, load_wine])
def test_tables_that_everybody_knows_are_not_objected_to(load):
    data = load()
    assert not label_columns(list(data.data.T), data.target).found
