import numpy as np
import pytest

from fireassay.core import DataError, ParameterError, StoreError
from fireassay.web.queue import find_queues, read_queue, write_queue


def test_what_is_written_is_read(tmp_path):
    X = np.linspace(0, 1, 4 * 6 * 5).reshape(4, 6, 5)
    path = write_queue(
        tmp_path,
        X,
        classes=["a", "b"],
        name="q 1",
        predicted=["b", "a", "a", "b"],
        confidence=[0.9, 0.8, 0.7, 0.6],
        ids=["w", "x", "y", "z"],
        rows=[7, 3, 9, 1],
        budget=3,
        search="random",
        annotators_per_item=2,
    )
    queue = read_queue(path)
    assert find_queues(tmp_path) == [path]
    assert (queue.kind, queue.choices, queue.budget, queue.limit) == ("image", ("a", "b"), 3, 3)
    assert queue.predicted.tolist() == [1, 0, 0, 1]
    assert queue.confidence.tolist() == [0.9, 0.8, 0.7, 0.6]
    assert queue.ids.tolist() == ["w", "x", "y", "z"]
    assert queue.rows.tolist() == [7, 3, 9, 1]
    np.testing.assert_array_equal(queue.content, np.rint(X * 255).astype(np.uint8))
    assert queue.run_folder == tmp_path


def test_items_stay_on_disk(tmp_path):
    queue = read_queue(write_queue(tmp_path, np.zeros((5, 2)), classes="ab"))
    assert isinstance(queue.content, np.memmap)
    assert isinstance(queue.confidence, np.memmap)


def test_pixels_outside_the_unit_range_are_stretched(tmp_path):
    X = np.array([[[-2.0, 0.0], [2.0, 6.0]]])
    queue = read_queue(write_queue(tmp_path, X, classes="ab"))
    assert queue.content[0].tolist() == [[0, 64], [128, 255]]


def test_bytes_stay_bytes(tmp_path):
    X = np.arange(12, dtype=np.uint8).reshape(1, 2, 2, 3)
    queue = read_queue(write_queue(tmp_path, X, classes="ab"))
    np.testing.assert_array_equal(queue.content, X)


def test_writing_again_changes_only_settings(tmp_path):
    X = np.random.default_rng(0).random((5, 3))
    path = write_queue(tmp_path, X, classes="ab", budget=2)
    assert write_queue(tmp_path, X, classes="ab", budget=4) == path
    assert read_queue(path).budget == 4
    with pytest.raises(StoreError, match="labels refer to it"):
        write_queue(tmp_path, X + 1, classes="ab")
    with pytest.raises(StoreError, match="labels refer to it"):
        write_queue(tmp_path, X, classes="ba")


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".x", "x" * 65, "a\nb", "ä"])
def test_a_name_is_no_path(tmp_path, name):
    with pytest.raises(ParameterError, match="name"):
        write_queue(tmp_path / "run", np.zeros((2, 2)), classes="ab", name=name)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"classes": ["a"]}, "2 to 1000"),
        ({"classes": ["a", "a"]}, "different"),
        ({"predicted": ["a", "c"]}, "predicted must be one of"),
        ({"confidence": [0.5, np.nan]}, "confidence"),
        ({"confidence": [0.5, 1.5]}, "confidence"),
        ({"ids": ["x", "x"]}, "ids must differ"),
        ({"ids": ["x", "y", "z"]}, "same number of rows"),
        ({"kind": "image"}, "axes"),
        ({"feature_names": ["one"]}, "every column"),
    ],
)
def test_bad_items_are_refused_with_the_reason(tmp_path, change, said):
    given = {"classes": ["a", "b"], **change}
    with pytest.raises(DataError, match=said):
        write_queue(tmp_path, np.zeros((2, 2)), **given)
    assert find_queues(tmp_path) == []


def test_channels_may_come_first(tmp_path):
    X = np.random.default_rng(0).integers(0, 256, (2, 3, 8, 9), dtype=np.uint8)
    queue = read_queue(write_queue(tmp_path, X, classes="ab"))
    np.testing.assert_array_equal(queue.content, np.moveaxis(X, 1, -1))
    with pytest.raises(DataError, match="first or last"):
        write_queue(tmp_path, np.zeros((2, 5, 8, 9)), classes="ab", name="other")


def test_damaged_queues_are_refused(tmp_path):
    path = write_queue(tmp_path, np.zeros((2, 2)), classes="ab")
    (path / "content.npy").write_bytes(b"\x93NUMPY\x01\x00")
    with pytest.raises(DataError, match="Expected a labelling queue"):
        read_queue(path)
    (path / "queue.json").write_text('{"version": 99}')
    with pytest.raises(DataError, match="version 1"):
        read_queue(path)


def test_pickled_arrays_are_never_loaded(tmp_path):
    path = write_queue(tmp_path, np.zeros((2, 2)), classes="ab")
    np.save(path / "ids.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="Expected a labelling queue"):
        read_queue(path)
