import numpy as np
import pytest

from fireassay import curation


def test_a_small_table_by_hand():
    votes = np.array([[0, 0, -1, -1], [1, 0, -1, -1], [-1, 1, 1, -1], [-1, 1, -1, -1]])
    table = curation.analyse(votes, y=[0, 1, 1, 1], names=list("abcd"), threshold=None)
    assert table["coverage"].tolist() == [0.5, 1.0, 0.25, 0.0]
    assert table["overlap"].tolist() == [0.5, 0.75, 0.25, 0.0]
    assert table["conflict"].tolist() == [0.25, 0.25, 0.0, 0.0]
    assert table["polarity"].tolist() == ["0 1", "0 1", "1", ""]
    assert table["accuracy"].tolist()[:3] == [1.0, 0.75, 1.0]
    assert np.isnan(table["accuracy"][3])
    assert (table["accuracy_low"][1], table["accuracy_high"][1]) == pytest.approx(
        (0.19412, 0.99369), abs=1e-5
    )
    assert table["reason"][3] == "never votes"
    assert table["kept"].tolist() == [True, True, True, False]


def test_reasons_name_the_partner_and_the_correlation():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, size=200)
    votes = np.column_stack([a, 1 - a, rng.integers(0, 2, size=200)])
    table = curation.analyse(votes, names=["fast", "slow", "other"])
    assert table["reason"].tolist() == [
        "stands for slow",
        "depends on fast: correlation -1.00, beyond ±0.5",
        "independent of the others",
    ]
    assert table["correlated_with"].tolist()[:2] == ["slow", "fast"]
