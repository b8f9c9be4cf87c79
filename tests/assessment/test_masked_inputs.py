"""Hidden values of a masked array are never used as data."""

import numpy as np
import pytest

import fireassay as fa


def test_evaluate_refuses_masked_rows():
    X = np.ma.masked_array(np.linspace(0, 1, 50)[:, None], mask=np.arange(50)[:, None] < 3)
    model = fa.as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1])
    with pytest.raises(fa.FireassayError, match="3 hidden values"):
        fa.evaluate(model, X, np.arange(50) % 2, parts="accuracy")
