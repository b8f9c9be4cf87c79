"""A label book over a queue of its own."""

import numpy as np
import pytest

from fireassay.engine.labels.book import LabelBook
from fireassay.web.queue import read_queue, write_queue
from fireassay.web.queue_state import in_order


@pytest.fixture
def opened(tmp_path):
    books = []

    def opening(n=10, lease_s=600.0, **rules):
        X = np.arange(2.0 * n).reshape(n, 2)
        queue = read_queue(write_queue(tmp_path, X, classes="abc", **rules))
        books.append(LabelBook(tmp_path, lease_s=lease_s))
        books[-1].register(queue)
        return books[-1], queue

    yield opening
    for book in books:
        book.close()


@pytest.fixture(scope="session")
def take():
    """Lease the next item of a queue for somebody."""

    def leasing(book, queue, who, browser="one"):
        return book.lease(queue, who, browser, in_order(queue))

    return leasing
