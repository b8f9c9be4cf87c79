import sqlite3
import threading
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fireassay.core import DataError, StoreError
from fireassay.engine.labels.book import LabelBook
from fireassay.engine.labels.records import AnsweredDifferentlyError, LeaseLostError, consensus
from fireassay.web.queue import read_queue, write_queue
from fireassay.web.queue_state import in_order


def test_two_browsers_never_have_the_same_item(opened, take):
    book, queue = opened()
    first = take(book, queue, "ada", "laptop")
    second = take(book, queue, "ada", "phone")
    third = take(book, queue, "bob", "laptop")
    assert {first.item, second.item, third.item} == {0, 1, 2}
    assert take(book, queue, "ada", "laptop") == first


def test_with_two_annotators_per_item_both_get_it_once(opened, take):
    book, queue = opened(n=4, annotators_per_item=2)
    seen = {"ada": [], "bob": [], "eve": []}
    for _ in range(4):
        for who in ("ada", "bob"):
            lease = take(book, queue, who)
            seen[who].append(lease.item)
            book.answer(queue, lease.token, 0)
    assert sorted(seen["ada"]) == sorted(seen["bob"]) == [0, 1, 2, 3]
    assert take(book, queue, "ada") is None
    assert take(book, queue, "eve") is None
    assert book.counts(queue)["complete"] == 4


def test_an_answer_counts_once(opened, take):
    book, queue = opened()
    lease = take(book, queue, "ada")
    kept = book.answer(queue, lease.token, 1, comment="sure")
    assert book.answer(queue, lease.token, 1, comment="sure") == kept
    with pytest.raises(AnsweredDifferentlyError, match="Nothing was saved now"):
        book.answer(queue, lease.token, 2)
    assert [(a.item, a.choice, a.comment) for a in book.answers(queue)] == [(0, 1, "sure")]


def test_undo_gives_the_item_back_and_keeps_the_trace(opened, tmp_path, take):
    book, queue = opened(predicted=list("abcabcabca"), confidence=[0.9] * 10)
    book.answer(queue, take(book, queue, "ada").token, 1)
    waiting = take(book, queue, "ada")
    undone = book.undo(queue, "ada", "one")
    assert (undone.item, undone.choice) == (0, 1)
    assert book.answers(queue) == []
    again = take(book, queue, "ada")
    assert again.item == 0
    assert again.after_reveal
    assert book.answer(queue, again.token, 0).after_reveal
    assert take(book, queue, "bob").item == waiting.item
    with sqlite3.connect(tmp_path / "labels.sqlite") as raw:
        assert raw.execute("SELECT count(*) FROM answers").fetchone()[0] == 2
    raw.close()
    assert book.undo(queue, "nobody", "one") is None


def test_skipped_items_go_to_others_and_come_back_on_request(opened, take):
    book, queue = opened(n=2)
    book.answer(queue, take(book, queue, "ada").token, None, skip=True)
    book.answer(queue, take(book, queue, "ada").token, 2)
    assert take(book, queue, "ada") is None
    assert book.counts(queue, "ada") == {
        "complete": 1, "opened": 2, "answered": 1, "skipped": 1,
    }  # fmt: skip
    assert book.offer_skipped_again(queue, "ada") == 1
    assert take(book, queue, "ada").item == 0
    book.undo(queue, "ada", "one")
    assert take(book, queue, "bob").item == 0


def test_a_lease_that_ran_out_goes_to_the_next_person(opened, take):
    book, queue = opened(n=1, lease_s=0.05)
    slow = take(book, queue, "slow")
    time.sleep(0.06)
    quick = take(book, queue, "quick")
    assert quick.item == slow.item
    with pytest.raises(LeaseLostError, match="somebody else"):
        book.answer(queue, slow.token, 0)
    book.answer(queue, quick.token, 1)
    assert [(a.annotator, a.choice) for a in book.answers(queue)] == [("quick", 1)]


def test_a_late_answer_counts_if_nobody_took_the_item(opened, take):
    book, queue = opened(n=1, lease_s=0.05)
    lease = take(book, queue, "slow")
    time.sleep(0.06)
    book.answer(queue, lease.token, 0)
    assert book.counts(queue)["complete"] == 1


def test_an_unknown_token_saves_nothing(opened):
    book, queue = opened()
    with pytest.raises(LeaseLostError):
        book.answer(queue, "forged", 0)
    assert book.answers(queue) == []


def test_the_budget_ends_the_queue_and_cannot_tell_costs_none(opened, take):
    book, queue = opened(n=10, budget=2)
    book.answer(queue, take(book, queue, "ada").token, -1)
    book.answer(queue, take(book, queue, "ada").token, 0)
    book.answer(queue, take(book, queue, "ada").token, 0)
    assert take(book, queue, "ada") is None


def test_conflicts_are_resolved_without_losing_answers(opened, take):
    book, queue = opened(n=1, annotators_per_item=2)
    book.answer(queue, take(book, queue, "ada").token, 0)
    book.answer(queue, take(book, queue, "bob").token, 1)
    assert consensus(book.answers(queue))[0].state == "conflict"
    book.resolve(queue, 0, "eve", 2)
    book.resolve(queue, 0, "eve", 1)
    found = consensus(book.answers(queue))[0]
    assert (found.state, found.label, found.resolved, len(found.answers)) == ("settled", 1, True, 3)
    with pytest.raises(DataError, match="answered item"):
        book.resolve(queue, 5, "eve", 1)


def test_labels_of_other_items_are_never_mixed_in(opened, tmp_path):
    book, _ = opened()
    book.close()
    (tmp_path / "queues" / "labels").rename(tmp_path / "old")
    with pytest.raises(StoreError, match="other items"), LabelBook(tmp_path) as again:
        again.register(read_queue(write_queue(tmp_path, np.ones((3, 2)), classes="abc")))


def test_other_files_are_refused(tmp_path):
    with sqlite3.connect(tmp_path / "labels.sqlite") as raw:
        raw.execute("CREATE TABLE mine (x)")
    raw.close()
    with pytest.raises(StoreError, match="another program"):
        LabelBook(tmp_path)
    (tmp_path / "labels.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError, match="can write"):
        LabelBook(tmp_path)


def test_many_threads_lose_and_double_nothing(opened, take):
    book, queue = opened(n=120)
    wrong = []

    def work(who):
        while (lease := take(book, queue, who, who)) is not None:
            try:
                book.answer(queue, lease.token, lease.item % 3)
            except LeaseLostError as error:
                wrong.append(error)

    people = [threading.Thread(target=work, args=(f"p{i}",)) for i in range(8)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    answers = book.answers(queue)
    assert not wrong
    assert sorted(a.item for a in answers) == list(range(120))
    assert all(a.choice == a.item % 3 for a in answers)


@settings(max_examples=25, deadline=None)
@given(
    people=st.integers(1, 3),
    steps=st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["answer", "skip", "undo"])), max_size=30
    ),
)
def test_whatever_people_do_the_counts_agree(tmp_path_factory, people, steps, take):
    folder = tmp_path_factory.mktemp("book")
    queue = read_queue(
        write_queue(folder, np.zeros((5, 1)), classes="xyz", annotators_per_item=people)
    )
    with LabelBook(folder) as book:
        book.register(queue)
        for who, action in steps:
            if action == "undo":
                book.undo(queue, who, who)
            elif (lease := take(book, queue, who, who)) is not None:
                book.answer(queue, lease.token, 0, skip=action == "skip")
        answers = [a for a in book.answers(queue) if a.kind == "answer"]
        per_item = Counter(a.item for a in answers)
        assert max(Counter((a.item, a.annotator) for a in answers).values(), default=0) <= 1
        assert all(count <= people for count in per_item.values())
        assert {s.item: s.answers for s in book.slots(queue) if s.answers} == dict(per_item)
        full = sum(count == people for count in per_item.values())
        assert book.counts(queue)["complete"] == full
        assert book.counts(queue)["opened"] == len(book.slots(queue))
        for who in "abc":
            counts, kinds = (
                book.counts(queue, who),
                Counter(a.kind for a in book.answers(queue) if a.annotator == who),
            )
            assert (counts["answered"], counts["skipped"]) == (kinds["answer"], kinds["skip"])


def steps_of(book, action):
    """Instructions of SQLite's machine that an action takes, whatever the computer's load."""
    steps = 0

    def count():
        nonlocal steps
        steps += 10

    book.reading(lambda connection: connection.set_progress_handler(count, 10))
    action()
    book.reading(lambda connection: connection.set_progress_handler(None, 0))
    return steps


def test_an_answer_costs_the_same_however_much_is_labelled(opened, take):
    book, queue = opened(n=3000)

    def answer_one():
        book.answer(queue, take(book, queue, "ada").token, 0)
        book.last_answer(queue, "ada")
        assert book.counts(queue, "ada")["answered"] > 0

    answer_one()
    early = steps_of(book, answer_one)
    book.add_all(queue, [(i, "ada", 1, "") for i in range(2, 2990)], in_order(queue))
    late = steps_of(book, answer_one)
    assert book.counts(queue, "ada") == {
        "complete": 2991, "opened": 2991, "answered": 2991, "skipped": 0
    }  # fmt: skip
    assert late < 1.5 * early


def test_items_that_nobody_can_tell_cost_no_budget_however_they_are_answered(opened, take):
    book, queue = opened(n=6, budget=2, annotators_per_item=2)
    for who, choices in {"ada": (-1, -1), "bob": (-1, 0)}.items():
        for choice in choices:
            book.answer(queue, take(book, queue, who).token, choice)
    # Item 0 cannot be told, item 1 has a label: one more is opened, and no further one.
    assert take(book, queue, "ada").item == 2
    assert take(book, queue, "ada", "phone") is None


def test_two_servers_on_one_folder_share_the_queue(opened, tmp_path, take):
    book, queue = opened(n=60)
    seen = []

    def work(name):
        with LabelBook(tmp_path) as own:
            while (lease := take(own, queue, name)) is not None:
                own.answer(queue, lease.token, 0)
                seen.append(lease.item)

    servers = [threading.Thread(target=work, args=(name,)) for name in ("ada", "bob")]
    for server in servers:
        server.start()
    for server in servers:
        server.join()
    assert sorted(seen) == list(range(60))
    assert len(book.answers(queue)) == 60


def test_a_clock_that_is_set_back_blocks_no_item_and_makes_no_negative_times(
    opened, monkeypatch, take
):
    book, queue = opened(n=1)
    lease = take(book, queue, "ada")
    earlier = time.time() - 86_400
    monkeypatch.setattr(time, "time", lambda: earlier)
    other = take(book, queue, "bob")
    assert other is not None, "ada's lease would hold the item for a day"
    book.answer(queue, lease.token, 1)
    (answer,) = book.answers(queue)
    assert answer.choice == 1
    seconds = book.connection.execute("SELECT seconds FROM answers").fetchall()
    assert seconds == [(0.0,)]
