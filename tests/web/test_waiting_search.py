"""A run that waits for labels is labelled in the browser from what it keeps: no data to name."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("fastapi")
pytestmark = pytest.mark.extras

from fireassay import discovery  # noqa: E402
from fireassay.core import DataError  # noqa: E402
from fireassay.discovery.label_files import keep_shown  # noqa: E402
from fireassay.web.pages import number  # noqa: E402
from fireassay.web.queue import read_queue  # noqa: E402
from fireassay.web.queue_pages import item_facts  # noqa: E402
from fireassay.web.queue_sources import queue_from_search  # noqa: E402


def model(rows):
    p = rows.reshape(len(rows), -1)[:, 0]
    return np.column_stack([1 - p, p])


def waiting(folder, X, shown):
    discovery.Search("low-confidence", model=model, X=X, budget=3, path=folder / "search.npz")
    keep_shown(folder / "search.npz", shown)
    return read_queue(queue_from_search(folder))


def test_tables_with_names_and_holes(tmp_path):
    X = np.random.default_rng(0).random((20, 2))
    frame = pd.DataFrame({"pulse": X[:, 0], "ward": ["north", None] * 10})
    queue = waiting(tmp_path, X, frame)
    row = int(queue.rows[0])
    (name, pulse), (other, ward) = item_facts(queue, None, 0)["features"]
    assert (name, other) == ("pulse", "ward")
    assert float(pulse) == pytest.approx(X[row, 0])
    assert number(ward) == ("north" if row % 2 == 0 else "")


def test_texts_are_words(tmp_path):
    texts = [f"text number {i}" for i in range(20)]
    queue = waiting(tmp_path, np.random.default_rng(0).random((20, 2)), np.array(texts))
    assert item_facts(queue, None, 0)["words"] == texts[int(queue.rows[0])]


def test_pictures_with_channels_first(tmp_path):
    X = np.random.default_rng(0).random((20, 3, 8, 9)).astype(np.float32)
    queue = waiting(tmp_path, X, X)
    assert queue.kind == "image"
    assert queue.content.shape[1:] == (8, 9, 3)
    assert item_facts(queue, None, 0)["sharp"]
    expected = np.rint(255 * np.moveaxis(X[int(queue.rows[0])], 0, -1).astype(float))
    np.testing.assert_array_equal(queue.content[0], expected)


def test_series_are_lines_over_time_and_no_pictures(tmp_path):
    X = np.random.default_rng(0).random((20, 2, 50))
    discovery.Search("low-confidence", model=model, X=X, budget=3, path=tmp_path / "search.npz")
    keep_shown(tmp_path / "search.npz", X, None, "series")
    queue = read_queue(queue_from_search(tmp_path))
    assert queue.kind == "series"
    np.testing.assert_allclose(queue.content[0], X[int(queue.rows[0])].T, rtol=1e-6)


def test_without_kept_rows_the_data_are_asked_for(tmp_path):
    X = np.random.default_rng(0).random((20, 2))
    discovery.Search("random", model=model, X=X, budget=3, path=tmp_path / "search.npz")
    with pytest.raises(DataError, match="--data"):
        queue_from_search(tmp_path)
