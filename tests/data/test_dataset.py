import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fireassay.core import DataError, codec, sha256
from fireassay.data import DataSet, TableEncoder, from_frame, load, two_moons

X = np.arange(12.0).reshape(4, 3)


def test_what_goes_in_comes_out():
    data = DataSet(X, ["b", "a", "b", "a"], ids=[10, 11, 12, 13], feature_names=list("pqr"))
    assert len(data) == 4
    assert data.classes == ("a", "b")
    assert data.ids.tolist() == [10, 11, 12, 13]
    assert data.feature_names == ("p", "q", "r")
    assert repr(data) == "DataSet(4 rows of shape (3,), 2 classes)"


def test_ids_are_row_numbers_by_default_and_follow_the_rows():
    part = DataSet(X, [0, 1, 0, 1]).subset([3, 1])
    assert part.ids.tolist() == [3, 1]
    np.testing.assert_array_equal(part.X, X[[3, 1]])
    assert part.y.tolist() == [1, 1]


def test_a_subset_remembers_classes_that_it_has_no_row_of():
    data = DataSet(X, list("abca"))
    assert data.subset([0, 3]).classes == ("a", "b", "c")
    assert data.subset(np.array([True, False, False, False])).classes == ("a", "b", "c")


@pytest.mark.parametrize("rows", [[], [4], [-5], [0.5], [True, False], [0, 0]])
def test_impossible_subsets_are_refused(rows):
    with pytest.raises(DataError):
        DataSet(X).subset(rows)


@pytest.mark.parametrize(
    "features",
    [
        X.astype(np.float16),
        X.astype(np.float32),
        X > 3,
        np.asfortranarray(X),
        np.repeat(X, 2, axis=0)[::2],
        X[:, ::-1][:, ::-1],
        X.astype(object),
        X.tolist(),
        X.astype(">f8"),
    ],
    ids=lambda f: str(getattr(f, "dtype", "list")),
)
def test_any_real_numbers_are_accepted_and_equal(features):
    data = DataSet(features)
    assert data.X.dtype in (np.float32, np.float64)
    np.testing.assert_array_equal(data.X, np.asarray(features).astype(float))


def test_read_only_and_mapped_arrays_are_accepted_without_a_copy(tmp_path):
    frozen = X.copy()
    frozen.flags.writeable = False
    assert np.shares_memory(DataSet(frozen).X, frozen)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    data = DataSet(mapped)
    assert np.shares_memory(data.X, mapped)
    assert data.sha256 == DataSet(X).sha256 == DataSet(frozen).sha256


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.empty((0, 3))}, "at least 1 row"),
        ({"X": np.empty((3, 0))}, "at least one feature"),
        ({"X": [1.0, 2.0]}, "reshape"),
        ({"X": [[1.0], [1.0, 2.0]]}, "rectangular"),
        ({"X": X * 1j}, "real numbers"),
        ({"X": [["a", "b"]]}, "real numbers"),
        ({"X": np.array([["a", 1.0]], dtype=object)}, "must be numbers"),
        ({"X": np.where(X == 4, np.nan, X)}, "first in row 1"),
        ({"X": np.where(X == 11, np.inf, X)}, "first in row 3"),
        ({"X": X, "y": [0, 1, 0]}, "same number of rows"),
        ({"X": X, "y": [0, 1, 0, np.nan]}, "must not be missing"),
        ({"X": X, "y": [0, 1, 0, 0.5]}, "regressor"),
        ({"X": X, "y": np.eye(4)}, "one-hot"),
        ({"X": X, "y": ["a", None, "a", "b"]}, "no label in row 1"),
        ({"X": X, "y": np.array([1, "a", 1, 1], dtype=object)}, "one type"),
        ({"X": X, "ids": [1, 2, 3]}, "same number of rows"),
        ({"X": X, "ids": [1, 2, 2, 3]}, "2 2 times"),
        ({"X": X, "ids": [1.0, 2.0, 3.0, 4.0]}, "ints or text"),
        ({"X": X, "feature_names": ["a"]}, "every column"),
        ({"X": X, "y": [0, 1, 2, 3], "class_names": ["a", "b"]}, "class name"),
        ({"X": X, "y": [0, 1, -1, 1], "class_names": ["a", "b"]}, "-1"),
        ({"X": X, "y": list("abca"), "class_names": ["a", "b"]}, "'c'"),
        ({"X": X, "class_names": ["a", "a"]}, "differ"),
    ],
)
def test_unusable_data_is_refused_with_a_reason(arguments, message):
    with pytest.raises(DataError, match=message):
        DataSet(**arguments)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([1, 1, 1, 1], (1,)),
        ([-1, 1, -1, 1], (-1, 1)),
        ([0, 5, 0, 9], (0, 5, 9)),
        ([True, False, True, True], (False, True)),
        ([0.0, 1.0, 2.0, 1.0], (0, 1, 2)),
        (np.array([0, 1, 0, 1], dtype=np.uint8), (0, 1)),
    ],
)
def test_labels_of_every_kind_keep_their_meaning(y, classes):
    assert DataSet(X, y).classes == classes


def test_one_row_identical_rows_and_a_constant_feature_are_data():
    assert len(DataSet([[1.0, 2.0]], [0])) == 1
    assert len(DataSet(np.ones((5, 2)), [0, 1, 0, 1, 0])) == 5


def test_labels_that_are_needed_but_absent():
    with pytest.raises(DataError, match="must have labels"):
        _ = DataSet(X).labels


def test_the_hash_is_of_the_content_and_not_of_the_name():
    base = DataSet(X, [0, 1, 0, 1])
    assert DataSet(X.copy(), [0, 1, 0, 1], name="other").sha256 == base.sha256
    assert sha256(base) == sha256(DataSet(X.copy(), [0, 1, 0, 1]))
    changed = X.copy()
    changed[0, 0] = 1e-300
    others = (DataSet(changed, base.y), DataSet(X, [0, 1, 1, 1]), DataSet(X), base.subset([0, 1]))
    assert len({base.sha256, *(other.sha256 for other in others)}) == 5


def test_a_change_of_the_array_is_seen_by_the_hash():
    features = X.copy()
    data = DataSet(features)
    before = data.sha256
    features[0, 0] = 7.0
    assert data.sha256 != before


def test_a_data_set_can_be_saved_and_loaded(tmp_path):
    encoder = TableEncoder(("p", "q", "r"), (None, None, None))
    data = DataSet(X, list("abca"), ids=list("wxyz"), name="mine", encoder=encoder)
    back = codec.load(codec.save(data, tmp_path / "data.npz"))
    assert back.sha256 == data.sha256
    assert back.encoder == encoder
    assert back.name == "mine"


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(6)))
def test_a_subset_of_a_permutation_is_the_permuted_data(order):
    data = DataSet(np.arange(12.0).reshape(6, 2), list("aabbcc"))
    part = data.subset(order)
    np.testing.assert_array_equal(part.X[:, 0], 2.0 * np.array(order))
    assert part.ids.tolist() == list(order)


# Content hashes that 0.1.0 gave: numbers keep them.
PINS = {
    "float64": "7d44b9731ea51151198ad58a2fb23dad7cb33d33e756dde4e208442d5e9c8dcf",
    "float32": "333112c2c57585f6ce44e0bb765e17162b6305e4d635ba784405c2500e8d1726",
    "pixels": "1474a85e07c393be245a988e04d2b0a08e773c3b7c9dea23530dd8a4ee1761bb",
    "flags": "2df91a0beb277b09cdc41eadf11b98e8e2b8d1a3a2e646cec50a2612e07be0d1",
    "frame": "a83042aa65c4e83514ec0be8ed756fc841855743f2f3c8e18e6f7b0ec393ee43",
    "csv": "50a7221783c85b85b471aadf1a0874e23ce7814f810f2f6910e0e14e55926842",
    "moons": "b5dc6ff116901d154a422e0af377359fedde60f8b5b7f40143cf77018e8be9c5",
}


def test_hashes_of_numbers_are_those_of_the_first_version(tmp_path):
    rows = np.arange(12.0).reshape(4, 3) / 7
    table = pd.DataFrame(
        {
            "age": [40, 50, 61],
            "dose": [0.5, 1.5, 2.5],
            "ok": [True, False, True],
            "label": ["a", "b", "a"],
        }
    )
    file = tmp_path / "t.csv"
    file.write_text("id,age,dose,label\n7,40,0.5,a\n8,50,1.5,b\n9,61,2.5,a\n")
    pixels = (np.arange(2 * 4 * 4) % 256).astype(np.uint8).reshape(2, 4, 4)
    found = {
        "float64": DataSet(rows, [0, 1, 0, 1]),
        "float32": DataSet(rows.astype(np.float32), list("abab"), groups=[0, 0, 1, 1]),
        "pixels": DataSet(pixels),
        "flags": DataSet(np.eye(3, dtype=bool)),
        "frame": from_frame(table),
        "csv": load(file),
        "moons": two_moons(40),
    }
    assert {name: data.sha256 for name, data in found.items()} == PINS


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint64])
def test_integers_stay_integers(dtype):
    data = DataSet(X.astype(dtype))
    assert data.X.dtype == dtype
    assert data.kinds == ("integer",) * 3


def test_texts_are_rows():
    data = DataSet(["a cat", "a dog", "Süd 東京 \U0001f600"], [0, 1, 1])
    assert data.kinds == ("text",)
    assert data.subset([2]).X.tolist() == ["Süd 東京 \U0001f600"]
    assert repr(data) == "DataSet(3 texts, 2 classes)"
    assert data.sha256 != DataSet(["a cat", "a dog", "Sud"], [0, 1, 1]).sha256


def test_holes_in_arrays_must_be_allowed():
    holes = np.where(X == 4, np.nan, X)
    with pytest.raises(DataError, match="first in row 1"):
        DataSet(holes)
    np.testing.assert_array_equal(DataSet(holes, missing=True).X, holes)
    with pytest.raises(DataError, match="infinity"):
        DataSet(np.where(X == 4, np.inf, X), missing=True)


@pytest.mark.parametrize("missing", [np.nan, None, pd.NaT, pd.NA])
def test_the_hash_of_a_table_sees_values_types_names_and_holes(missing):
    base = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]})
    others = [
        base.assign(a=[1.5, 2.0]),
        base.assign(b=["x", missing]),
        base.assign(b=["x", "nan"]),
        base.rename(columns={"b": "c"}),
        base.astype({"a": np.float32}),
        base.astype({"b": "category"}),
        base.iloc[::-1],
    ]
    hashes = {DataSet(frame).sha256 for frame in (base, *others)}
    assert len(hashes) == 8
    assert DataSet(base.copy(), name="other").sha256 == DataSet(base).sha256
