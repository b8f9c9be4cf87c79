from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binomtest

from fireassay.core import DataError
from fireassay.engine.labels.book import LabelBook
from fireassay.engine.labels.records import consensus
from fireassay.web.queue import read_queue
from fireassay.web.queue_state import in_order
from fireassay.web.review import (
    KEEP,
    keep_reviewed,
    kept_rows,
    precision,
    read_exported,
    write_review_queue,
)


@dataclass(frozen=True)
class Samples:
    X: np.ndarray
    pairs: np.ndarray
    soft_labels: np.ndarray
    name: str = "between"


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    pairs = np.array([["3", "8"]] * 12 + [["1", "7"]] * 8)
    return Samples(rng.random((20, 8, 8)), pairs, rng.random((20, 10)))


def review(folder, verdicts):
    queue = read_queue(folder / "queues" / "review")
    with LabelBook(folder) as book:
        book.register(queue)
        for verdict in verdicts:
            lease = book.lease(queue, "ada", "one", in_order(queue))
            book.answer(queue, lease.token, verdict)
        return queue, book.slots(queue), consensus(book.answers(queue))


def test_precision_with_the_budget_spent_is_clopper_and_pearsons(tmp_path, samples):
    write_review_queue(tmp_path, samples, budget=10)
    found = precision(*review(tmp_path, [KEEP] * 7 + [1, 2, 3]))
    expected = binomtest(7, 10).proportion_ci(0.95, "exact")
    assert found.overall.value == 0.7
    assert (found.overall.low, found.overall.high) == pytest.approx(tuple(expected))
    assert found.verdicts["keep"] == 7
    assert found.verdicts["more like the first class"] == 1


def test_an_unfinished_review_has_an_interval_that_allows_looking(tmp_path, samples):
    write_review_queue(tmp_path, samples, budget=10)
    found = precision(*review(tmp_path, [KEEP] * 5))
    exact = binomtest(5, 5).proportion_ci(0.95, "exact")
    assert "every look" in found.overall.method
    assert found.overall.low < exact.low
    assert found.overall.high == 1.0


def test_cannot_tell_is_not_kept_but_counts(tmp_path, samples):
    write_review_queue(tmp_path, samples, budget=4)
    found = precision(*review(tmp_path, [KEEP, KEEP, -1, 1]))
    assert (found.overall.value, found.overall.n) == (0.5, 4)
    assert found.verdicts["cannot tell"] == 1


def test_by_pair(tmp_path, samples):
    write_review_queue(tmp_path, samples)
    queue = read_queue(tmp_path / "queues" / "review")
    found = precision(*review(tmp_path, [KEEP if p[0] == "3" else 1 for p in queue.pairs]))
    assert found.by_pair["3", "8"].value == 1.0
    assert found.by_pair["1", "7"].value == 0.0


def test_the_order_is_random_and_the_kept_rows_are_the_sets(tmp_path, samples):
    write_review_queue(tmp_path, samples)
    queue = read_queue(tmp_path / "queues" / "review")
    assert queue.rows.tolist() != list(range(20))
    assert sorted(queue.rows.tolist()) == list(range(20))
    assert queue.pairs.tolist() == samples.pairs[queue.rows].tolist()
    review(tmp_path, [KEEP if i % 3 == 0 else 1 for i in range(20)])
    rows = kept_rows(tmp_path)
    assert rows.tolist() == sorted(queue.rows[::3].tolist())
    kept = keep_reviewed(samples, tmp_path)
    np.testing.assert_array_equal(kept.X, samples.X[rows])
    np.testing.assert_array_equal(kept.soft_labels, samples.soft_labels[rows])
    assert kept.name == "between"


def test_nothing_kept_and_other_sets_are_refused(tmp_path, samples):
    write_review_queue(tmp_path, samples)
    with pytest.raises(DataError, match="At least one"):
        keep_reviewed(samples, tmp_path)
    shorter = Samples(samples.X[:5], samples.pairs[:5], samples.soft_labels[:5])
    with pytest.raises(DataError, match="reviewed"):
        keep_reviewed(shorter, tmp_path)
    with pytest.raises(DataError, match="two classes"):
        write_review_queue(tmp_path, Samples(samples.X, samples.pairs[:, :1], samples.X), name="b")


def test_an_exported_set_is_read_without_what_made_it(tmp_path, samples):
    np.savez(tmp_path / "ambiguous.npz", X=samples.X, pairs=samples.pairs)
    read = read_exported(tmp_path)
    np.testing.assert_array_equal(read.X, samples.X)
    with pytest.raises(DataError, match="exported ambiguous set"):
        read_exported(tmp_path / "nowhere")
    (tmp_path / "ambiguous.npz").write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(DataError, match="exported ambiguous set"):
        read_exported(tmp_path)
