import numpy as np

from fireassay import web
from fireassay.engine.labels.book import LabelBook
from fireassay.web.queue_state import in_order


def test_the_table_says_what_people_said(tmp_path):
    path = web.write_queue(
        tmp_path,
        np.zeros((5, 2)),
        classes=["a", "b"],
        name="audit",
        predicted=["a", "b", "a", "b", "a"],
        confidence=[0.9, 0.8, 0.7, 0.6, 0.5],
        rows=[50, 40, 30, 20, 10],
        annotators_per_item=2,
    )
    queue = web.read_queue(path)
    given = {"ada": [0, 0, -1, -2, 1], "bob": [0, 0, -1, -2, 0]}
    with LabelBook(tmp_path) as book:
        book.register(queue)
        for who, choices in given.items():
            for choice in choices:
                lease = book.lease(queue, who, who, in_order(queue))
                book.answer(queue, lease.token, choice)
    table = web.labels(tmp_path, "audit")
    assert table["row"].tolist() == [50, 40, 30, 20, 10]
    assert table["state"].tolist() == [
        "settled", "settled", "cannot tell", "settled", "conflict",
    ]  # fmt: skip
    assert [None if x is None or x != x else x for x in table["label"]] == [
        "a", "a", None, "(other)", None,
    ]  # fmt: skip
    assert table["wrong"].iloc[[0, 1, 3]].tolist() == [False, True, True]
    assert table["answers"].tolist() == [2] * 5


def test_an_unlabelled_queue_is_an_empty_table(tmp_path):
    web.write_queue(tmp_path, np.zeros((5, 2)), classes="ab", name="q")
    table = web.labels(tmp_path, "q")
    assert len(table) == 0
    assert "label" in table.columns
