"""The CSV round trip: what goes out is safe, what comes back is checked before it counts."""

import csv
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from PIL import Image

from fireassay import discovery
from fireassay.core.errors import AssumptionWarning, DataError
from fireassay.discovery.label_files import keep_shown
from fireassay.web.queue_sources import queue_from_search


@pytest.fixture
def run(corner, tmp_path):
    ids = np.array([f"=cmd({i})" for i in range(len(corner.X))])
    discovery.Search(
        "random", model=corner.model, X=corner.X, ids=ids, budget=20, path=tmp_path / "search.npz"
    )
    return tmp_path


def fill(path, labels):
    with open(path, newline="") as file:
        lines = list(csv.DictReader(file))
    for line, label in zip(lines, labels, strict=False):
        line["label"] = label
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    return lines


def test_labels_go_out_and_come_back(run, corner):
    rows = discovery.next_labels(run, run / "next.csv", count=6)
    text = (run / "next.csv").read_text()
    assert "=cmd" in text
    assert ",=cmd" not in text
    fill(run / "next.csv", [corner.y[row] for row in rows[:4]])
    result = discovery.add_labels(run, run / "next.csv", annotator="me")
    assert result.rows.tolist() == rows[:4]
    assert discovery.next_labels(run, run / "again.csv", count=2) == rows[4:6]


def test_nothing_is_kept_from_a_file_with_a_fault(run, corner):
    rows = discovery.next_labels(run, run / "next.csv", count=3)
    fill(run / "next.csv", ["a", "b", "zebra"])
    with pytest.raises(DataError, match="zebra"):
        discovery.add_labels(run, run / "next.csv")
    (run / "other.csv").write_text(f"row,label\n{rows[0]},a\n999999,a\n")
    with pytest.raises(DataError, match="Line 3: there is no such row"):
        discovery.add_labels(run, run / "other.csv")
    unasked = next(r for r in discovery.Search.load(run / "search.npz").state.rows if r not in rows)
    (run / "other.csv").write_text(f"row,label\n{rows[0]},a\n{unasked},a\n")
    with pytest.raises(DataError, match="Line 3: only rows that were asked about"):
        discovery.add_labels(run, run / "other.csv")
    assert len(discovery.Search.load(run / "search.npz").result.rows) == 0


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "row,label\nx,a\n"])
def test_files_that_are_not_label_files(run, text):
    (run / "bad.csv").write_text(text)
    with pytest.raises(DataError):
        discovery.add_labels(run, run / "bad.csv")
    with pytest.raises(DataError):
        discovery.add_labels(run, run / "missing.csv")


def test_a_damaged_search_file_is_refused(tmp_path):
    (tmp_path / "search.npz").write_bytes(b"PK nonsense")
    with pytest.raises(DataError, match="saved"):
        discovery.Search.load(tmp_path / "search.npz")


TELL_FOREVER = """
    import sys
    from fireassay import discovery
    search = discovery.Search.load(sys.argv[1])
    while True:
        row = search.ask()
        search.tell(row, "ab"[row % 2], "ada")
        print(row, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs kill -9")
def test_kill_loses_no_label_that_was_told(corner, tmp_path):
    path = tmp_path / "search.npz"
    discovery.Search("random", model=corner.model, X=corner.X, budget=500, path=path)
    program = [sys.executable, "-c", textwrap.dedent(TELL_FOREVER), str(path)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        said = [int(process.stdout.readline()) for _ in range(15)]
        os.kill(process.pid, signal.SIGKILL)
        said += [int(line) for line in process.stdout.read().split()]
    result = discovery.Search.load(path).result
    assert result.rows[: len(said)].tolist() == said
    assert len(result.rows) - len(said) <= 1
    assert all(
        label == "ab"[row % 2] for row, label in zip(result.rows, result.labels, strict=True)
    )


def test_two_at_work_on_one_search_buy_every_label_once(corner, tmp_path):
    """Two open searches on one file: what one is told, the other counts."""
    path = tmp_path / "search.npz"
    one = discovery.Search("bansal-weld", model=corner.model, X=corner.X, budget=12, path=path)
    two = discovery.Search.load(path)
    for turn in range(12):
        search = (one, two)[turn % 2]
        row = search.ask()
        search.tell(row, corner.y[row], f"person {turn % 2}")
    alone = discovery.Search("bansal-weld", model=corner.model, X=corner.X, budget=12)
    expected = alone.run(lambda row: corner.y[row])
    assert one.result.rows.tolist() == two.result.rows.tolist() == expected.rows.tolist()
    assert one.remaining == two.remaining == 0


class Halves:
    """A model on one feature, a table and labels to search in."""

    X = np.random.default_rng(0).random((60, 3))
    names = ("pulse", "age", "label")

    @staticmethod
    def model(X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


@pytest.fixture
def table(tmp_path):
    discovery.Search(
        "low-confidence", model=Halves.model, X=Halves.X, budget=30, path=tmp_path / "search.npz"
    )
    keep_shown(tmp_path / "search.npz", Halves.X, Halves.names)
    return tmp_path


def test_a_person_sees_the_features_and_one_id(table):
    rows = discovery.next_labels(table, table / "next.csv", count=4)
    with open(table / "next.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == ["id", "pulse", "age", "feature label", "label"]
    for row, line in zip(rows, lines, strict=True):
        assert line["id"] == str(row)
        assert float(line["pulse"]) == pytest.approx(Halves.X[row, 0], rel=1e-5)
        assert line["label"] == ""


def test_a_file_of_other_rows_is_refused_though_its_ids_exist(table):
    rows = discovery.next_labels(table, table / "next.csv", count=3)
    fill(table / "next.csv", ["0", "1", "0"])
    text = (table / "next.csv").read_text()
    with open(table / "next.csv", newline="") as file:
        pulse = list(csv.DictReader(file))[1]["pulse"]
    (table / "other.csv").write_text(text.replace(pulse, "0.123456"))
    with pytest.raises(DataError, match=f"Line 3: the features must be those of id {rows[1]}"):
        discovery.add_labels(table, table / "other.csv")
    assert len(discovery.add_labels(table, table / "next.csv").rows) == 3


def test_labels_that_are_nearly_all_against_the_model_are_a_warning(table):
    rows = discovery.next_labels(table, table / "next.csv", count=30)
    said = [str(int(row[0] > 0.5)) for row in Halves.X[rows]]
    other = [str(1 - int(label)) for label in said]
    fill(table / "next.csv", other)
    with pytest.warns(AssumptionWarning, match="30 of 30 labels are not the model's answer"):
        discovery.add_labels(table, table / "next.csv")


@pytest.mark.parametrize("shape", [(8, 9), (8, 9, 3), (3, 8, 9)])
def test_pictures_lie_beside_the_file(tmp_path, shape):
    X = np.random.default_rng(1).random((12, *shape))
    flat = lambda rows: Halves.model(rows.reshape(len(rows), -1))  # noqa: E731
    discovery.Search("low-confidence", model=flat, X=X, budget=3, path=tmp_path / "search.npz")
    keep_shown(tmp_path / "search.npz", X)
    rows = discovery.next_labels(tmp_path, tmp_path / "next.csv", count=2)
    text = (tmp_path / "next.csv").read_text()
    picture = Image.open(tmp_path / "next-pictures" / f"{rows[0]}.png")
    assert f"{rows[0]},next-pictures/{rows[0]}.png," in text
    assert picture.size == (9, 8)
    expected = np.moveaxis(X[rows[0]], 0, -1) if shape[0] == 3 else X[rows[0]]
    np.testing.assert_array_equal(np.asarray(picture), np.rint(255 * expected))


def test_three_people_label_by_file_and_a_visit_changes_nothing(run, corner):
    rows = discovery.next_labels(run, run / "next.csv", count=2, people=3)
    own, other = corner.y[rows[0]], "b" if corner.y[rows[0]] == "a" else "a"
    said = {"ada": (own, own), "bo": (other, own), "cy": (own, other)}
    for name, labels in said.items():
        fill(run / "next.csv", labels)
        result = discovery.add_labels(run, run / "next.csv", annotator=name)
        queue_from_search(run, corner.X)  # what opening the page does
    assert discovery.Search.load(run / "search.npz").book.people(result_questions(run)) == 3
    assert [str(label) for label in result.labels] == [str(own), str(own)]
    fill(run / "next.csv", (own, own))
    with pytest.raises(DataError, match="--people"):
        discovery.add_labels(run, run / "next.csv", annotator="dee")


def result_questions(run):
    return discovery.Search.load(run / "search.npz").questions
