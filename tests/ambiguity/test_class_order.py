import numpy as np
import pytest

from fireassay.ambiguity.pairs import column_classes
from fireassay.core.errors import AssumptionWarning


def test_names_of_a_model_are_kept():
    assert column_classes(("b", "a"), ("a", "b")) == ("b", "a")
    assert column_classes((0, 1, 2), (0, 1, 2)) == (0, 1, 2)
    assert column_classes((0, 1), (1, 2)) == (0, 1)
    assert column_classes((0, 1, 2), ("a", "b")) == (0, 1, 2)


def test_column_numbers_stand_for_the_classes_of_the_data_in_order():
    with pytest.warns(AssumptionWarning, match="cat, dog, in this order"):
        assert column_classes((0, 1), ("cat", "dog")) == ("cat", "dog")


def test_confusions_of_a_model_without_names_are_found():
    from fireassay.ambiguity.pairs import choose_pairs
    from fireassay.classifiers import as_classifier
    from fireassay.core import DataError

    X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 2, 2])
    answers = np.array([0, 0, 1, 2, 2, 2])

    def model(rows):
        return np.eye(3)[answers[rows[:, 0].astype(int)]]

    with pytest.warns(AssumptionWarning):
        found = choose_pairs("confused", ("ant", "bee", "cow"), as_classifier(model), X, y)
    assert found == [(1, 2)]
    other = as_classifier(model, classes=["x", "y", "z"])
    with pytest.raises(DataError, match="column order"):
        choose_pairs("confused", ("ant", "bee", "cow"), other, X, y)
