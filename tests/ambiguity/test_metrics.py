from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fireassay.ambiguity import top_pair_accuracy
from fireassay.ambiguity.metrics import expected_top_k, has_top_pair, top_k_hits, top_pair_hits
from fireassay.core import DataError, ProbabilityError
from fireassay.core.arrays import entropy_bits

# Table 3 of the paper's Appendix A
LABELS = [
    [0, 0.4, 0, 0.6, 0],
    [0.45, 0, 0.55, 0, 0],
    [0, 0.3, 0, 0.7, 0],
    [0.35, 0, 0, 0.65, 0],
    [0, 0, 0.5, 0, 0.5],
    [0.2, 0, 0, 0.8, 0],
    [0, 0.4, 0, 0, 0.6],
]
PREDICTIONS = [
    [0.1, 0.45, 0.05, 0.25, 0.15],
    [0.4, 0.45, 0.1, 0.02, 0.03],
    [0.03, 0.6, 0.2, 0.1, 0.07],
    [0.45, 0.05, 0.1, 0.35, 0.05],
    [0.06, 0.07, 0.3, 0.2, 0.37],
    [0.3, 0.03, 0.02, 0.6, 0.05],
    [0.1, 0.35, 0.06, 0.04, 0.45],
]
MATCHES = [True, False, False, True, True, True, True]


def test_worked_example_of_the_paper_gives_five_sevenths():
    accuracy = top_pair_accuracy(LABELS, PREDICTIONS)
    assert accuracy == 5 / 7
    assert Fraction(accuracy).limit_denominator(100) == Fraction(5, 7)


def test_worked_example_matches_row_by_row():
    hits = top_pair_hits(np.array(LABELS, dtype=float), np.array(PREDICTIONS))
    assert hits.tolist() == MATCHES


def soft(draw_pairs, k):
    rows = np.zeros((len(draw_pairs), k))
    for row, (a, b, p) in zip(rows, draw_pairs, strict=True):
        row[a], row[b] = 1 - p, p
    return rows


pairs_of_five = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.floats(0.05, 0.95)).filter(
        lambda t: t[0] != t[1]
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=40)
@given(pairs_of_five, st.data())
def test_top_pair_is_at_most_top_two_and_survives_renaming(pairs, data):
    labels = soft(pairs, 5)
    raw = data.draw(arrays(float, labels.shape, elements=st.floats(0.01, 1.0), unique=True))
    predicted = raw / raw.sum(axis=1, keepdims=True)
    hits = top_pair_hits(labels, predicted)
    top2 = top_k_hits(predicted, labels.argmax(axis=1), 2)
    assert (hits <= top2).all()
    renamed = data.draw(st.permutations(range(5)))
    assert (top_pair_hits(labels[:, renamed], predicted[:, renamed]) == hits).all()
    order = data.draw(st.permutations(range(len(labels))))
    assert top_pair_accuracy(labels[order], predicted[order]) == pytest.approx(hits.mean())


def test_labels_without_two_leading_classes_are_not_calculable():
    labels = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.4, 0.3, 0.3]])
    assert has_top_pair(labels).tolist() == [True, False, False]
    with pytest.raises(DataError, match="67 % of the labels"):
        top_pair_accuracy(labels, np.full((3, 3), 1 / 3))


def test_bad_probabilities_are_refused():
    with pytest.raises(ProbabilityError):
        top_pair_accuracy([[0.5, 0.5, 0]], [[2.0, 1.0, 0.5]])
    with pytest.raises(DataError):
        top_pair_accuracy([[0.5, 0.5, 0]], [[0.5, 0.3, 0.2]] * 2)


def test_entropy_is_in_bits():
    values = entropy_bits(np.array([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25] * 4]))
    assert values.tolist() == [0.0, 1.0, 2.0]


def test_expected_accuracy_is_the_mean_over_drawn_labels():
    rng = np.random.default_rng(3)
    labels = soft([(0, 2, 0.3), (1, 2, 0.6), (0, 1, 0.45)], 3)
    predicted = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])
    draws = np.stack([rng.choice(3, 1500, p=row) for row in labels], axis=1)
    for k in (1, 2):
        drawn = np.mean([top_k_hits(predicted, row, k) for row in draws], axis=0)
        assert expected_top_k(predicted, labels, k) == pytest.approx(drawn, abs=0.04)
