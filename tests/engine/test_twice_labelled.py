import numpy as np

from fireassay.engine.labels.book import LabelBook, twice_labelled
from fireassay.web.queue import read_queue, write_queue
from fireassay.web.queue_state import in_order


def test_items_that_two_people_answered(tmp_path):
    assert twice_labelled(tmp_path) == (0, 0)
    X = np.arange(20.0).reshape(10, 2)
    queue = read_queue(write_queue(tmp_path, X, classes="abc", annotators_per_item=2))
    with LabelBook(tmp_path) as book:
        book.register(queue)
        given = [(i, "ada", i % 3, "") for i in range(6)]
        given += [(i, "bob", 0 if i == 1 else i % 3, "") for i in range(4)]
        given += [(4, "bob", -1, "")]  # cannot tell: no answer
        book.add_all(queue, given, in_order(queue))
    assert twice_labelled(tmp_path) == (1, 4)
