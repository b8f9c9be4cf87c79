"""What was said to be saved is on the disk: power cuts, kills, a full disk, older books."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

from fireassay.core import StoreError
from fireassay.engine.labels.book import LabelBook
from fireassay.web.queue import read_queue, write_queue


def on_the_disk(monkeypatch, folder, keep):
    """Copy the book whenever its log is taken to the disk: what a power cut would leave."""
    real, copies = os.fsync, []

    def fsync(file):
        if Path(f"/proc/self/fd/{file}").readlink().name == "labels.sqlite-wal":
            left = keep / str(len(copies))
            left.mkdir()
            for name in ("labels.sqlite", "labels.sqlite-wal"):
                shutil.copy(folder / name, left / name)
            real(file)
            copies.append(left)
        else:
            real(file)

    monkeypatch.setattr(os, "fsync", fsync)
    return copies


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc which file is synced")
def test_an_answer_that_was_said_to_be_saved_outlives_a_power_cut(
    opened, tmp_path, tmp_path_factory, monkeypatch, take
):
    book, queue = opened(n=12)
    copies = on_the_disk(monkeypatch, tmp_path, tmp_path_factory.mktemp("disk"))
    said, problems = [], []

    def work(who):
        while (lease := take(book, queue, who, who)) is not None:
            book.answer(queue, lease.token, lease.item % 3)
            said.append((lease.item, copies[-1]))

    people = [threading.Thread(target=work, args=(f"person {i}",)) for i in range(4)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    for item, left in said:
        with LabelBook(left) as survived:
            survived.register(queue)
            if item not in {a.item for a in survived.answers(queue)}:
                problems.append((item, left.name))
    assert sorted(item for item, _ in said) == list(range(12))
    assert problems == []


LABEL_FOREVER = """
    import sys
    from fireassay.engine.labels.book import LabelBook
    from fireassay.web.queue_state import in_order
    from fireassay.web.queue import read_queue
    queue = read_queue(sys.argv[1])
    book = LabelBook(queue.run_folder)
    book.register(queue)
    while (lease := book.lease(queue, "ada", "one", in_order(queue))) is not None:
        book.answer(queue, lease.token, lease.item % 3)
        print(lease.item, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs kill -9")
def test_kill_loses_nothing_that_was_said_to_be_saved(tmp_path, take):
    path = write_queue(tmp_path, np.zeros((3000, 2)), classes="abc")
    program = [sys.executable, "-c", textwrap.dedent(LABEL_FOREVER), str(path)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        said = [int(process.stdout.readline()) for _ in range(40)]
        os.kill(process.pid, signal.SIGKILL)
        said += [int(line) for line in process.stdout.read().split()]
    queue = read_queue(path)
    with LabelBook(tmp_path) as book:
        book.register(queue)
        kept = {a.item: a.choice for a in book.answers(queue)}
        assert set(said) <= set(kept)
        assert len(kept) - len(said) <= 1
        assert all(choice == item % 3 for item, choice in kept.items())
        following = take(book, queue, "bob")
    assert following.item not in kept


def test_a_full_disk_saves_nothing_and_says_so(opened, take):
    book, queue = opened(n=400)
    limit = book.reading(lambda c: c.execute("PRAGMA page_count").fetchone()[0]) + 3
    book.reading(lambda c: c.execute(f"PRAGMA max_page_count = {limit}").fetchone())
    kept = []

    def label_on():
        while (lease := take(book, queue, "ada")) is not None:
            kept.append(book.answer(queue, lease.token, 1, comment="x" * 500))

    with pytest.raises(StoreError, match="full"):
        label_on()
    assert book.answers(queue) == kept
    book.reading(lambda c: c.execute("PRAGMA max_page_count = 1000000").fetchone())
    lease = take(book, queue, "ada")
    book.answer(queue, lease.token, 1)
    assert len(book.answers(queue)) == len(kept) + 1


def test_a_book_of_the_first_version_is_counted_once_and_goes_on(opened, tmp_path, take):
    book, queue = opened(n=6, annotators_per_item=2)
    book.answer(queue, take(book, queue, "ada").token, 0)
    book.answer(queue, take(book, queue, "ada").token, None, skip=True)
    book.answer(queue, take(book, queue, "bob").token, 1)
    book.answer(queue, take(book, queue, "ada").token, 2)
    book.undo(queue, "ada", "one")
    before = book.counts(queue, "ada"), book.counts(queue, "bob"), book.answers(queue)
    book.close()
    with sqlite3.connect(tmp_path / "labels.sqlite") as raw:
        for kind, name in raw.execute(
            "SELECT type, name FROM sqlite_master WHERE type = 'trigger' OR name LIKE '%_tallies'"
            " OR name = 'untold_answers'"
        ).fetchall():
            raw.execute(f"DROP {kind} {name}")
        raw.execute("PRAGMA user_version = 1")
    raw.close()
    with LabelBook(tmp_path) as again:
        assert (
            again.counts(queue, "ada"), again.counts(queue, "bob"), again.answers(queue)
        ) == before  # fmt: skip
        again.answer(queue, take(again, queue, "ada").token, 1)
        assert again.counts(queue, "ada")["answered"] == before[0]["answered"] + 1
