"""Cells, boxes and latent cells give the same result in one process and in two."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from fireassay import as_classifier, reliability
from fireassay.core import DataError, ParameterError
from fireassay.papers.naive_reliability import Naive
from fireassay.reliability import MonteCarlo, PcaLatent, Splitting, TopCells

RNG = np.random.default_rng(0)
X = RNG.random((200, 2))
Y = (X.sum(axis=1) > 1).astype(int)
LINE = as_classifier(LogisticRegression().fit(X[:100], Y[:100]), batch_size=4096)


def boxes(count):
    low = np.random.default_rng(1).random((count, 2)) * 0.8
    return low, low + 0.2, (low.sum(axis=1) > 0.8).astype(int)


@pytest.mark.slow
def test_two_workers_give_the_same_numbers_and_count_the_same_queries():
    one, two = (
        reliability.box_failures(LINE, *boxes(20), Splitting(1000, 2), workers=n) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.log_p, two.log_p)
    np.testing.assert_array_equal(one.high, two.high)
    assert one.queries == two.queries
    for method in (reliability.Ram(cells=160), Naive(samples=6000)):
        one, two = (
            reliability.assess(LINE, X[:60], Y[:60], workers=n, method=method) for n in (1, 2)
        )
        assert one.pmi == two.pmi
        assert one.provenance == two.provenance
    digits = load_digits()
    images = digits.images / 16
    flat = LogisticRegression(max_iter=300).fit(images[:400].reshape(400, -1), digits.target[:400])
    model = as_classifier(
        lambda rows: flat.predict_proba(rows.reshape(len(rows), -1)),
        classes=range(10),
        bounds=(0, 1),
    )
    top = TopCells(side=0.5, top_k=100, draws=50, candidates=500, decoded=30, balls=MonteCarlo(3))
    method = reliability.Ram(latent=PcaLatent(3).fit(images[:400]), top=top, radius=0.02)
    one, two = (
        reliability.assess(model, images[400:600], digits.target[400:600], workers=n, method=method)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(
        one.details.cells["unastuteness"], two.details.cells["unastuteness"]
    )
    assert one.provenance == two.provenance


def test_a_query_budget_is_not_shared_between_processes():
    model = as_classifier(LogisticRegression().fit(X, Y), max_queries=10**6)
    with pytest.raises(ParameterError, match="budget"):
        reliability.assess(model, X, Y, method="ram", workers=2)
    with pytest.raises(ParameterError, match="workers"):
        reliability.assess(LINE, X, Y, workers=0)


def test_boxes_must_be_boxes():
    low, high, labels = boxes(3)
    with pytest.raises(DataError, match="lower corner"):
        reliability.box_failures(LINE, high, low, labels)
    with pytest.raises(DataError, match="labels"):
        reliability.box_failures(LINE, low, high, labels[:2])
    bounded = as_classifier(LogisticRegression().fit(X, Y), bounds=(0, 0.5))
    with pytest.raises(DataError, match="bounds"):
        reliability.box_failures(bounded, low, high, labels)
