import numpy as np
import pytest

from fireassay.core import DataError, NotEnoughEvidenceError
from fireassay.statistics.kappa import cohen_kappa, fleiss_kappa

# Fleiss 1971 as tabulated in textbooks: 10 subjects, 14 raters, 5 categories.
FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def raters(table):
    """Labels of two raters from a table of counts."""
    cells = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    return tuple(zip(*cells, strict=True))


def test_cohen_on_a_textbook_table():
    found = cohen_kappa(*raters([[20, 5], [10, 15]]))
    assert found.value == pytest.approx(0.4)
    assert found.low < 0.4 < found.high
    assert found.n == 50


def test_cohen_agrees_with_statsmodels():
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    rng = np.random.default_rng(3)
    table = rng.integers(1, 30, (4, 4)) + np.diag([60, 40, 50, 30])
    theirs = inter_rater.cohens_kappa(table)
    ours = cohen_kappa(*raters(table.tolist()))
    assert ours.value == pytest.approx(theirs.kappa, abs=1e-12)
    # Theirs is a normal approximation: at 300 items the two intervals are close.
    assert ours.low == pytest.approx(theirs.kappa_low, abs=0.02)
    assert ours.high == pytest.approx(theirs.kappa_upp, abs=0.02)


def test_fleiss_on_the_textbook_table():
    found = fleiss_kappa(FLEISS)
    assert found.value == pytest.approx(0.20993, abs=1e-5)
    assert found.low < found.value < found.high


def test_fleiss_agrees_with_statsmodels():
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    table = np.random.default_rng(0).multinomial(5, [0.2, 0.3, 0.5], size=40)
    theirs = inter_rater.fleiss_kappa(table, method="fleiss")
    assert fleiss_kappa(table).value == pytest.approx(theirs, abs=1e-12)


def test_perfect_agreement_of_few_items_is_no_certainty():
    found = cohen_kappa([0, 1, 0, 1, 0], [0, 1, 0, 1, 0])
    assert found.value == found.high == 1.0
    assert found.low < 0.2


def test_text_labels_and_order_do_not_matter():
    one, two = ["a", "b", "c", "a", "b"], ["a", "b", "a", "a", "c"]
    found = cohen_kappa(one, two)
    again = cohen_kappa(two[::-1], one[::-1])
    assert (found.value, found.low, found.high) == (again.value, again.low, again.high)


def test_items_with_one_annotator_are_left_out():
    assert fleiss_kappa([*FLEISS, [1, 0, 0, 0, 0]]).value == fleiss_kappa(FLEISS).value


def test_undefined_agreement_is_said():
    with pytest.raises(NotEnoughEvidenceError, match="both have labelled"):
        cohen_kappa(np.array([], dtype=int), np.array([], dtype=int))
    with pytest.raises(NotEnoughEvidenceError, match="different labels"):
        cohen_kappa([1, 1], [1, 1])
    with pytest.raises(NotEnoughEvidenceError, match="two or more"):
        fleiss_kappa([[1, 0], [0, 1]])
    with pytest.raises(NotEnoughEvidenceError, match="different labels"):
        fleiss_kappa([[2, 0], [3, 0]])
    with pytest.raises(DataError, match="items, labels"):
        fleiss_kappa([[0.5, 0.5]])
    with pytest.raises(DataError, match="same number of rows"):
        cohen_kappa([1, 2, 3], [1, 2])


def simulated(rng, n, people, skill, k=3):
    """Labels of people who see the truth with probability skill, and guess otherwise."""
    truth = rng.integers(0, k, n)
    guesses = rng.integers(0, k, (people, n))
    return np.where(rng.random((people, n)) < skill, truth, guesses)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "skill"), [(20, 0.9), (50, 0.6), (200, 0.8)])
def test_the_intervals_cover(n, skill):
    # The chance that both see the truth is skill², and kappa is exactly that in this model.
    rng = np.random.default_rng(7)
    missed = np.zeros(2)
    rounds = 600
    for _ in range(rounds):
        labels = simulated(rng, n, 2, skill)
        counts = np.stack([(labels == c).sum(axis=0) for c in range(3)], axis=1)
        for i, found in enumerate((cohen_kappa(*labels), fleiss_kappa(counts))):
            missed[i] += not found.low <= skill**2 <= found.high
    assert (missed <= 0.05 * rounds + 3 * np.sqrt(0.05 * 0.95 * rounds)).all(), missed
