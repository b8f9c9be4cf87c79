import numpy as np
import pytest

from fireassay import discovery
from fireassay.core import DataError, StoreError
from fireassay.web.queue import read_queue
from fireassay.web.queue_sources import queue_from_search
from fireassay.web.workspace import Workspace


def model(X):
    p = 1 / (1 + np.exp(-6 * (X[:, 0] + 0.3 * X[:, 1])))
    return np.column_stack([1 - p, p])


@pytest.fixture
def problem():
    X = np.random.default_rng(0).normal(size=(120, 3))
    return X, (X[:, 0] + X[:, 2] > 0).astype(int)


def save_search(folder, X, name="random", **settings):
    return discovery.Search(
        name, model=model, X=X, budget=12, seed=3, path=folder / "search.npz", **settings
    )


def label_all(folder, queue_name, y, stop_after=10**6, who="ada"):
    workspace = Workspace([folder])
    try:
        opened = next(q for q in workspace.queues().values() if q.queue.name == queue_name)
        for _ in range(stop_after):
            lease = opened.lease(who, who)
            if lease is None:
                break
            opened.book.answer(opened.queue, lease.token, int(y[opened.queue.rows[lease.item]]))
        return opened.status()
    finally:
        workspace.close()


@pytest.mark.parametrize(
    "name", ["random", "low-confidence", "bansal-weld", "lakkaraju-published", "facility-location"]
)
def test_labelling_in_the_browser_is_the_search_itself(tmp_path, problem, name):
    X, y = problem
    save_search(tmp_path, X, name)
    alone = discovery.Search(name, model=model, X=X, budget=12, seed=3).run(lambda row: y[row])
    queue_from_search(tmp_path, X)
    label_all(tmp_path, "search", y, stop_after=5)
    status = label_all(tmp_path, "search", y)
    assert status.settled == 12
    assert status.curve.now.value == pytest.approx(alone.sdr, abs=1e-12)
    assert status.curve.now.interval == pytest.approx(alone.sdr_interval)
    assert status.curve.now.valid_as == alone.valid_as
    # The search itself has all labels, too.
    loaded = discovery.Search.load(tmp_path / "search.npz").result
    np.testing.assert_array_equal(loaded.rows, alone.rows)
    assert loaded.sdr == pytest.approx(alone.sdr)


def test_a_matched_arm_is_kept_apart(tmp_path, problem):
    X, y = problem
    save_search(tmp_path, X, "low-confidence", matched_share=0.25)
    queue_from_search(tmp_path, X)
    status = label_all(tmp_path, "search", y)
    assert {slot.arm for slot in status.slots} == {"search", "matched"}
    loaded = discovery.Search.load(tmp_path / "search.npz").result
    assert loaded.matched_random is not None
    assert status.curve.now.value == pytest.approx(loaded.sdr)


def test_labels_from_before_are_there(tmp_path, problem):
    X, y = problem
    search = save_search(tmp_path, X)
    for _ in range(4):
        row = search.ask()
        search.tell(row, int(y[row]), "eve")
    search.skip(search.ask())
    queue_from_search(tmp_path, X)
    status = label_all(tmp_path, "search", y, stop_after=1)
    assert status.annotators == {"eve": 4, "(unnamed)": 1, "ada": 1}
    assert (status.settled, status.cannot_tell) == (5, 1)


def send_labels(folder, count, y, who):
    rows = discovery.next_labels(folder, folder / "next.csv", count)
    lines = ["row,label", *(f"{row},{y[row]}" for row in rows)]
    (folder / "next.csv").write_text("\n".join(lines))
    return discovery.add_labels(folder, folder / "next.csv", who)


def test_labels_by_file_and_in_the_browser_add_up_while_the_app_runs(tmp_path, problem):
    X, y = problem
    save_search(tmp_path, X, "bansal-weld")
    queue_from_search(tmp_path, X)
    workspace = Workspace([tmp_path])
    try:
        (opened,) = workspace.queues().values()

        def label(count):
            for _ in range(count):
                lease = opened.lease("ada", "1")
                opened.book.answer(opened.queue, lease.token, int(y[opened.queue.rows[lease.item]]))

        label(3)
        assert send_labels(tmp_path, 4, y, "eve").ratio.n == 7
        label(2)
        status = opened.status()
        assert status.annotators == {"ada": 5, "eve": 4}
        assert not status.disagreements
        loaded = discovery.Search.load(tmp_path / "search.npz").result
        assert len(loaded.rows) == status.curve.now.n == 9
        assert loaded.ratio == status.curve.now
        alone = discovery.Search("bansal-weld", model=model, X=X, budget=12, seed=3)
        assert loaded.rows[:3].tolist() == alone.run(lambda row: y[row]).rows[:3].tolist()
    finally:
        workspace.close()
    assert label_all(tmp_path, "search", y, stop_after=0).annotators == {"ada": 5, "eve": 4}


def test_two_people_by_two_ways_on_the_same_items(tmp_path, problem):
    """With two people per item, the second label of a row may come by file."""
    X, y = problem
    save_search(tmp_path, X)
    queue_from_search(tmp_path, X, annotators_per_item=2)
    assert label_all(tmp_path, "search", y, stop_after=3).annotators == {"ada": 3}
    rows = discovery.Search.load(tmp_path / "search.npz").result.rows
    lines = ["row,label,annotator", *(f"{row},{1 - y[row]},eve" for row in rows)]
    (tmp_path / "second.csv").write_text("\n".join(lines))
    discovery.add_labels(tmp_path, tmp_path / "second.csv")
    status = label_all(tmp_path, "search", y, stop_after=0)
    assert len(status.conflicts) == 3
    search = discovery.Search.load(tmp_path / "search.npz")
    assert search.disagreements == rows.tolist()
    assert not len(search.result.rows)
    with pytest.raises(DataError, match="no label yet"):
        discovery.add_labels(tmp_path, tmp_path / "second.csv")


def test_undo_is_seen_by_the_search(tmp_path, problem):
    X, y = problem
    save_search(tmp_path, X, "bansal-weld")
    queue_from_search(tmp_path, X)
    workspace = Workspace([tmp_path])
    try:
        (opened,) = workspace.queues().values()
        for _ in range(3):
            lease = opened.lease("ada", "1")
            opened.book.answer(opened.queue, lease.token, 1 - int(y[opened.queue.rows[lease.item]]))
        opened.book.undo(opened.queue, "ada", "1")
        assert len(discovery.Search.load(tmp_path / "search.npz").state.labels) == 2
        lease = opened.lease("ada", "1")
        opened.book.answer(opened.queue, lease.token, -1)
        state = discovery.Search.load(tmp_path / "search.npz").state
        assert state.skipped == (lease.item,)
    finally:
        workspace.close()


def test_a_label_told_in_python_overrules_and_can_be_taken_back(tmp_path, problem):
    X, _ = problem
    search = save_search(tmp_path, X)
    row = search.ask()
    search.tell(row, 0, "ada")
    search.tell(row, 1, "bob")
    assert search.result.labels == (1,)
    assert search.disagreements == [row]
    again = discovery.Search.load(tmp_path / "search.npz")
    assert again.result.labels == (1,)
    assert again.undo() == row
    assert search.result.labels == (0,)
    assert search.undo() == row
    assert search.pending == [row]


def test_the_file_of_a_search_never_changes(tmp_path, problem):
    X, y = problem
    search = save_search(tmp_path, X)
    before = (tmp_path / "search.npz").read_bytes()
    for _ in range(3):
        row = search.ask()
        search.tell(row, int(y[row]))
    assert (tmp_path / "search.npz").read_bytes() == before
    assert len(save_search(tmp_path, X).result.rows) == 3


def test_labels_of_another_search_are_never_mixed_in(tmp_path, problem):
    X, _ = problem
    search = save_search(tmp_path, X)
    search.ask()
    before = (tmp_path / "search.npz").read_bytes()
    with pytest.raises(StoreError, match="other items"):
        save_search(tmp_path, X, "low-confidence")
    assert (tmp_path / "search.npz").read_bytes() == before


def test_other_data_is_refused(tmp_path, problem):
    X, _ = problem
    save_search(tmp_path, X)
    with pytest.raises(DataError, match="made with"):
        queue_from_search(tmp_path, X + 1)
    with pytest.raises(DataError, match="every class"):
        queue_from_search(tmp_path, X, class_names=["one"])


def test_names_and_rows_of_the_queue(tmp_path, problem):
    X, _ = problem
    search = save_search(tmp_path, X)
    queue = read_queue(queue_from_search(tmp_path, X, class_names=["no", "yes"]))
    assert queue.choices == ("no", "yes")
    np.testing.assert_array_equal(queue.rows, search.state.rows)
    np.testing.assert_allclose(queue.content, X[search.state.rows], rtol=1e-6)
