"""Rows of one patient that stand one after the other, though nobody named the patient."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from fireassay.core import DataError
from fireassay.statistics import alike_rows, clumped_rows, neighbouring_rows

BUILT_IN = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
    "diabetes": load_diabetes,
}


def patients(rng, columns, noise, groups=40, rows=10):
    own = np.repeat(rng.normal(size=(groups, columns)), rows, axis=0)
    return own + noise * rng.normal(size=own.shape)


@pytest.mark.parametrize("name", BUILT_IN)
def test_files_sorted_by_class_are_not_taken_for_patients(name):
    found = BUILT_IN[name]()
    labels = None if name == "diabetes" else found.target
    assert not neighbouring_rows(found.data, labels).many


@pytest.mark.parametrize("noise", [0.3, 0.5])
def test_patients_of_few_columns_are_seen_in_the_order_of_the_file(noise):
    rng = np.random.default_rng(0)
    seen = [patients(rng, 4, noise) for _ in range(20)]
    assert all(neighbouring_rows(X).many for X in seen)
    # Their clumps overlap: without the order nothing shows, which is why a pass says so.
    assert not any(clumped_rows(rng.permutation(X)).many for X in seen[:5])
    assert not any(neighbouring_rows(rng.permutation(X)).many for X in seen)


@pytest.mark.parametrize(("groups", "rows"), [(100, 5), (40, 25), (15, 60)])
def test_patients_with_few_and_with_many_rows(groups, rows):
    X = patients(np.random.default_rng(1), 6, 0.4, groups, rows)
    assert neighbouring_rows(X).many


def test_rows_with_memory_are_seen():
    rng = np.random.default_rng(2)
    X = np.zeros((600, 5))
    for t in range(1, 600):
        X[t] = 0.9 * X[t - 1] + rng.normal(size=5)
    assert neighbouring_rows(X).many


def test_a_sorted_file_and_one_that_drifts_say_nothing():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3)) * 0.3 + rng.normal(size=(400, 1))
    assert not neighbouring_rows(X[np.argsort(X[:, 0])]).many
    drift = rng.normal(size=(800, 3)) + 8 * np.linspace(0, 1, 800)[:, None]
    assert not neighbouring_rows(drift).many


def test_independent_rows_of_any_kind():
    rng = np.random.default_rng(4)
    draws = (rng.normal, rng.exponential, lambda size: rng.standard_t(2, size))
    sets = [draw(size=(n, d)) for draw in draws for n in (100, 300) for d in (1, 3, 40)]
    assert not any(neighbouring_rows(X).many for X in sets)
    classes = rng.integers(0, 3, 300)
    assert not neighbouring_rows(rng.normal(size=(300, 4)) + classes[:, None], classes).many


@pytest.mark.parametrize(
    ("name", "grouped"), [("fair", False), ("anes96", False), ("randhie", True)]
)
def test_published_sets_with_and_without_people_who_come_again(name, grouped):
    sets = pytest.importorskip("statsmodels.datasets")
    X = getattr(sets, name).load_pandas().data.select_dtypes("number").to_numpy()[:2000]
    found = alike_rows(X)
    assert found.neighbours.many == grouped
    assert ("stand together" in str(found)) == grouped


def test_too_few_rows_say_nothing():
    assert neighbouring_rows(np.random.default_rng(5).normal(size=(60, 3))).apart == 0
    assert neighbouring_rows(np.ones((200, 2))).apart == 0


def test_a_column_of_row_numbers_hides_no_patients():
    rng = np.random.default_rng(6)
    own = np.repeat(rng.normal(size=(40, 4)), 10, axis=0) + 0.3 * rng.normal(size=(400, 4))
    for number in (np.arange(400), 1000 - np.arange(400)):
        assert neighbouring_rows(np.column_stack([number, own])).many
        independent = np.column_stack([number, rng.normal(size=(400, 4))])
        assert not neighbouring_rows(independent).many


def test_labels_of_other_rows_are_refused():
    with pytest.raises(DataError, match="labels"):
        neighbouring_rows(np.random.default_rng(7).normal(size=(200, 3)), np.zeros(150))
