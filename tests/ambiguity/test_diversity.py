import dataclasses

import numpy as np
import pytest

pytest.importorskip("torch")

from fireassay.ambiguity import diversity
from fireassay.core import DataError

pytestmark = pytest.mark.extras


def test_distances_are_euclidean_and_copies_are_counted(amb):
    rows = amb.of_pair(3, 8)[:4]
    X = np.zeros((4, 8, 8), dtype=np.float32)
    X[1, 0, 0], X[2, 0, 0], X[3, 0, 0] = 0.3, 1.0, 1.0
    small = dataclasses.replace(
        amb, X=X, soft_labels=amb.soft_labels[rows], pairs=amb.pairs[rows], labels=amb.labels[rows]
    )
    table = diversity(small)
    assert table["nearest"][0] == pytest.approx((0.3 + 0.3 + 0 + 0) / 4)
    assert table["pairwise"][0] == pytest.approx((0.3 + 1 + 1 + 0.7 + 0.7 + 0) / 6)
    assert table["duplicates"][0] == 2


def test_generated_samples_are_no_copies(fitted, amb):
    table = diversity(amb)
    assert len(table) == 3
    assert (table["duplicates"] == 0).all()
    assert (table["nearest"] > 0).all()
    with pytest.raises(DataError, match="two samples"):
        diversity(fitted.sample(2))
