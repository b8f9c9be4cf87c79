import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fireassay.core import DataError, ParameterError
from fireassay.core.mapped import ByteImages
from fireassay.data import DataSet, digits, find_duplicates, find_overlap, split, splits
from fireassay.data.splits import whole_groups


def test_duplicates_are_exact_copies():
    X = np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [1.0, 2.0 + 1e-15], [-0.0, 0.0]])
    assert find_duplicates(X).tolist() == [0, 1, 0, 3, 1]
    assert find_duplicates(np.ones((4, 2, 2))).tolist() == [0, 0, 0, 0]
    assert find_duplicates(DataSet(X.astype(np.float32))).tolist() == [0, 1, 0, 0, 1]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 1)), min_size=1, max_size=30))
def test_duplicates_agree_with_a_dictionary(rows):
    first = {}
    expected = [first.setdefault(row, i) for i, row in enumerate(rows)]
    for dtype in (np.float32, np.float64):
        assert find_duplicates(np.array(rows, dtype=dtype)).tolist() == expected


def test_rows_on_both_sides_of_a_given_split_are_found():
    data = digits()
    train, test = split(data, (0.8, 0.2))
    assert find_overlap(train, test).tolist() == []
    assert find_overlap(train, train.X[5:7]).tolist() == [0, 1]
    with pytest.raises(DataError, match="shape"):
        find_overlap(train, [[1.0]])


def test_round_numbers_have_different_marks():
    from fireassay.data.splits import _marks

    X = np.stack(np.meshgrid(*[np.arange(32.0)] * 3), axis=-1).reshape(-1, 3)
    for rows in (X, X / 16, X.astype(np.float32)):
        assert len(np.unique(_marks(rows, rows.dtype))) == len(X)


def test_parts_are_disjoint_complete_and_of_the_asked_size():
    data = digits()
    train, tune, test = split(data, {"train": 0.6, "tune": 0.2, "test": 0.2}, seed=1)
    together = np.concatenate([train.ids, tune.ids, test.ids])
    assert sorted(together.tolist()) == list(range(len(data)))
    for part, share in ((train, 0.6), (tune, 0.2), (test, 0.2)):
        assert abs(len(part) - share * len(data)) <= 1
    assert train.name == "digits train"
    for digit in range(10):
        share = np.mean(test.y == digit) / np.mean(data.y == digit)
        assert share == pytest.approx(1.0, abs=0.03)


def test_same_seed_same_parts():
    data = digits()
    assert split(data, (0.5, 0.5), seed=3)[0].sha256 == split(data, (0.5, 0.5), seed=3)[0].sha256
    assert split(data, (0.5, 0.5), seed=3)[0].sha256 != split(data, (0.5, 0.5), seed=4)[0].sha256


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=8, max_size=60), st.integers(0, 1000), st.booleans())
def test_copies_and_groups_stay_on_one_side(values, seed, stratify):
    X = np.array(values, dtype=float)[:, None]
    groups = np.arange(len(values)) // 3
    data = DataSet(X, np.arange(len(values)) % 2)
    try:
        parts = split(data, (0.5, 0.5), seed=seed, groups=groups, stratify=stratify)
    except DataError:
        return  # everything hangs together: one side would be empty
    sides = np.empty(len(values), dtype=int)
    for side, part in enumerate(parts):
        sides[part.ids] = side
    for keys in (X[:, 0], groups):
        for key in np.unique(keys):
            assert len(np.unique(sides[keys == key])) == 1


def test_each_row_is_equally_likely_in_each_part():
    data = DataSet(np.arange(40.0)[:, None], np.arange(40) % 2)
    counts = np.zeros(40)
    for seed in range(300):
        counts[split(data, (0.75, 0.25), seed=seed)[1].ids] += 1
    # Binomial(300, 1/4): five standard deviations around 75.
    assert counts.min() > 75 - 37.5
    assert counts.max() < 75 + 37.5


def test_a_rare_class_is_shared_out():
    y = np.zeros(10_000, dtype=int)
    y[:2] = 1
    parts = split(DataSet(np.arange(10_000.0)[:, None], y), (0.5, 0.5))
    assert [int(part.y.sum()) for part in parts] == [1, 1]


@pytest.mark.parametrize("shares", [(1.0,), (0.5, 0.4), (0.5, 0.6), (1.5, -0.5), (0.0, 1.0)])
def test_shares_are_checked(shares):
    with pytest.raises(ParameterError, match="shares"):
        split(digits(), shares)


def test_impossible_splits():
    with pytest.raises(DataError, match="2 parts need"):
        split(DataSet(np.ones((10, 2))), (0.5, 0.5))
    with pytest.raises(DataError, match="at least one row"):
        split(DataSet(np.arange(10.0)[:, None]), (0.99, 0.01))


def test_overlap_of_bytes_and_floats_and_zeros_of_either_sign():
    rng = np.random.default_rng(0)
    stored = rng.integers(0, 256, (60, 5, 5)).astype(np.uint8)
    known, new = ByteImages(stored[:40], 255), ByteImages(stored[30:], 255)
    assert find_overlap(known, new).tolist() == list(range(10))
    assert find_overlap(np.asarray(known), new).tolist() == list(range(10))
    assert find_overlap(ByteImages(stored[:40], 1), new).tolist() == []
    assert find_overlap([[0.0, 1.0]], [[-0.0, 1.0], [0.0, 2.0]]).tolist() == [0]


def test_rows_with_one_mark_are_told_apart(monkeypatch):
    monkeypatch.setattr(splits, "row_marks", lambda rows: np.zeros(len(rows), np.uint64))
    assert find_overlap([[1.0], [2.0], [3.0]], [[3.0], [4.0], [1.0]]).tolist() == [0, 2]
    assert find_duplicates([[1.0], [2.0], [1.0], [2.0]]).tolist() == [0, 1, 0, 1]


def test_whole_groups_keep_their_order_and_end_where_a_group_ends():
    rows, first = whole_groups(np.array([0, 1, 2, 3]), np.array([7, 8, 7, 8]), 2)
    assert (rows.tolist(), first) == ([0, 2, 1, 3], 2)
